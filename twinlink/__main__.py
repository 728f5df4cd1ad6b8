"""``python -m twinlink`` is the command line."""

from twinlink.cli import main

if __name__ == "__main__":
    main()
