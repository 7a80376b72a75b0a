"""Ops that write, in programs without writes: with ``out=``, on lists, and a program's own."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

import taeda
from taeda import nn
from taeda.export import export, load, save
from taeda.export.files.artifact import ExportedProgramDeserializer, ExportedProgramSerializer, SerializeError
from taeda.library import custom_op

auto = taeda.ops.higher_order.auto_functionalized_v2


@pytest.fixture(scope="module", autouse=True)
def ops() -> Iterator[None]:
    @custom_op("written::scale_", mutates_args={"x"})
    def scale_(x: taeda.Tensor, y: taeda.Tensor) -> None:
        x.mul_(y)

    @custom_op("written::spread", mutates_args={"out", "xs"})
    def spread(y: taeda.Tensor, out: taeda.Tensor, xs: list[taeda.Tensor], k: int = 3) -> taeda.Tensor:
        out.copy_(y)
        for x in xs:
            x.add_(1)
        return y * k

    @custom_op("written::both", mutates_args={"a"})
    def both(a: taeda.Tensor, b: taeda.Tensor) -> tuple[taeda.Tensor, taeda.Tensor]:
        a.add_(b)
        return b + 1, b + 2

    spread.register_fake(lambda y, out, xs, k=3: taeda.empty_like(y))
    scale_.register_fake(lambda x, y: None)
    both.register_fake(lambda a, b: (taeda.empty_like(b), taeda.empty_like(b)))
    yield


class Call(nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function
        self.count = nn.Buffer(taeda.zeros(3))

    def forward(self, x: Any, y: Any) -> Any:
        return self.function(self, x, y)


def on_a_copy(m: Any, x: Any, y: Any) -> Any:
    x = x.clone()
    taeda.ops.written.scale_(x, y)
    return x


def on_views(m: Any, x: Any, y: Any) -> Any:
    table = taeda.zeros(2, 3)
    taeda.ops.written.spread(y, table[0], [table[1], table[1][1:]])
    return table + x


def on_lists(m: Any, x: Any, y: Any) -> Any:
    first, second = x + 1, x + 2
    third = taeda.ops.written.spread(y, taeda.zeros(3), [first, second])
    return first + second + third


def on_a_buffer(m: Any, x: Any, y: Any) -> Any:
    taeda.ops.written.scale_(m.count.add_(1), y)
    return m.count * x


def on_an_input(m: Any, x: Any, y: Any) -> Any:
    first, second = taeda.ops.written.both(x, y)
    return first * second * x


def into(m: Any, x: Any, y: Any) -> Any:
    z = taeda.zeros(2, 3)
    half = taeda.add(x, y, out=z[1])
    values, indices = taeda.empty(3), taeda.empty(3, dtype=taeda.long)
    taeda.sort(x, out=(values, indices))
    return z, half, values, indices


def lists(m: Any, x: Any, y: Any) -> Any:
    parts = [x.clone(), y.clone()]
    taeda._foreach_add_(parts, [y, y])
    return parts[0] * parts[1]


CASES = [on_a_copy, on_views, on_lists, on_a_buffer, on_an_input, into, lists]


@pytest.mark.parametrize("program", CASES)
def test_programs_without_writes_do_the_same(program: Any) -> None:
    def args() -> tuple[taeda.Tensor, ...]:
        return taeda.tensor([3.0, 1.0, 2.0]), taeda.full((3,), 2.0)

    module, plain = Call(program), args()
    exported = export(module, args()).run_decompositions()
    targets = [n.target for n in exported.graph.nodes if n.op == "call_function"]
    assert not any(t._schema.is_mutable for t in targets if hasattr(t, "_schema"))
    wanted = module(*plain)
    module.count.zero_()
    stream = io.BytesIO()
    save(exported, stream)
    stream.seek(0)
    for one in (exported, load(stream)):
        given = args()
        taeda.testing.assert_close(one.module()(*given), wanted)
        taeda.testing.assert_close(given, plain)
        module.count.zero_()


def test_an_op_of_the_program_is_called_through_another() -> None:
    exported = export(Call(on_lists), (taeda.ones(3), taeda.ones(3))).run_decompositions()
    (node,) = exported.graph.find_nodes(op="call_function", target=auto)
    assert node.args == (taeda.ops.written.spread.default,)
    names = ["y", "k", "_out_base_index", "_xs_length", "_xs_0_base_index", "_xs_1_base_index", "_all_bases"]
    assert list(node.kwargs) == names and len(node.meta["val"]) == 1 + len(node.kwargs["_all_bases"])
    assert pickle.loads(pickle.dumps(auto)) is auto


def test_parts_of_a_base() -> None:
    x, y = taeda.zeros(4), taeda.full((2,), 3.0)
    op = taeda.ops.written.both.default
    *results, new = auto(op, b=y, _a_base_index=0, _a_slice_dim=0, _a_slice_start=1, _a_slice_end=3, _all_bases=[x])
    assert new.tolist() == [0, 3, 3, 0] and x.tolist() == [0] * 4 and [r.tolist() for r in results] == [[4, 4], [5, 5]]
    *_, new = auto(op, b=y, _a_base_index=0, _a_size=[2], _a_stride=[2], _a_storage_offset=1, _all_bases=[x])
    assert new.tolist() == [0, 3, 0, 3]
    older = taeda.ops.higher_order.auto_functionalized(op, a=taeda.ones(2), b=y)
    assert [r.tolist() for r in older] == [[4, 4], [5, 5], [4, 4]]


def test_programs_in_parts() -> None:
    program = export(Call(on_a_copy), (taeda.ones(3), taeda.ones(3))).run_decompositions()
    next(n for n in program.graph.nodes if n.target is auto).meta["custom"] = {"tag": "mine"}
    parts = ExportedProgramSerializer().serialize(program)
    nodes = parts.exported_program.graph_module.graph.nodes
    (node,) = [n for n in nodes if n.target.endswith("auto_functionalized_v2")]
    first, *_, last = node.inputs
    assert first.arg.type == "as_operator" and first.arg.value == "torch.ops.written.scale_.default"
    assert last.name == "_all_bases" and [t.name for t in last.arg.as_tensors] == ["clone"]
    with pytest.raises(AttributeError, match="as_operator"):
        _ = first.arg.as_int
    assert "clone" in parts.exported_program.graph_module.graph.tensor_values
    read = ExportedProgramDeserializer().deserialize(
        parts.exported_program, parts.state_dict, program.constants, parts.example_inputs
    )
    assert next(n for n in read.graph.nodes if n.target is auto).meta["custom"] == {"tag": "mine"}
    assert read.module()(taeda.ones(3), taeda.full((3,), 2.0)).tolist() == [2, 2, 2]
    parts.exported_program.schema_version.major = -1
    with pytest.raises(SerializeError, match="version -1"):
        ExportedProgramDeserializer().deserialize(parts.exported_program, parts.state_dict, parts.constants)


class Assigned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("k", taeda.ones(2))
        self.register_buffer("n", taeda.zeros(2), persistent=False)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        self.k = self.k * 2
        self.n.detach().add_(1)
        return x + self.k + self.n


def test_buffers_that_are_assigned_or_written_through_detach_keep_what_they_got() -> None:
    program = export(Assigned(), (taeda.ones(2),)).run_decompositions()
    assert sorted(program.graph_signature.buffers_to_mutate.values()) == ["k", "n"]
    module, eager = program.module(), Assigned()
    for _ in range(3):
        assert module(taeda.ones(2)).tolist() == eager(taeda.ones(2)).tolist()
