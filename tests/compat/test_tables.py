"""PyTorch's other tables: of modules, of optimisers and of for-each ops, each through both libraries.

A module is built from the same seed and called with the table's samples; initial weights, results, gradients, buffers
and ``repr`` must agree. An optimiser takes steps, also with a closure and after its state was saved and loaded.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")  # PyTorch's tables need it
pytestmark = pytest.mark.torch

from comparison import differ, flat  # noqa: E402
from torch.testing._internal import common_methods_invocations as tables  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402
from torch.testing._internal.common_optimizers import optim_db  # noqa: E402

import taeda  # noqa: E402

from .op_db import Entry  # noqa: E402
from .run import run_op  # noqa: E402
from .translate import Copier, Translator  # noqa: E402

RTOL = {torch.float32: 2e-5, torch.float64: 1e-10, torch.bfloat16: 2e-2}
STEPS = 6
MOST = 40  # samples of a module for a dtype


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    counts = [library.get_num_threads() for library in (torch, taeda)]
    torch.set_num_threads(1)
    taeda.set_num_threads(1)
    yield
    torch.set_num_threads(counts[0])
    taeda.set_num_threads(counts[1])


class ModuleTranslator(Translator):
    """Translates encoder layers too, which are arguments of the table's encoders."""

    def other(self, value: Any) -> Any:
        if not isinstance(value, torch.nn.TransformerEncoderLayer):
            return super().other(value)
        sizes = value.self_attn.embed_dim, value.self_attn.num_heads, value.linear1.out_features, value.dropout.p
        made = taeda.nn.TransformerEncoderLayer(
            *sizes, self(value.activation), value.norm1.eps, value.self_attn.batch_first, value.norm_first,
            value.linear1.bias is not None, dtype=self(value.norm1.weight.dtype),
        )  # fmt: skip
        made.load_state_dict({name: self(t.detach()) for name, t in value.state_dict().items()})
        return made.train(value.training)


def attempt(call: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """A call's result and the name of the exception that it raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(*args), ""
        except Exception as error:
            return None, type(error).__name__


def differences(ours: Any, theirs: Any, rtol: float) -> Iterator[str]:
    """In two nests of tensors; what is None in one must be in the other."""
    for a, b in itertools.zip_longest(flat(ours), flat(theirs), fillvalue="nothing"):
        if isinstance(b, torch.Tensor) and isinstance(a, taeda.Tensor):
            yield from filter(None, [differ(a, b, values=True, strides=True, rtol=rtol)])
        elif isinstance(b, torch.Tensor) or isinstance(a, taeda.Tensor):
            yield f"{a}, wanted {b}"


def seen_of_module(library: Any, cls: Any, make: Callable[[Any], Any], sample: Any, dtype: Any, training: bool) -> Any:
    """Initial state, results, gradients of parameters and arguments, and state afterwards."""
    library.manual_seed(3)
    constructor, forward = sample.constructor_input, sample.forward_input
    module = cls(*make(constructor.args), **make(constructor.kwargs)).to(make(dtype)).train(training)
    before = {name: t.clone() for name, t in module.state_dict().items() if hasattr(t, "clone")}
    args, kwargs = make(forward.args), make(forward.kwargs)
    results = module(*args, **kwargs)
    outs = [r for r in flat(results) if hasattr(r, "requires_grad") and r.requires_grad]
    torch.manual_seed(9)
    along = [make(torch.randn(tuple(r.shape)).to(dtype)) for r in outs]
    if outs:
        library.autograd.backward(outs, along)
    leaves = [*module.parameters(), *(t for t in flat([args, kwargs]) if getattr(t, "is_leaf", False))]
    state = [t for t in module.state_dict().values() if hasattr(t, "clone")]
    names = [*module.state_dict(), repr(module)]
    return names, [list(before.values()), flat(results), [t.grad for t in leaves], state]


@pytest.mark.parametrize("info", module_db, ids=lambda info: info.name)
def test_module(info: Any) -> None:
    cls = getattr(taeda.nn, info.module_cls.__name__)
    dtypes = [d for d in RTOL if d in info.dtypes]
    for dtype, training in itertools.product(dtypes, (True, False)):
        torch.manual_seed(0)
        samples = list(info.module_inputs_func(info, "cpu", dtype, True, training))
        for sample in samples[:: 1 + len(samples) // MOST]:
            if sample.forward_input is None:
                continue
            sides = (taeda, cls, ModuleTranslator()), (torch, info.module_cls, Copier())
            (ours, failed), (theirs, wanted) = (
                attempt(seen_of_module, *side, sample, dtype, training) for side in sides
            )
            where = f"{dtype}, training={training}, {sample.desc}"
            assert failed == wanted, where
            if not wanted:
                assert ours[0] == theirs[0], where
                assert not list(differences(ours[1], theirs[1], 5 * RTOL[dtype])), where


def call_wrongly(cls: Any, make: Callable[[Any], Any], sample: Any) -> None:
    module = cls(*make(sample.constructor_input.args), **make(sample.constructor_input.kwargs))
    if sample.forward_input is not None:
        module(*make(sample.forward_input.args), **make(sample.forward_input.kwargs))


@pytest.mark.parametrize("info", [i for i in module_db if i.module_error_inputs_func], ids=lambda info: info.name)
def test_module_errors(info: Any) -> None:
    cls = getattr(taeda.nn, info.module_cls.__name__)
    for case in info.module_error_inputs_func(info, "cpu", torch.float32, False, True):
        sides = (cls, Translator()), (info.module_cls, Copier())
        failed, wanted = (attempt(call_wrongly, *side, case.module_error_input)[1] for side in sides)
        assert failed == wanted, case.error_regex


def trajectory(library: Any, cls: Any, make: Callable[[Any], Any], options: dict[str, Any], dtype: Any) -> Any:
    """Parameters after some steps, and the form of the state."""
    torch.manual_seed(0)
    shapes = [(3, 2), (5, 3)] if cls.__name__ == "Muon" else [(3, 2), (4,), (), (5, 3)]
    params = [make(torch.randn(shape, dtype=dtype)).requires_grad_() for shape in shapes]
    options = make(options)

    def fresh() -> Any:
        groups = [params] if cls.__name__ == "LBFGS" else [params[:1], params[1:]]
        return cls([{"params": group} for group in groups], **options)

    optimizer = fresh()

    def closure() -> Any:
        optimizer.zero_grad()
        loss = sum(((p - 0.3) ** 2 * (1 + p.sin())).sum() for p in params)
        loss.backward()
        return loss

    for step in range(STEPS):
        if step == STEPS // 2:
            state = optimizer.state_dict()
            optimizer = fresh()
            optimizer.load_state_dict(state)
        if cls.__name__ == "LBFGS" or step % 2:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    state = optimizer.state_dict()
    form = [list(group) for group in state["param_groups"]], {i: set(s) for i, s in state["state"].items()}
    return (form, repr(optimizer)), params


OPTIMIZERS = [info for info in optim_db if not info.only_supports_sparse_grads]


@pytest.mark.parametrize("info", OPTIMIZERS, ids=lambda info: info.optim_cls.__name__)
def test_optimizer(info: Any) -> None:
    cls = getattr(taeda.optim, info.optim_cls.__name__)
    forms: list[dict[str, Any]] = [{}] + [{name: True} for name in ("foreach", "fused") if name in info.supported_impls]
    forms += [{"foreach": False}] * ("foreach" in info.supported_impls)
    for form, sample in itertools.product(forms, info.optim_inputs_func(device="cpu", dtype=torch.float64)):
        options = {**sample.kwargs, **form}
        sides = (taeda, cls, Translator()), (torch, info.optim_cls, Copier())
        (ours, failed), (theirs, wanted) = (attempt(trajectory, *side, options, torch.float64) for side in sides)
        assert failed == wanted, options
        if not wanted:
            assert ours[0] == theirs[0], options
            assert not list(differences(ours[1], theirs[1], 1e-6)), options


def make_optimizer(cls: Any, make: Callable[[Any], Any], sample: Any) -> Any:
    return cls(make(sample.params), **make(sample.kwargs))


@pytest.mark.parametrize("info", OPTIMIZERS, ids=lambda info: info.optim_cls.__name__)
def test_optimizer_errors(info: Any) -> None:
    cls = getattr(taeda.optim, info.optim_cls.__name__)
    for case in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        sample = case.optimizer_error_input
        sides = (cls, Translator()), (info.optim_cls, Copier())
        failed, wanted = (attempt(make_optimizer, *side, sample)[1] for side in sides)
        assert failed == wanted, sample.desc


FOREACH = [
    i for kind in ("unary", "binary", "pointwise", "reduce", "other") for i in vars(tables)[f"foreach_{kind}_op_db"]
]


@pytest.mark.parametrize("info", FOREACH, ids=lambda info: info.full_name)
def test_foreach(info: Any) -> None:
    result = run_op(Entry(info), lambda where: None, cap=2)
    assert not result.excluded and not result.mistakes
