"""`python -m citewell` is the `citewell` program."""

import sys

from citewell.cli import main

if __name__ == "__main__":
    sys.exit(main())
