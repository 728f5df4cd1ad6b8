"""pandas is loaded when a table becomes a DataFrame, and not before."""

from __future__ import annotations

import sys


def keep_pandas_out() -> None:
    """Let Arrow convert arrays without pandas, which takes .2 s and 30 MB to load.

    pyarrow loads pandas at the first conversion of an array or a list, to recognise its objects. Where that fails, it
    goes on without, and loads pandas when it makes a DataFrame. Until then it does not recognise a Series, so this is
    for programs that make none of their own. Nothing happens if pandas is there already.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


class _Hidden:
    """An import finder that says that pandas is not installed."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse pandas, and leave other modules to other finders."""
        if name == "pandas":
            raise ModuleNotFoundError("pandas is hidden for the moment", name=name)
