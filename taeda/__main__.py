"""``python -m taeda explain NAME``: the hops from a Python name to its kernel. ``python -m taeda run SCRIPT``: a
PyTorch program as it stands, with Taeda as its torch. ``python -m taeda stubs FOLDER``: torch for type checkers."""

from __future__ import annotations

import argparse
import sys


def _parse(arguments: list[str]) -> argparse.Namespace:
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
    run = commands.add_parser("run", help="run a program; its `import torch` gives Taeda")
    run.usage = "python -m taeda run (SCRIPT | -m MODULE | -c TEXT) [ARGUMENT ...]"
    run.add_argument("script", help="a Python file, or a folder or archive with a __main__.py; all that follows is its")
    stubs = commands.add_parser("stubs", help="write stubs by which type checkers read `import torch` as Taeda")
    stubs.add_argument("folder", nargs="?", default="typings", help="e.g. typings (the default), where pyright looks")
    return parser.parse_args(arguments)


def _run(arguments: list[str]) -> int:
    from taeda._stand_in.run import CannotRun, run

    try:
        run(arguments)
    except CannotRun as mistake:
        text, status = mistake.args
        print(f"taeda run: {text}", file=sys.stderr)
        return int(status)
    return 0


def _stubs(options: argparse.Namespace) -> int:
    from taeda._stand_in.stubs import write_stubs

    print(f"{len(write_stubs(options.folder))} stubs of torch in {options.folder}")
    return 0


def _explain(options: argparse.Namespace) -> int:
    """0 if it succeeded, 1 if there is no such kernel, 2 for an unknown name."""
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


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and gives the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # What follows the script's name is not ours to parse.
    if arguments[:1] == ["run"] and arguments[1:2] not in ([], ["-h"], ["--help"]):
        return _run(arguments[1:])
    options = _parse(arguments)
    return _stubs(options) if options.command == "stubs" else _explain(options)


if __name__ == "__main__":
    sys.exit(main())
