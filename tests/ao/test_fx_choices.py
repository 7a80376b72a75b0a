"""Which parts graph mode quantises, and how it names and orders them: as PyTorch does."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import taeda
from taeda.ao.ns.fx.utils import compute_cosine_similarity, compute_normalized_l2_error, compute_sqnr
from taeda.ao.quantization.backend_config import DTypeConfig


def model(library: Any) -> Any:
    nn = library.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.last, self.relu = nn.Linear(2, 2), nn.ReLU()
            self.first = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
            self.middle = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.relu(self.last(self.middle(self.first(x))))

    return Net()


def parts(library: Any, choice: str) -> Any:
    """The names, classes and states of a model that was prepared and, but for training, converted."""
    q = importlib.import_module(f"{library.__name__}.ao.quantization")
    fx = importlib.import_module(f"{library.__name__}.ao.quantization.quantize_fx")
    x = library.ones(1, 1, 4, 4)
    symmetric = q.HistogramObserver.with_args(dtype=library.qint8, qscheme=library.per_tensor_symmetric)
    mapping = {
        "no linear": lambda: q.get_default_qconfig_mapping("x86").set_object_type(library.nn.Linear, None),
        "qint8": lambda: q.QConfigMapping().set_global(
            q.QConfig(activation=symmetric, weight=q.default_weight_observer)
        ),
        "dynamic": lambda: q.QConfigMapping().set_global(q.default_dynamic_qconfig),
        "half": lambda: q.QConfigMapping().set_global(q.float16_dynamic_qconfig),
        "training": lambda: q.get_default_qat_qconfig_mapping("x86"),
    }.get(choice, lambda: q.get_default_qconfig_mapping("x86"))()
    if choice == "training":
        prepared = fx.prepare_qat_fx(model(library).train(), mapping, (x,))
        return [name for name, _ in prepared.named_modules()], list(prepared.state_dict())
    prepared = fx.prepare_fx(model(library).eval(), mapping, (x,))
    names = () if choice in ("dynamic", "half") else ([name for name, _ in prepared.named_modules()],)
    return (
        *names,
        *prepared.state_dict(),
        [(name, type(part).__name__) for name, part in fx.convert_fx(prepared).named_modules()],
    )


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("choice", ["static", "no linear", "qint8", "dynamic", "half", "training"])
def test_parts_as_pytorch(choice: str) -> None:
    assert parts(taeda, choice) == parts(pytest.importorskip("torch"), choice)


def test_measures_of_how_near_tensors_are() -> None:
    x = taeda.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert compute_sqnr(x, 1.1 * x).item() == pytest.approx(20, abs=1e-4)
    assert compute_normalized_l2_error(x, 1.5 * x).item() == pytest.approx(0.5)
    assert [float(one) for one in compute_cosine_similarity((x, x), (2 * x, -x))] == pytest.approx([1, -1])
    assert compute_sqnr(taeda.quantize_per_tensor(x, 0.5, 0, taeda.qint8), 2 * x).item() == pytest.approx(0)


def test_a_choice_of_dtypes_shows_itself() -> None:
    shown = repr(DTypeConfig(input_dtype=taeda.quint8, is_dynamic=True))
    assert shown.startswith("DTypeConfig(input_dtype_with_constraints=DTypeWithConstraints(dtype=torch.quint8")
    assert shown.endswith("is_dynamic=True)")
