"""Every op that meets a quantised operand gives what it gives for its numbers, to a quantum, or refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from comparison import UNDEFINED, differ, flat
from declared import Op, base_ops, cases, find, report, samples_of, seed_for
from test_sparse import copied, places

import taeda
from taeda import Tensor
from taeda.testing._samples import make

SAMPLES = 3
RANDOM = {"random", "dropout"}
# About the integers, what is stored or how, or of memory that nobody filled.
OF_THE_INTEGERS = {
    "int_repr", "_integers", "is_set_to", "dequantize", "element_size", "to", "type_as", "_to_copy", "view",
    "_is_zerotensor", "result_type", "can_cast", "is_floating_point", "is_complex", "is_signed",
    "_has_same_storage_numel",
}  # fmt: skip
KINDS = ("quint8", "qint8", "by channel")


def is_tested(op: Op) -> bool:
    left_out = op.declaration.family in RANDOM or op.schema.name in {*OF_THE_INTEGERS, *UNDEFINED}
    return not left_out and any(sample.fills for sample in samples_of(op))


OPS = list(filter(is_tested, base_ops()))


def quantised(x: Tensor, kind: str) -> Tensor:
    if kind != "by channel":
        return taeda.quantize_per_tensor(x.detach().float(), 0.25, 3, getattr(taeda, kind))
    count = x.shape[-1]
    scales = taeda.arange(count) * 0.125 + 0.25
    return taeda.quantize_per_channel(x.detach().float(), scales, taeda.zeros(count), x.dim() - 1, taeda.qint8)


def called(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], seed: int) -> list[Any] | Exception:
    taeda.manual_seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return flat(function(*args, **kwargs))
        except Exception as error:
            return error


def wrong_result(got: Any, wanted: Any) -> str | None:
    """What is wrong with one result."""
    if not isinstance(got, Tensor) or not got.is_quantized:
        return differ(got, wanted, strides=False)
    if not isinstance(wanted, Tensor) or wanted.is_complex():
        return f"is quantised, wanted {wanted}"
    if got.shape != wanted.shape:
        return f"has shape {got.shape}, wanted {wanted.shape}"
    if got.qscheme() in (taeda.per_tensor_affine, taeda.per_tensor_symmetric):
        again = taeda.quantize_per_tensor(wanted.float(), got.q_scale(), got.q_zero_point(), got.dtype)
    elif not has_numbers(got):
        return None
    else:
        numbers = got.q_per_channel_scales(), got.q_per_channel_zero_points()
        again = taeda.quantize_per_channel(wanted.float(), *numbers, got.q_per_channel_axis(), got.dtype)
    apart = (got.int_repr().long() - again.int_repr().long()).abs()
    return f"differs by {apart.max().item()} quanta" if apart.numel() and apart.max() > 1 else None


def has_numbers(got: Tensor) -> bool:
    """Whether it is still quantised along one of its dimensions; otherwise dequantising it must be refused."""
    axis, count = got.q_per_channel_axis(), got.q_per_channel_scales().numel()
    if axis < got.dim() and got.shape[axis] == count:
        return True
    with pytest.raises(RuntimeError):
        got.dequantize()
    return False


def fits(x: Tensor, kind: str) -> bool:
    return x.dtype == taeda.float32 and (kind != "by channel" or x.dim() > 0) and bool(x.isfinite().all())


@pytest.mark.parametrize("op", cases("quantised", OPS))
def test_as_its_numbers_or_refused(op: Op) -> None:
    function, mistakes = find(taeda, op.schema.name, op.schema.overload), []
    for sample in samples_of(op)[:SAMPLES]:
        args, kwargs = make(sample, taeda, seed_for(op), "cpu")
        args = [_single(x) for x in args]
        for at in places(args):
            x = args[at[0]] if at[1] is None else args[at[0]][at[1]]
            for kind in KINDS:
                if not fits(x, kind):
                    continue
                q = quantised(x, kind)
                numbers = q.dequantize()
                got = called(function, copied(args, at, q), kwargs, seed_for(op))
                if isinstance(got, Exception):
                    if not isinstance(got, (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError)):
                        mistakes.append(f"{kind} at {at}: {got!r:.120}")
                    continue
                wanted = called(function, copied(args, at, numbers), kwargs, seed_for(op))
                if isinstance(wanted, Exception):
                    mistakes.append(f"{kind} at {at}: works, where its numbers raise {wanted!r:.100}")
                    continue
                mistakes += [f"{kind} at {at}: {wrong}" for g, w in zip(got, wanted, strict=True)
                             if (wrong := wrong_result(g, w))]  # fmt: skip
    report(op, mistakes)


def _single(x: Any) -> Any:
    """Numbers as float32, which alone can be quantised."""
    if isinstance(x, (list, tuple)):
        return [_single(part) for part in x]
    return x.float() if isinstance(x, Tensor) and x.dtype == taeda.float64 else x
