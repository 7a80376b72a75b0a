"""``python -m taeda run``: a script or module runs as under plain ``python``, and ``import torch`` gives it Taeda."""

from __future__ import annotations

import builtins
import io
import os
import pkgutil
import runpy
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from taeda._stand_in import install_as_torch


class CannotRun(Exception):
    """There is no such script or module. The second argument is the exit status."""


def run(arguments: list[str]) -> None:
    """Runs ``SCRIPT ARGUMENTS...``, ``-m MODULE ARGUMENTS...`` or ``-c TEXT ARGUMENTS...`` as the main module, ``-``
    for what stands on the standard input;
    ``torchrun ARGUMENTS...`` stands for the launcher's module.

    Its exceptions are shown without the frames of this function and then leave it, so that the process ends as it would
    under ``python``.

    Raises:
        CannotRun: what is to run is not there.
    """
    install_as_torch()
    _tell_children()
    try:
        exec(*_prepare(arguments))
    except CannotRun:
        raise
    except BaseException as error:
        _show_without_us(error)
        raise


def launch() -> None:
    """The program ``taedarun``: several processes of a script, whose ``import torch`` gives them Taeda."""
    install_as_torch()
    _tell_children()
    from taeda.distributed.run import console

    console()


def _tell_children() -> None:
    """Has programs of Python that this process starts find Taeda as torch, too."""
    here = os.path.join(os.path.dirname(__file__), "children")
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", here)]
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *paths])


def _prepare(arguments: list[str]) -> tuple[CodeType, dict[str, Any]]:
    """The code to run and the namespace of the new main module to run it in; sets ``sys.argv`` and ``sys.path``."""
    what, rest = arguments[0], arguments[1:]
    if what in ("-m", "-c") and not rest:
        raise CannotRun(f"option {what} wants an argument", 2)
    if what == "-m":
        return _module(rest[0], rest[1:])
    if what == "-c":
        sys.argv = ["-c", *rest[1:]]
        return compile(rest[0], "<string>", "exec", dont_inherit=True), _main_module()
    if what == "-":
        sys.argv = ["-", *rest]
        return compile(sys.stdin.read(), "<stdin>", "exec", dont_inherit=True), _main_module()
    if what.startswith("-"):
        raise CannotRun(f"unknown option {what}; options of Python itself go before -m taeda", 2)
    if what == "torchrun" and not os.path.exists(what):
        return _module("torch.distributed.run", rest)
    sys.argv = arguments
    if type(pkgutil.get_importer(what)) is not type(None):
        return _folder_or_archive(what)
    return _script(what)


def _script(path: str) -> tuple[CodeType, dict[str, Any]]:
    full = os.path.abspath(path)
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        raise CannotRun(f"can't open file '{full}': [Errno {error.errno}] {error.strerror}", 2) from None
    if not sys.flags.safe_path:
        sys.path[0] = os.path.dirname(os.path.realpath(full))
    code = compile(source, full, "exec", dont_inherit=True)
    return code, _main_module(__file__=full, __cached__=None, __loader__=SourceFileLoader("__main__", full))


def _folder_or_archive(path: str) -> tuple[CodeType, dict[str, Any]]:
    # A script's folder is only where it comes from; this is what is imported from, also in safe mode.
    sys.path[: int(not sys.flags.safe_path)] = [os.path.abspath(path)]
    # The functions of runpy that ``python`` itself, pdb and trace use: no public one runs in a lasting main module.
    _, spec, code = runpy._get_main_module_details(_no_module)  # type: ignore[attr-defined]
    return code, _main_module_of(spec, package="")


def _module(name: str, rest: list[str]) -> tuple[CodeType, dict[str, Any]]:
    sys.argv = ["-m", *rest]
    _, spec, code = runpy._get_module_details(name, _no_module)  # type: ignore[attr-defined]
    sys.argv[0] = spec.origin
    return code, _main_module_of(spec, package=spec.parent)


def _no_module(text: str) -> CannotRun:
    return CannotRun(text, 1)


def _main_module_of(spec: ModuleSpec, package: str | None) -> dict[str, Any]:
    return _main_module(
        __file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=package, __spec__=spec
    )


def _main_module(**attributes: Any) -> dict[str, Any]:
    """A fresh ``__main__``; gives its namespace."""
    main = ModuleType("__main__")
    vars(main).update(__builtins__=builtins, **attributes)
    sys.modules["__main__"] = main
    return vars(main)


def _show_without_us(error: BaseException) -> None:
    """Has Python show ``error``, when it ends the process, from the first frame that is not part of running it."""
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None and _is_ours(traceback.tb_frame.f_code.co_filename):
        traceback = traceback.tb_next
    show = sys.excepthook
    sys.excepthook = lambda kind, value, _: show(kind, value.with_traceback(traceback), traceback)


def _is_ours(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<frozen ")
