"""What does it measure? Run from the root of the repository: python -m benchmarks.NAME --data DIR."""
