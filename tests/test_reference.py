"""The reference: functions have an example, which prints what it says, as PyTorch does."""

from __future__ import annotations

import doctest
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import taeda

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from reference import NAMESPACES, documented, resolve  # type: ignore[import-not-found]
from reference_classes import PACKAGES, members  # type: ignore[import-not-found]

from taedagen.emit.examples import Example, examples

EXAMPLES = examples()
CUDA_ALONE = {"torch.nn.functional.scaled_grouped_mm"}  # in PyTorch


def failures(example: Example, library: ModuleType) -> str:
    """What differs from the example where ``torch`` is that library."""
    test = doctest.DocTestParser().get_doctest(
        example.text, {"torch": library}, example.names[0], str(example.file), example.line
    )
    assert test.examples
    library.manual_seed(0)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=told.append)
    return "".join(told)


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_example_prints_what_it_says(example: Example) -> None:
    assert failures(example, taeda) == ""


@pytest.mark.parametrize("example", EXAMPLES, ids=repr)
def test_example_holds_for_pytorch(example: Example) -> None:
    torch = pytest.importorskip("torch")
    if resolve(torch, example.names[0].removeprefix("torch.")) is None:
        pytest.skip("Taeda's own")
    if example.names[0] in CUDA_ALONE:
        pytest.skip("PyTorch has it for CUDA alone")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert failures(example, torch) == ""


def test_names_have_one_example_and_those_of_pytorch_all_have() -> None:
    names = Counter(name for example in EXAMPLES for name in example.names)
    assert [name for name, count in names.items() if count > 1] == []
    functions = {".".join(filter(None, ("torch", n, f))) for n in NAMESPACES for f in documented(n)}
    assert names.keys() - functions == set()
    torch = pytest.importorskip("torch")
    assert [f for f in functions - names.keys() if resolve(torch, f.removeprefix("torch.")) is not None] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_classes_have_a_page_that_says_what_they_are(package: str) -> None:
    found = members(package)
    assert found and [name for name, value in found.items() if not (value.__doc__ or "").strip()] == []
