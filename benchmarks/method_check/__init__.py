"""The check of the methods of `uqassay.lab.methods`: what they reach and whether they show what their papers promise."""
