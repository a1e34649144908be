"""Is it better? `metrics` scores one ranking, `intervals` says how sure a mean or a difference is."""
