"""``python -m twinlink.compiled``: compile the kernels that are known to be needed, on all cores."""

from twinlink.compiled.ahead import main

if __name__ == "__main__":
    main()
