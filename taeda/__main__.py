"""``python -m taeda explain NAME``: the hops from a Python name to its kernel."""

from __future__ import annotations

import argparse
import sys


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m taeda", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    explain = commands.add_parser(
        "explain", help="print every hop from a Python name to its kernel, with file and line"
    )
    explain.add_argument("name", help="e.g. prelu, add_, nn.functional.silu, linalg.eigh")
    explain.add_argument("--device", default="cpu", help="cpu (the default), meta, cuda, or a device of your own")
    explain.add_argument("--dtype", help="e.g. float32 or bfloat16")
    explain.add_argument("--layout", help="strided (the default), sparse_coo, sparse_csr, ...")
    explain.add_argument("--overload", help="e.g. Tensor, Scalar, out or default")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; 0 if it succeeded, 1 if there is no such kernel, 2 for an unknown name."""
    options = _parse(arguments)
    from taeda._explain import UnknownName, describe

    try:
        lines = describe(options.name, device=options.device, dtype=options.dtype, layout=options.layout,
                         overload=options.overload)  # fmt: skip
    except UnknownName as mistake:
        print(f"taeda explain: {mistake}", file=sys.stderr)
        return 2
    except (NotImplementedError, RuntimeError) as mistake:
        print(f"taeda explain: {str(mistake).removeprefix('taeda.explain: ')}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
