"""Files of exported programs: read again, read by PyTorch, and PyTorch's read here."""

from __future__ import annotations

import collections
import dataclasses
import io
import json
import zipfile

import pytest
from export.programs import modules

import taeda
from taeda import export, nn
from taeda.export import Dim
from taeda.utils import _pytree as pytree

try:
    import torch
except ImportError:
    torch = None

MODULES = modules(taeda)
needs_torch = pytest.mark.skipif(torch is None, reason="needs torch==2.13")


def plain(value, library):
    """Tensors as nested lists, so that results of two libraries compare."""
    if isinstance(value, library.Tensor):
        return [str(value.dtype), list(value.shape), value.detach().reshape(-1).tolist()]
    return value


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (float, complex)) and isinstance(b, (float, complex)):
        return a == pytest.approx(b, abs=1e-5, rel=1e-4, nan_ok=True)
    return a == b


def results(run, example, library):
    leaves = pytree.tree_leaves if library is taeda else library.utils._pytree.tree_leaves
    return [plain(leaf, library) for leaf in leaves(run(*example))]


def saved(library, program, **options):
    stream = io.BytesIO()
    library.export.save(program, stream, **options)
    stream.seek(0)
    return stream


def given_to(example, library):
    """The tensors of one library as those of another."""
    if isinstance(example, (tuple, list)):
        return type(example)(given_to(item, library) for item in example)
    if isinstance(example, dict):
        return {key: given_to(item, library) for key, item in example.items()}
    return library.tensor(example.tolist()) if hasattr(example, "tolist") else example


@pytest.mark.parametrize("name", MODULES)
def test_programs_are_read_again(name):
    module, example = MODULES[name]()
    program = export.export(module, example)
    loaded = export.load(saved(taeda, program))
    assert str(loaded.graph_signature) == str(program.graph_signature)
    assert list(map(str, loaded.graph.nodes)) == list(map(str, program.graph.nodes))
    assert all("val" in n.meta for n in loaded.graph.nodes if n.op in ("placeholder", "call_function"))
    twin = export.load(saved(taeda, loaded)).module()
    functional = loaded.run_decompositions().module()
    expected = results(export.export(module, example).module(), example, taeda)
    for run in (twin, functional):
        assert same(results(run, example, taeda), expected)


@pytest.mark.torch
@needs_torch
@pytest.mark.parametrize("name", MODULES)
def test_pytorch_reads_programs(name):
    module, example = MODULES[name]()
    program = export.export(module, example)
    theirs = torch.export.load(saved(taeda, program))
    expected = results(program.module(), example, taeda)
    assert same(results(theirs.module(), given_to(example, torch), torch), expected)
    again = export.load(saved(torch, theirs))
    assert str(again.graph_signature) == str(program.graph_signature)


@pytest.mark.torch
@needs_torch
@pytest.mark.parametrize("name", MODULES)
def test_programs_of_pytorch_run_here(name):
    module, example = modules(torch)[name]()
    theirs = torch.export.export(module, example)
    ours = export.load(saved(torch, theirs))
    mine = given_to(example, taeda)
    expected = results(theirs.module(), example, torch)
    for run in (ours.run_decompositions().module(), ours.module()):
        assert same(results(run, mine, taeda), expected)


class Sizes(nn.Module):
    def forward(self, x, more, *, n=None):
        taeda._check(x.shape[0] > more["y"].shape[1])
        return x.reshape(-1), more["y"].t(), x.shape[0] // 2 + more["y"].shape[1], x.sum(1)


def sized():
    batch = Dim("batch", min=2, max=100)
    shapes = {"x": {0: batch}, "more": {"y": {0: 2 * batch + 1, 1: Dim("k", min=1, max=6)}}, "n": None}
    example = taeda.randn(7, 3), {"y": taeda.randn(15, 5)}
    return export.export(Sizes(), example, {"n": None}, dynamic_shapes=shapes), example


def test_sizes_that_vary(tmp_path):
    program, _ = sized()
    export.save(program, tmp_path / "a.pt2", extra_files={"note": "kept"})
    extra = {"note": ""}
    loaded = export.load(tmp_path / "a.pt2", extra_files=extra)
    assert extra == {"note": "kept"}
    assert loaded.range_constraints == program.range_constraints and loaded.sizes == program.sizes
    assert [g.expression for g in loaded.guards] == [g.expression for g in program.guards]
    run = loaded.module()
    x, y = taeda.randn(4, 3), taeda.randn(9, 2)
    assert same(results(lambda: run(x, {"y": y}, n=None), (), taeda), results(lambda: Sizes()(x, {"y": y}), (), taeda))
    for wrong in ((x, {"y": taeda.randn(9, 6)}), (x, {"y": taeda.randn(8, 2)}), (x[:1], {"y": taeda.randn(3, 1)})):
        with pytest.raises(AssertionError, match="Guard failed"):
            run(*wrong, n=None)


@pytest.mark.torch
@needs_torch
def test_sizes_that_vary_in_pytorch():
    program, example = sized()
    theirs = torch.export.load(saved(taeda, program))
    run = theirs.module()
    x, y = torch.randn(4, 3), torch.randn(9, 2)
    assert run(x, {"y": y}, n=None)[2] == 4
    assert list(map(str, theirs.range_constraints.values())) == ["VR[2, 100]", "VR[1, 6]"]
    with pytest.raises((AssertionError, RuntimeError)):
        run(x[:1], {"y": torch.randn(3, 1)}, n=None)
    again = export.load(saved(torch, theirs))
    other = taeda.randn(4, 3), {"y": taeda.randn(9, 2)}
    assert again.module()(*other, n=None)[2] == 4


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Held:
    p: taeda.Tensor
    q: taeda.Tensor | None = None


export.register_dataclass(Held, serialized_type_name="test_files.Held")


class Nested(nn.Module):
    def forward(self, x, pair):
        return collections.OrderedDict(a=Held(x + pair.a), b=[Pair(x, pair.b)])


def test_containers_of_arguments_and_results():
    program = export.export(Nested(), (taeda.ones(2), Pair(taeda.ones(2), 3)))
    out = export.load(saved(taeda, program)).module()(taeda.ones(2), Pair(taeda.ones(2), 3))
    assert isinstance(out["a"], Held) and out["a"].p.tolist() == [2, 2] and out["b"][0].b == 3


def changed(stream, change):
    """The archive with another description of the program."""
    out = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("models/model.json"):
                described = json.loads(data)
                change(described)
                data = json.dumps(described).encode()
            new.writestr(name, data)
    out.seek(0)
    return out


def node(described, **changes):
    described["graph_module"]["graph"]["nodes"][0].update(changes)


CODE = "x=print('run'), y"


def renamed(described, old, new):
    described |= json.loads(json.dumps(described).replace(f'"{old}"', json.dumps(new)))


def given(described, name, arg=None):
    described["graph_module"]["graph"]["nodes"][0]["inputs"].append(
        {"name": name, "arg": arg or {"as_int": 1}, "kind": 2}
    )


def inner(described, change, name="inner"):
    graph = json.loads(json.dumps(described["graph_module"]["graph"]))
    change(graph)
    node(described, target="torch.ops.higher_order.cond")
    given(described, "graph", {"as_graph": {"name": name, "graph": graph}})


def call(described):
    return described["graph_module"]["module_call_graph"][0]["signature"]


def tensor(described):
    return described["graph_module"]["graph"]["tensor_values"]["x"]


def size(described, text, hint):
    tensor(described)["sizes"][0] = {"as_expr": {"expr_str": text, "hint": None if hint is None else {"as_int": hint}}}


DAMAGE = {
    "no op": (lambda d: node(d, target="torch.ops.aten.nothing.default"), "no op"),
    "no function": (lambda d: node(d, target="os.system"), "no function of graphs"),
    "a function that makes functions": (lambda d: node(d, target="_operator.attrgetter"), "no function of graphs"),
    "a class": (lambda d: node(d, target="torch.ops.higher_order.__class__"), "no function of graphs"),
    "code for an argument's name": (lambda d: renamed(d, "x", CODE), "no name of a value"),
    "code for a name in an inner graph": (lambda d: inner(d, lambda g: renamed(g, "x", CODE)), "no name of a value"),
    "code for a graph's name": (lambda d: inner(d, lambda g: None, CODE), "no name of a value"),
    "code for a keyword": (lambda d: given(d, CODE), "takes no .x=print"),
    "code for a keyword of a function": (
        lambda d: (node(d, target="_operator.neg"), given(d, CODE)),
        "no name of a value",
    ),
    "code for a parameter": (lambda d: call(d)["forward_arg_names"].__setitem__(0, CODE), "no name of a value"),
    "an argument twice": (lambda d: given(d, "self"), "has it already"),
    "a size that is no number": (lambda d: size(d, "Symbol('s0')", [1]), "no number"),
    "a size beyond 64 bits": (lambda d: tensor(d)["sizes"].__setitem__(0, {"as_int": 1 << 80}), "no exported program"),
    "a sum of nothing": (lambda d: size(d, "Add()", None), "no expression"),
    "a deep expression": (lambda d: size(d, "*1+".join(["Symbol('s0')"] * 3000), None), "RecursionError|no expression"),
    "no results": (lambda d: d["graph_module"]["signature"].update(output_specs=[]), "0 outputs"),
    "results twice": (lambda d: d["graph_module"]["graph"].update(outputs=[{"as_int": 1}] * 2), "1 outputs"),
    "no such buffer": (
        lambda d: (
            d["graph_module"]["signature"]["output_specs"].append(
                {"buffer_mutation": {"arg": {"name": "sin"}, "buffer_name": "lost"}}
            )
            or d["graph_module"]["graph"]["outputs"].append({"as_tensor": {"name": "sin"}})
        ),
        "no tensor 'lost'",
    ),
    "arguments that are no tuple": (lambda d: call(d).update(in_spec=call(d)["out_spec"]), "no tuple and dict"),
    "keys without values": (
        lambda d: call(d).update(out_spec='[1, {"type": "builtins.dict", "context": "[1]", "children_spec": []}]'),
        "no exported program",
    ),
    "a private function": (lambda d: node(d, target="_operator.__import__"), "no function of graphs"),
    "a version": (lambda d: d["schema_version"].update(major=99), "version 99"),
    "a name": (lambda d: node(d, inputs=[{"name": "self", "arg": {"as_tensor": {"name": "?"}}}]), "before it is"),
    "an argument": (lambda d: node(d, inputs=[{"name": "self", "arg": {"as_code": 1}}]), "kind of argument"),
    "no graph": (lambda d: d.pop("graph_module"), "no exported program"),
    "an expression": (
        lambda d: d["graph_module"]["graph"]["tensor_values"]["x"]["sizes"].__setitem__(
            0, {"as_expr": {"expr_str": "__import__('os').system('true')", "hint": None}}
        ),
        "no expression",
    ),
}


class Plain(nn.Module):
    def forward(self, x):
        return x.sin()


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_files_are_refused(kind):
    change, words = DAMAGE[kind]
    stream = saved(taeda, export.export(Plain(), (taeda.ones(2),)))
    with pytest.raises(RuntimeError, match=words):
        export.load(changed(stream, change))
    with pytest.raises(RuntimeError, match="no exported program"):
        export.load(io.BytesIO(b"no archive"))


def test_conditions_of_files_are_checked_within_bounds():
    stream = saved(taeda, export.export(Plain(), (taeda.ones(2),)))
    texts = ["max(L['x'].size()[0])", "L['x'].size()[7] > 1", "L['x'].size()[0] % 0 == 0", "9 ** 9 ** 9 ** 9 ** 9 > 1"]
    loaded = export.load(changed(stream, lambda d: d.update(guards_code=texts)))
    assert [guard.text for guard in loaded.guards] == texts[2:]
    with pytest.raises(AssertionError, match="Guard failed"):
        loaded.module()(taeda.ones(2))


def test_powers_far_beyond_sizes_are_not_computed():
    stream = saved(taeda, export.export(Plain(), (taeda.ones(2),)))
    text = "PowByNatural(Integer(9), PowByNatural(Integer(9), Mul(Integer(9), Symbol('s0'))))"
    loaded = export.load(changed(stream, lambda d: size(d, text, None)))
    assert loaded.module()(taeda.ones(1)).shape == (1,)


def test_a_tensor_beyond_its_bytes_is_refused():
    stream = saved(taeda, export.export(nn.Linear(2, 2), (taeda.ones(2),)))
    out = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'{"as_int": 2}', b'{"as_int": 9}'))
    out.seek(0)
    with pytest.raises(RuntimeError, match="beyond its bytes"):
        export.load(out)
