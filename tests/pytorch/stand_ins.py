"""What stands in for parts of PyTorch that its test files ask for: helpers of its own suite, and what Taeda lacks.

Runs in the process of the tests, beside `worker`, where the package's name is not known.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
import unittest
from pathlib import Path
from typing import Any

PREFIX = "torch.testing._internal"
SHIM = Path(__file__).with_name("shim")
# Tables of data, and tests that others run, from PyTorch's sources over the module under test.
BORROWED = {
    "common_nn", "common_optimizers", "common_modules", "two_tensor", "logging_tensor", "autograd_function_db",
    "jit_metaprogramming_utils", "test_module.future_div", "test_module.no_future_div", "common_quantization",
    "common_quantized", "hypothesis_utils", "dist_utils", "common_pruning",
}  # fmt: skip
# What of them does not hold any more, in 2.13 and NumPy 2, or under another name of the package: by file, text and what
# stands in its place.
OUTDATED = {
    "common_modules": ("namespace.__name__.replace('torch.', '')", "namespace.__name__.partition('.')[2]"),
    "common_quantized": ("supported_qengines.remove('none')", ""),
    "hypothesis_utils": ("randint(0, X.ndim, 1)", "randint(0, X.ndim)"),
}
# Helpers of PyTorch's suite that stand in its package.
HELPERS = {"torch._dynamo.test_case": "dynamo_test_case", "torch._dynamo.testing": "dynamo_testing"}
EXAMPLES = "torch._export.db"  # programs that its package keeps for tests
BORROWED_FOLDERS = ("distributed.",)
FLAGS = ("IS_", "TEST_", "HAS_", "NO_", "SM", "PLATFORM_", "CDNA", "RUN_", "USE_", "NOTEST")
DECORATORS = (
    "override_qengines",
    "skip",
    "xfail",
    "expectedFailure",
    "only",
    "slow",
    "mark",
    "disable",
    "with_",
    "wrap",
    "largeTensor",
)
TABLES = ("_db", "_ops", "ufuncs", "funcs", "_and_refs", "_tests", "engines", "_args", "_FNS")
importing = False  # while a test file's module-level code runs


def fallback(module: str, name: str) -> Any:
    """A helper that nobody wrote, by what its name says it is: a flag, a decorator, a table; else it skips the test."""
    if name == "import_dill":
        return lambda: None
    if name == "export_for_training":  # of 2.6: what export itself does in 2.13
        return importlib.import_module("torch.export").export
    if name.endswith(TABLES) and not name.startswith((*DECORATORS, "get_")):
        return []
    if name.isupper() or name.startswith(FLAGS):
        return False
    if name.startswith(DECORATORS):
        return lambda *a, **k: a[0] if len(a) == 1 and callable(a[0]) and not k else lambda function: function
    if name[0].isupper():
        contents = {"__init__": _skipper(module, name), "__getattr__": _part_of, "stands_in": True}
        return type(name, (), contents)
    return _skipper(module, name)


def _part_of(instance: Any, name: str) -> Any:
    """A method that a class made up by `fallback` would have, for what a file does with it while it is imported."""
    if name.startswith("__") or not importing:
        raise AttributeError(name)
    return _skipper(type(instance).__name__, name)


class _Skipper:
    """A function that skips the test that calls it; while a file is imported, a decorator that skips, or a module."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self.__name__ = module, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reason = f"there is no {self._module}.{self.__name__}"
        if importing:
            return None if args and type(args[0]).__name__ == self.__name__ else unittest.skip(reason)
        raise unittest.SkipTest(reason)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Skipper(f"{self._module}.{self.__name__}", name)


def _skipper(module: str, name: str) -> Any:
    return _Skipper(module, name)


class Absent:
    """A name that Taeda lacks, used while a file is imported: the tests that use it fail, the file loads."""

    def __init__(self, name: str) -> None:
        self.__dict__.update(_name=name, __name__=name.rpartition(".")[2])

    def _raise(self) -> Any:
        raise AttributeError(f"module {self._name.rpartition('.')[0]!r} has no attribute {self.__name__!r}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if importing:
            return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self
        return self._raise()

    def __mro_entries__(self, bases: Any) -> Any:
        return (type(self.__name__, (), {"__init__": lambda *args, **kwargs: self._raise(), "stands_in": True}),)

    def __iter__(self) -> Any:
        return iter(())

    def __contains__(self, item: object) -> bool:
        return False

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Any:
        return self._raise()

    def __exit__(self, *args: object) -> None: ...

    def __repr__(self) -> str:
        return self._name


@contextlib.contextmanager
def lenient_script() -> Any:
    """A scope in which a function that cannot be compiled costs the tests that use it, not the file."""
    import torch

    script = torch.jit.script

    def compile_or_stand_in(obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return script(obj, *args, **kwargs)
        except Exception:
            return Absent(f"torch.jit.script.{getattr(obj, '__name__', 'of')}")

    torch.jit.script = compile_or_stand_in
    try:
        yield
    finally:
        torch.jit.script = script


@contextlib.contextmanager
def known_ops(again: bool) -> Any:
    """A scope in which a file that is run ``again`` may define its ops once more: what they were first counts."""
    import torch

    names = ("define", "impl", "impl_abstract", "register_fake", "custom_op") if again else ()
    plain = {name: getattr(torch.library, name) for name in names if hasattr(torch.library, name)}

    def once(register: Any) -> Any:
        def attempt(*args: Any, **kwargs: Any) -> Any:
            try:
                done = register(*args, **kwargs)
            except RuntimeError:
                return args[0] if len(args) == 1 and callable(args[0]) else lambda function: function
            return once(done) if isinstance(done, types.FunctionType) else done

        return attempt

    for name, register in plain.items():
        setattr(torch.library, name, once(register))
    try:
        yield
    finally:
        for name, register in plain.items():
            setattr(torch.library, name, register)


class _StandIn(types.ModuleType):
    """A module that is not there: its names are `fallback`'s."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = fallback(self.__name__, name)
        setattr(self, name, value)
        return value


class _Loader(importlib.abc.Loader):
    def create_module(self, spec: Any) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


class _Missing(importlib.abc.MetaPathFinder):
    """Behind all other finders: modules that PyTorch 2.13 has not any more."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith(("torch.ao.", "functorch.")):
            return None
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)


class _Borrowed(importlib.machinery.SourceFileLoader):
    """Reads a file of PyTorch's without what is outdated in it."""

    def get_data(self, path: str) -> bytes:
        data = super().get_data(path)
        old, new = OUTDATED.get(Path(path).stem, ("", ""))
        return data.replace(old.encode(), new.encode()) if old and path.endswith(".py") else data

    def path_stats(self, path: str) -> Any:
        raise OSError("what is read is not kept")


class Finder(importlib.abc.MetaPathFinder):
    """Finds the helpers in `shim` or, some, in PyTorch's sources; makes up modules that ``candidate`` lacks."""

    def __init__(self, candidate: str | None, borrow: Path) -> None:
        self.candidate = candidate
        self.borrow = borrow

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name == PREFIX or name.startswith(PREFIX + "."):
            return self._helper(name)
        if self.candidate is None or not name.startswith("torch."):
            return None
        if name in getattr(sys.modules.get(f"{self.candidate}._stand_in.finder"), "NATIVE", ()):
            return None
        if name in HELPERS:
            return importlib.util.spec_from_file_location(name, SHIM / f"{HELPERS[name]}.py")
        if name.startswith(EXAMPLES):
            place = self.borrow.parents[1].joinpath(*name.split(".")[1:])
            package = place.is_dir()
            return importlib.util.spec_from_file_location(
                name, place / "__init__.py" if package else place.with_suffix(".py"),
                submodule_search_locations=[str(place)] if package else None,
            )  # fmt: skip
        parent, _, leaf = name.rpartition(".")
        # As mock.patch asks for a class's method. Not by getattr, which would load the module that is being found.
        if isinstance(vars(sys.modules[parent]).get(leaf) if parent in sys.modules else None, type):
            return None
        try:
            if self.candidate + name[5:] in sys.modules or importlib.util.find_spec(self.candidate + name[5:]):
                return None
        except (ImportError, ValueError, AttributeError):
            pass
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)

    def _helper(self, name: str) -> Any:
        leaf = name[len(PREFIX) + 1 :]
        place = SHIM.joinpath(*leaf.split("."))
        if place.is_dir():
            folders = [str(place)]
            return importlib.util.spec_from_file_location(
                name, place / "__init__.py", submodule_search_locations=folders
            )
        borrowed = self.borrow.joinpath(*leaf.split(".")).with_suffix(".py")
        may_borrow = leaf in BORROWED or (leaf.startswith(BORROWED_FOLDERS) and ".jit." not in leaf)
        if (own := place.with_suffix(".py")).exists():
            return importlib.util.spec_from_file_location(name, own)
        if may_borrow and borrowed.exists():
            loader = _Borrowed(name, str(borrowed))
            return importlib.util.spec_from_file_location(name, borrowed, loader=loader)
        return importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)


def install(candidate: str, borrow: Path) -> types.ModuleType:
    """Makes ``import torch`` mean ``candidate``, and its ``testing._internal`` ours; returns it."""
    if candidate == "torch":
        import torch.testing  # needs its own helpers to load

        sys.meta_path.insert(0, Finder(None, borrow))
        sys.meta_path.append(_Missing())
    else:
        importlib.import_module(candidate).install_as_torch()
        sys.meta_path.insert(0, Finder(candidate, borrow))
    import torch
    import torch.testing

    for name in [name for name in sys.modules if name.startswith(PREFIX)]:
        del sys.modules[name]
    torch.testing._internal = importlib.import_module(PREFIX)
    return torch
