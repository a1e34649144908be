"""How is the command started without its script? `python -m adaptive_memory_core.cli`."""

from adaptive_memory_core.cli.entry import main

if __name__ == "__main__":
    main()
