"""The command line `adaptive-memory`, with a file for each kind of command. `__main__` starts it."""
