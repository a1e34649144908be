"""How good is a ranking, and how sure is that? `metrics` scores one ranking, `intervals` gives its uncertainty."""
