"""How do the folders that `--data` takes come about? `python -m benchmarks.prepare NAME --from FILES --to DIR`."""
