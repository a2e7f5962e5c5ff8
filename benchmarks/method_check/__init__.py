"""The check of the methods of `uqassay.methods`: what they reach and whether they show what their papers promise."""
