"""Tests of ops as files declare them: a class that makes the inputs and calls the op, and configs for it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda.utils.operator_benchmark.configs import Config


class TorchBenchmarkBase(nn.Module):
    """An op under test.

    A subclass defines ``init(**attributes)``, which sets ``self.inputs``, a dict, and ``forward``, which takes its
    values in their order and calls the op.
    """

    inputs: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self.user_given_name: str | None = None
        self._is_backward = False
        # `auto_set` is asked once for each input that may require a gradient: by all at first, then one at a time.
        self._pass_count = self._auto_set_counter = self._num_inputs_require_grads = 0

    def _set_backward_test(self, is_backward: bool) -> None:
        self._is_backward = is_backward

    def auto_set(self) -> bool:
        """Whether the input that is being made requires a gradient in this test."""
        if not self._is_backward:
            return False
        if self._pass_count == 0:
            self._num_inputs_require_grads += 1
            return True
        self._auto_set_counter += 1
        return self._auto_set_counter == self._pass_count

    def set_module_name(self, name: str) -> None:
        """The name of the op, in place of the class's."""
        self.user_given_name = name

    def module_name(self) -> str:
        """The name of the op."""
        return self.user_given_name or type(self).__name__

    def extract_inputs_tuple(self) -> None:
        """Takes note of the inputs."""
        self.inputs_tuple = tuple(self.inputs.values())

    def get_inputs(self) -> tuple[Any, ...]:
        """The inputs, in their order."""
        return self.inputs_tuple

    def forward_impl(self) -> Any:
        """One call of the op."""
        return self.forward(*self.inputs_tuple)

    def test_name(self, **attributes: Any) -> str:
        """The op and its attributes in one word, e.g. ``add_M8_N2_cpu``."""
        parts = [("" if name == "device" else name) + _short(value) for name, value in attributes.items()]
        return "_".join([self.module_name(), *parts]).replace(" ", "")


def _short(value: Any) -> str:
    return str(int(value) if isinstance(value, bool) else value)


@dataclass
class Case:
    """An op with its inputs, ready to be called."""

    op: TorchBenchmarkBase
    name: str
    input: str
    tag: str
    backward: bool

    def call(self) -> Callable[[], Any]:
        """What is to be timed."""
        if not self.backward:
            return self.op.forward_impl
        mean = _sum_of(self.op.forward_impl())
        return lambda: mean.backward(retain_graph=True)


def _sum_of(result: Any) -> Tensor:
    if isinstance(result, Tensor):
        return result.sum()
    sums = [r.sum() for r in result if isinstance(r, Tensor) and r.requires_grad]
    if not sums:
        raise RuntimeError("operator_benchmark: no result requires a gradient, so there is no backward to be timed")
    return sum(sums[1:], sums[0])


@dataclass(frozen=True)
class _Registered:
    configs: Iterable[Config]
    make: Callable[[], TorchBenchmarkBase]
    backward: bool
    op: dict[str, Any] | None


_registered: list[_Registered] = []


def generate_pt_test(configs: Iterable[Config], pt_bench_op: Callable[[], TorchBenchmarkBase]) -> None:
    """Registers a test of the op for each config."""
    _registered.append(_Registered(configs, pt_bench_op, False, None))


def generate_pt_gradient_test(configs: Iterable[Config], pt_bench_op: Callable[[], TorchBenchmarkBase]) -> None:
    """The same for its backward pass."""
    _registered.append(_Registered(configs, pt_bench_op, True, None))


def generate_pt_tests_from_op_list(
    ops_list: Iterable[dict[str, Any]], configs: Iterable[Config], pt_bench_op: Callable[[], TorchBenchmarkBase]
) -> None:
    """A test of each op of an `op_list` for each config."""
    _registered.extend(_Registered(configs, pt_bench_op, False, op) for op in ops_list)


def generate_pt_gradient_tests_from_op_list(
    ops_list: Iterable[dict[str, Any]], configs: Iterable[Config], pt_bench_op: Callable[[], TorchBenchmarkBase]
) -> None:
    """The same for their backward passes."""
    _registered.extend(_Registered(configs, pt_bench_op, True, op) for op in ops_list)


def _attributes(config: Config) -> tuple[dict[str, Any], str]:
    merged = {name: value for entry in config for name, value in entry.items()}
    if "tags" not in merged:
        raise ValueError(f"operator_benchmark: the config {config} has no tags")
    return merged, merged.pop("tags")


def _absent(value: Any) -> bool:
    """Whether a config names a device that there is none of."""
    return isinstance(value, str) and value in ("cuda", "mps", "xpu") and not getattr(taeda, value).is_available()


def _cases_of(test: _Registered, wanted: Callable[[str], bool]) -> Iterator[Case]:
    for config in test.configs:
        attributes, tag = _attributes(config)
        if not wanted(tag) or any(map(_absent, attributes.values())):
            continue
        op = test.make()
        given = copy.deepcopy(attributes)
        if test.op is not None:
            given["op_func"] = test.op["op_func"]
            op.set_module_name(test.op["op_name"])
        op._set_backward_test(test.backward)
        yield _case(op, given, attributes, tag, "all" if test.backward else None)
        for place in range(1, op._num_inputs_require_grads + 1):
            one = copy.deepcopy(op)
            one._pass_count, one._auto_set_counter = place, 0
            yield _case(one, given, attributes, tag, place)


def _case(op: TorchBenchmarkBase, given: dict[str, Any], shown: dict[str, Any], tag: str, gradients: Any) -> Case:
    op.init(**given)  # type: ignore[operator]
    op.extract_inputs_tuple()
    if not op._is_backward:
        for parameter in op.parameters():
            parameter.requires_grad_(False)
    automatic = op._num_inputs_require_grads > 0
    named = {**shown, "bwd": gradients} if op._is_backward and automatic else shown
    text = ", ".join(f"{name}: {value}" for name, value in shown.items())
    return Case(op, op.test_name(**named), text, tag, op._is_backward)


def cases(wanted: Callable[[str], bool]) -> Iterator[Case]:
    """What has been registered and has a tag that is ``wanted``, made as it is asked for."""
    for test in _registered:
        yield from _cases_of(test, wanted)
