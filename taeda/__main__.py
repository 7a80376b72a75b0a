"""``python -m taeda explain NAME``: the hops from a Python name to its kernel. ``python -m taeda run SCRIPT``: a
PyTorch program as it stands, with Taeda as its torch. ``python -m taeda stubs FOLDER``: torch for type checkers.
``python -m taeda info``: this build and this machine."""

from __future__ import annotations

import argparse
import os
import sys


def _parse(arguments: list[str]) -> argparse.Namespace:
    from taeda._version import __version__

    parser = argparse.ArgumentParser("python -m taeda", description=__doc__)
    parser.add_argument("--version", action="version", version=f"Taeda {__version__}")
    parser.set_defaults(does=lambda options: parser.print_help())
    commands = parser.add_subparsers(dest="command")
    explain = commands.add_parser(
        "explain", help="print every hop from a Python name to its kernel, with file and line"
    )
    explain.add_argument("name", help="e.g. prelu, add_, nn.functional.silu, linalg.eigh")
    explain.add_argument("--device", default="cpu", help="cpu (the default), meta, cuda, or a device of your own")
    explain.add_argument("--dtype", help="e.g. float32 or bfloat16")
    explain.add_argument("--layout", help="strided (the default), sparse_coo, sparse_csr, ...")
    explain.add_argument("--overload", help="e.g. Tensor, Scalar, out or default")
    explain.set_defaults(does=_explain)
    info = commands.add_parser("info", help="print what a report of a fault should say: versions, machine, settings")
    info.set_defaults(does=_info)
    run = commands.add_parser("run", help="run a program; its `import torch` gives Taeda")
    run.usage = "python -m taeda run (SCRIPT | -m MODULE | -c TEXT) [ARGUMENT ...]"
    run.add_argument("script", help="a Python file, or a folder or archive with a __main__.py; all that follows is its")
    stubs = commands.add_parser("stubs", help="write stubs by which type checkers read `import torch` as Taeda")
    stubs.add_argument("folder", nargs="?", default="typings", help="e.g. typings (the default), where pyright looks")
    stubs.set_defaults(does=_stubs)
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


def _info(options: argparse.Namespace) -> int:
    from taeda._explain import info

    print("\n".join(info.lines()))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and gives the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    # What follows the script's name is not ours to parse.
    if arguments[:1] == ["run"] and arguments[1:2] not in ([], ["-h"], ["--help"]):
        return _run(arguments[1:])
    options = _parse(arguments)
    try:
        status = int(options.does(options) or 0)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever reads has read enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
