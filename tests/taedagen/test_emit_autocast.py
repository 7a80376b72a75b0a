"""The autocast layer that ``autocast=`` makes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from generator import generate, tree

OPS = '''from taedagen.opdef import *


@composite("product(Tensor self, Tensor? other=None, int n=1) -> Tensor", variants="function out", autocast="lower",
           files="x")
def product(self, other, n):
    """Cast to the lower precision."""


@composite("joined(Tensor[] tensors, Tensor default) -> Tensor", autocast="promote", files="x")
def joined(tensors, default):
    """Cast to the widest of all."""


@composite("cell(Tensor input, Tensor hx) -> Tensor", autocast="promote", widest_of="hx", files="x")
def cell(input, hx):
    """Cast to the dtype of one argument."""


@composite("plain(Tensor self) -> Tensor", files="x")
def plain(self):
    """Not cast."""
'''
SOURCE = """
// {ops}/first.py:4
Tensor product(KeySet keys, const Tensor& self, const Tensor& other, int64_t n) {{
  casting::Scope cast(keys, casting::Rule::Lower);
  return ops::product(cast(self), cast(other), n);
}}

// {ops}/first.py:10
Tensor joined(KeySet keys, TensorList tensors, const Tensor& default_) {{
  casting::Scope cast(keys, casting::Rule::Promote, tensors, default_);
  return ops::joined(cast(tensors), cast(default_));
}}

// {ops}/first.py:15
Tensor cell(KeySet keys, const Tensor& input, const Tensor& hx) {{
  casting::Scope cast(keys, casting::Rule::Promote, hx);
  return ops::cell(cast(input), cast(hx));
}}
"""


def made(folder: Path, text: str = OPS) -> dict[str, str]:
    (folder / "ops").mkdir()
    (folder / "ops" / "first.py").write_text(text)
    run = generate(folder / "out", ops=folder / "ops")
    assert run.returncode == 0, run.stderr
    return tree(folder / "out")


def test_functions_that_cast(tmp_path: Path) -> None:
    files = made(tmp_path)
    assert SOURCE.format(ops=tmp_path / "ops") in files["csrc/autocast/ops/first.cpp"]
    assert "plain" not in files["csrc/autocast/ops/first.cpp"] + files["csrc/autocast/ops/first.h"]
    assert files["csrc/dispatch/ops/first.inc"].count("TAEDA_LAYER(Autocast, ") == 3
    assert '#include "autocast/ops/first.h"' in files["csrc/dispatch/ops/first.cpp"]
    assert "csrc/autocast/ops/first.cpp" in files["library.txt"]


def test_nothing_to_cast_makes_no_file(tmp_path: Path) -> None:
    files = made(tmp_path, OPS.partition("@composite")[0] + OPS[OPS.rindex("@composite") :])
    assert not any("autocast" in name for name in files)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ('autocast="down"', "autocast rule 'down' is unknown"),
        ('autocast="lower", widest_of="self"', "widest_of"),
        ('autocast="promote", widest_of="other"', "widest_of"),
    ],
)
def test_mistakes(tmp_path: Path, options: str, words: str) -> None:
    (tmp_path / "bad.py").write_text(
        f'from taedagen.opdef import *\n\n\n@composite("f(Tensor self) -> Tensor", files="x", {options})\n'
        'def f(self):\n    """Wrong."""\n'
    )
    run = generate(tmp_path / "out", ops=tmp_path)
    assert run.returncode == 1 and words in run.stderr and "bad.py:4" in run.stderr
