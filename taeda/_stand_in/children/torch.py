"""Taeda as torch for the programs that one under ``python -m taeda run`` starts: its PYTHONPATH leads here first."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _become_taeda() -> None:
    home = os.path.abspath(os.path.join(_HERE, *[os.pardir] * 3))
    sys.path.append(home)
    try:
        import taeda
    except ImportError:  # another Python, which has its own torch or none
        sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]
        __import__("torch")
        return
    finally:
        sys.path.remove(home)
    taeda.install_as_torch()


del sys.modules[__name__]
_become_taeda()
