"""Modules to package, which only these tests can import."""

import sys

import pytest

SOURCES = {
    "shop/__init__.py": "from . import parts\nfrom .parts import Wheel\nNAME = 'shop'\n",
    "shop/parts.py": (
        "import math\nclass Wheel:\n    size = 2\n    def area(self):\n        return math.pi * self.size ** 2\n"
    ),
    "shop/far.py": "from .. import nothing\n",
    "garage.py": (
        "import shop.parts, taeda\nclass Car:\n    def __init__(self):\n        self.wheel = shop.parts.Wheel()\n"
    ),
    "nets.py": (
        "import taeda\nfrom taeda import nn\nfrom shop import NAME\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.linear = nn.Linear(3, 2)\n"
        "    def forward(self, x):\n        return self.linear(x).relu() + x.dim()\n"
    ),
}


@pytest.fixture(autouse=True)
def modules(tmp_path, monkeypatch):
    """The folder of the modules above."""
    for name, text in SOURCES.items():
        file = tmp_path / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    yield tmp_path / "modules"
    for name in [n for n in sys.modules if n.partition(".")[0] in ("shop", "garage", "nets")]:
        del sys.modules[name]
