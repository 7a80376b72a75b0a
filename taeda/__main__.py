"""``python -m taeda explain NAME``: the hops from a Python name to its kernel. ``python -m taeda run SCRIPT``: a
PyTorch program as it stands, with Taeda as its torch. ``python -m taeda stubs FOLDER``: torch for type checkers.
``python -m taeda info``: this build and this machine. ``python -m taeda jit compile FILE``: an archive of PyTorch's
that runs without Python. ``python -m taeda config``: flags for C++ compilers. ``python -m taeda torch-name``: an
environment whose torch is Taeda."""

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
    explain.add_argument("name", help="e.g. prelu, add_, nn.functional.silu, linalg.eigh; with --jit FILE:FUNCTION")
    explain.add_argument("--jit", action="store_true", help="a program: every stage from its source to instructions")
    explain.add_argument("--device", default="cpu", help="cpu (the default), meta, cuda, or a device of your own")
    explain.add_argument("--dtype", help="e.g. float32 or bfloat16")
    explain.add_argument("--layout", help="strided (the default), sparse_coo, sparse_csr, ...")
    explain.add_argument("--overload", help="e.g. Tensor, Scalar, out or default")
    explain.set_defaults(does=_explain)
    jit = commands.add_parser("jit", help="work on archives of programs")
    jit.add_argument("what", choices=["compile"], help="compile: add instructions, so that they run without Python")
    jit.add_argument("files", nargs="+", metavar="FILE", help="archives that torch.jit.save wrote; they are replaced")
    jit.set_defaults(does=_jit)
    info = commands.add_parser("info", help="print what a report of a fault should say: versions, machine, settings")
    info.set_defaults(does=_info)
    run = commands.add_parser("run", help="run a program; its `import torch` gives Taeda")
    run.usage = "python -m taeda run (SCRIPT | -m MODULE | -c TEXT | -) [ARGUMENT ...]"
    run.add_argument("script", help="a Python file, or a folder or archive with a __main__.py; all that follows is its")
    stubs = commands.add_parser("stubs", help="write stubs by which type checkers read `import torch` as Taeda")
    stubs.add_argument("folder", nargs="?", default="typings", help="e.g. typings (the default), where pyright looks")
    stubs.set_defaults(does=_stubs)
    config = commands.add_parser("config", help="print what a C++ compiler, CMake or pkg-config must be told")
    for question, answer in (("cflags", "flags to compile with"), ("libs", "flags to link with"),
                             ("cmake", "the folder for CMAKE_PREFIX_PATH"),
                             ("pkgconfig", "the folder for PKG_CONFIG_PATH")):  # fmt: skip
        config.add_argument(f"--{question}", action="append_const", dest="questions", const=question, help=answer)
    config.set_defaults(does=_config)
    name = commands.add_parser("torch-name", help="let all programs of this environment find Taeda as torch")
    name.add_argument("--remove", action="store_true", help="take the name away again, as pip uninstall torch does")
    name.set_defaults(does=_torch_name)
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


def _config(options: argparse.Namespace) -> int:
    """0; 2 if nothing was asked."""
    from taeda.utils._cpp.config import QUESTIONS

    if not options.questions:
        print(f"taeda config: say what to print: {', '.join('--' + name for name in QUESTIONS)}", file=sys.stderr)
        return 2
    print(" ".join(QUESTIONS[question]() for question in options.questions))
    return 0


def _torch_name(options: argparse.Namespace) -> int:
    """0 if it succeeded, 1 if another torch is installed, or ours was not."""
    from taeda._stand_in import name

    if options.remove:
        removed = name.remove()
        print(
            "removed" if removed else "taeda torch-name: nothing to remove", file=sys.stdout if removed else sys.stderr
        )
        return int(not removed)
    try:
        print(f"`import torch` is Taeda now: {name.install()}")
    except RuntimeError as mistake:
        print(f"taeda torch-name: {mistake}", file=sys.stderr)
        return 1
    return 0


def _explain(options: argparse.Namespace) -> int:
    """0 if it succeeded, 1 if there is no such kernel, 2 for an unknown name."""
    if options.jit:
        return _explain_program(options.name)
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


def _explain_program(name: str) -> int:
    """0 if it succeeded, 1 if it cannot be compiled, 2 if there is no such file or function."""
    from taeda._stand_in import install_as_torch
    from taeda.jit._command import NotThere, explain_named

    install_as_torch()  # the file may import torch
    try:
        explain_named(name)
    except NotThere as mistake:
        print(f"taeda explain: {mistake}", file=sys.stderr)
        return 2
    except (RuntimeError, TypeError) as mistake:
        print(f"taeda explain: {mistake}", file=sys.stderr)
        return 1
    return 0


def _jit(options: argparse.Namespace) -> int:
    """0 if all files have instructions now, 1 if some have not."""
    from taeda.jit._command import compile_archive

    failed = 0
    for file in options.files:
        try:
            print(f"{file}: {compile_archive(file)}")
        except (RuntimeError, ValueError, OSError) as mistake:
            print(f"taeda jit compile: {file}: {mistake}", file=sys.stderr)
            failed = 1
    return failed


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
