"""List of the kernels that commands need, for `twinlink.compiled.ahead`.

::

    export NUMBA_CACHE_DIR=FOLDER      # an empty one
    twinlink mine …; twinlink align …  # on sites of some thousand pages, in scripts of every kind
    python -m experiments.kernels_used FOLDER

writes ``twinlink/compiled/kernels.json``: the kernels with the kinds of their arguments, in the order in which they
were compiled, those of `align` before the others: helpers of `mine` begin at the end, with what it needs. Kernels of
tests and experiments, and those whose arguments cannot be made, are left out and named.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from twinlink.compiled.ahead import LIST, Known
from twinlink.compiled.stored_code import stored_in


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="what NUMBA_CACHE_DIR named")
    parser.add_argument("-o", "--out", type=Path, default=LIST)
    given = parser.parse_args()
    lines = []
    used = map(Known._make, stored_in(given.folder))
    for known in sorted(used, key=lambda each: not each.module.startswith("twinlink.align.")):
        try:
            if known.module.startswith("twinlink."):
                lines.append(json.dumps(known.to_json()))
        except TypeError as error:
            print(f"{known.module}.{known.name}: {error}", file=sys.stderr)
    given.out.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} kernels → {given.out}")


if __name__ == "__main__":
    main()
