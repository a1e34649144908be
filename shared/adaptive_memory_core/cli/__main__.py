"""`python -m adaptive_memory_core.cli` starts the command without its script."""

from adaptive_memory_core.cli.entry import main

if __name__ == "__main__":
    main()
