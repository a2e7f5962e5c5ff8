def scenarios(): return iter(())
