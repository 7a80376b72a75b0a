"""What Python runs first in processes that tests start: there, too, torch is the module under test."""

import importlib.abc
import importlib.util
import os
import sys
from pathlib import Path


class _First(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Installs the stand-ins when a process first asks for torch, for many never do."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch" or "stand_ins" in sys.modules:
            return None
        sys.meta_path.remove(self)
        import stand_ins

        stand_ins.install(os.environ["PYTORCH_TESTS_MODULE"], Path(os.environ["PYTORCH_TESTS_BORROW"]))
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        return sys.modules[spec.name]

    def exec_module(self, module):
        pass


class _TestFile(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the test file as its first process did: names that are lacking cost the tests that use them."""

    def __init__(self, file):
        self.file = file

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name == self.file.stem else None

    def create_module(self, spec):
        import stand_ins
        import worker

        candidate = os.environ["PYTORCH_TESTS_MODULE"]
        if not any(isinstance(finder, stand_ins.Finder) for finder in sys.meta_path):
            stand_ins.install(candidate, Path(os.environ["PYTORCH_TESTS_BORROW"]))
        return worker.load(self.file, candidate)

    def exec_module(self, module):
        pass


if "PYTORCH_TESTS_MODULE" in os.environ:
    sys.meta_path[:0] = [_First(), _TestFile(Path(os.environ["PYTORCH_TESTS_FILE"]))]
