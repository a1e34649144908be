"""How is a memory used from a shell? With `adaptive-memory`: a file for each kind of command, and `entry` starts it."""
