"""List of the kernels that commands need, for `twinlink.compiled.ahead`.

::

    export NUMBA_CACHE_DIR=FOLDER  # an empty one
    python -m experiments.kernels_used run mine …  # on sites of some thousand pages, in scripts of every kind
    python -m experiments.kernels_used run align …
    python -m experiments.kernels_used list FOLDER

``run`` runs a command of twinlink and compiles each kernel that it calls, however little there is to do. ``list``
writes ``twinlink/compiled/kernels.json``: the kernels with the kinds of their arguments, in the order in which they
were compiled, those of `align` before the others: helpers of `mine` begin at the end, with what it needs. Kernels of
tests and experiments, and those whose arguments cannot be made, are left out and named.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import twinlink.cli
from twinlink.compiled import Kernel
from twinlink.compiled.ahead import LIST, Known
from twinlink.compiled.stored_code import stored_in


def main() -> None:
    """Run a command, or write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    actions = parser.add_subparsers(required=True)
    run = actions.add_parser("run", help="run a command, and compile all kernels that it calls")
    run.add_argument("command", nargs=argparse.REMAINDER, help="mine …, or align …")
    run.set_defaults(action=lambda given: run_compiled(given.command))
    written = actions.add_parser("list", help="write the list")
    written.add_argument("folder", type=Path, help="what NUMBA_CACHE_DIR named")
    written.add_argument("-o", "--out", type=Path, default=LIST)
    written.set_defaults(action=lambda given: write_list(given.folder, given.out))
    given = parser.parse_args()
    given.action(given)


def run_compiled(command: Sequence[str]) -> None:
    """Run a command of twinlink without the interpreter's help, which small calls would have."""
    Kernel.patience = 0.0
    sys.argv = ["twinlink", *command]
    twinlink.cli.main()


def write_list(folder: Path, out: Path) -> None:
    """Write the kernels whose code is in a folder."""
    lines = []
    used = map(Known._make, stored_in(folder))
    for known in sorted(used, key=lambda each: not each.module.startswith("twinlink.align.")):
        try:
            if known.module.startswith("twinlink."):
                lines.append(json.dumps(known.to_json()))
        except TypeError as error:
            print(f"{known.module}.{known.name}: {error}", file=sys.stderr)
    out.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{len(lines)} kernels → {out}")


if __name__ == "__main__":
    main()
