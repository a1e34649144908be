"""The command line `adaptive-memory`: a file for each kind of command; `entry` starts it."""
