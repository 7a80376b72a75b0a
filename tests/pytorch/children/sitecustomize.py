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


if "PYTORCH_TESTS_MODULE" in os.environ:
    sys.meta_path.insert(0, _First())
