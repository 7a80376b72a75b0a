"""Nested containers: taking apart, putting together, mapping, paths."""

import dataclasses
import enum
import json
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import taeda
from taeda.utils import _pytree as pytree
from taeda.utils._pytree import GetAttrKey, LeafSpec, MappingKey, SequenceKey, TreeSpec

Point = namedtuple("Point", ["x", "y"])
TREES = [
    (3, [3]),
    (None, [None]),
    ([], []),
    ([1, [2, (3,)]], [1, 2, 3]),
    ({"b": 1, "a": [2]}, [1, 2]),
    (OrderedDict(z=1, a=2), [1, 2]),
    (defaultdict(list, {"k": [1, 2]}), [1, 2]),
    (deque([1, 2], maxlen=3), [1, 2]),
    (Point(1, [2]), [1, 2]),
    ({"a": (1, None), 3: Point([], 2)}, [1, None, 2]),
]


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


pytree.register_pytree_node(
    Pair,
    lambda p: ([p.a, p.b], "context"),
    lambda children, context: Pair(*children),
    flatten_with_keys_fn=lambda p: ([(GetAttrKey("a"), p.a), (GetAttrKey("b"), p.b)], "context"),
)


@pytest.mark.parametrize(("tree", "leaves"), TREES, ids=lambda x: str(x)[:20])
def test_there_and_back(tree, leaves):
    found, spec = pytree.tree_flatten(tree)
    assert found == leaves == pytree.tree_leaves(tree) == list(pytree.tree_iter(tree))
    back = pytree.tree_unflatten(found, spec)
    assert back == tree and type(back) is type(tree) and spec == pytree.tree_structure(back)
    assert spec.num_leaves == len(leaves) and spec.is_leaf() == pytree.tree_is_leaf(tree)
    assert getattr(back, "maxlen", 0) == getattr(tree, "maxlen", 0)
    for path, leaf in pytree.tree_leaves_with_path(tree):
        assert pytree.key_get(tree, path) == leaf


@pytest.mark.torch
@pytest.mark.parametrize(("tree", "leaves"), TREES, ids=lambda x: str(x)[:20])
def test_as_torch(tree, leaves):
    torch_pytree = pytest.importorskip("torch.utils._pytree")
    ours, theirs = (
        [m.tree_leaves(tree), m.tree_structure(tree).num_nodes, [m.keystr(k) for k, _ in m.tree_leaves_with_path(tree)]]
        for m in (pytree, torch_pytree)
    )
    assert ours == theirs


def test_mapping():
    assert pytree.tree_map(lambda a, b: (a, b), {"a": [1, 2]}, {"a": ["x", (3,)]}) == {"a": [(1, "x"), (2, (3,))]}
    assert pytree.tree_map(lambda a, b: a - b, {"a": 1, "b": 2}, {"b": 5, "a": 3}) == {"a": -2, "b": -3}
    assert pytree.tree_map_only(int, lambda x: -x, [1, "a", 2.0]) == [-1, "a", 2.0]
    assert pytree.tree_map_only((int, float), lambda x: -x, [1, "a", 2.0]) == [-1, "a", -2.0]
    assert pytree.tree_map_only(int | str, lambda x: x * 2, [1, "a", 2.0]) == [2, "aa", 2.0]
    assert pytree.tree_map_only(lambda x: x == 2.0, lambda x: "two", [1, 2.0]) == [1, "two"]
    seen, tree = [], [1, [2]]
    assert pytree.tree_map_(seen.append, tree) is tree and seen == [1, 2]
    assert pytree.tree_map_only_(int, seen.append, tree) is tree and seen == [1, 2, 1, 2]
    assert pytree.tree_map(len, [[1, 2], [3]], is_leaf=lambda x: x and not isinstance(x[0], list)) == [2, 1]
    assert pytree.tree_map_with_path(lambda p, x: pytree.keystr(p) + str(x), {"a": [7]}) == {"a": ["['a'][0]7"]}


def test_questions():
    assert pytree.tree_all(bool, [1, [2]]) and not pytree.tree_all(bool, [1, [0]])
    assert pytree.tree_any(bool, [0, [2]]) and not pytree.tree_any(bool, [])
    assert pytree.tree_all_only(int, lambda x: x > 0, [1, "a"]) and pytree.tree_any_only(str, len, [0, "a"])
    assert pytree.is_namedtuple(Point) and pytree.is_namedtuple(Point(1, 2)) and not pytree.is_namedtuple((1, 2))
    assert pytree.is_namedtuple_class(Point) and not pytree.is_namedtuple_instance(Point)


def test_kinds_of_containers():
    """By them programs take trees apart themselves."""
    for tree, kind in ((Point(1, 2), namedtuple), ([1], list), (defaultdict(int), defaultdict), (3, int)):
        assert pytree._get_node_type(tree) is kind and (kind in pytree.SUPPORTED_NODES) == (kind is not int)
    children, context = pytree.SUPPORTED_NODES[namedtuple].flatten_fn(Point(1, 2))
    spec = TreeSpec(namedtuple, context, [LeafSpec(), LeafSpec()])
    assert children == [1, 2] and spec == pytree.tree_structure(Point(1, 2)) and spec.unflatten([3, 4]) == Point(3, 4)


def test_named_results():
    result = taeda.tensor([[1.0, 4.0], [3.0, 2.0]]).max(0)
    (values, indices), spec = pytree.tree_flatten(result)
    assert values is result.values and indices is result.indices and spec.type is type(result)
    assert pytree.tree_map(lambda x: x + 1, result).indices.tolist() == [2, 1]


def test_classes_of_ones_own():
    leaves, spec = pytree.tree_flatten([Pair(1, [2])])
    back = spec.unflatten([5, 6])
    assert leaves == [1, 2] and isinstance(back[0], Pair) and (back[0].a, back[0].b) == (5, [6])
    assert [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path([Pair(1, [2])])] == ["[0].a", "[0].b[0]"]
    with pytest.raises(ValueError, match="already"):
        pytree.register_pytree_node(Pair, None, None)


def test_descriptions():
    spec = pytree.tree_structure({"a": [1, 2]})
    assert repr(spec) == "TreeSpec(dict, ['a'], [TreeSpec(list, None, [*,\n    *])])"
    assert spec == TreeSpec(dict, ["a"], [TreeSpec(list, None, [LeafSpec(), LeafSpec()])])
    assert hash(spec) == hash(pytree.tree_structure({"a": [3, 4]})) and spec != pytree.tree_structure({"a": (1, 2)})
    assert spec.child(0).num_children == 2 and spec.children()[0].type is list
    assert str(SequenceKey(1)) + str(MappingKey("k")) + str(GetAttrKey("n")) == "[1]['k'].n"


def test_prefixes():
    spec = pytree.tree_structure([1, (2, {"a": 3})])
    assert pytree.broadcast_prefix(0, spec) == [0, 0, 0] and pytree.broadcast_prefix([None, 1], spec) == [None, 1, 1]
    assert pytree.broadcast_prefix([0, (1, {"a": 2})], spec) == [0, 1, 2]
    for other in ([0], (0, 1), [0, (1, {"b": 2})], [(0,), 1]):
        assert pytree.broadcast_prefix(other, spec) is None


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Record:
    x: object
    y: object = None
    label: str = ""


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str


def test_dataclasses_and_constants():
    pytree.register_dataclass(Record, drop_field_names=["label"])
    leaves, spec = pytree.tree_flatten(Record([1, 2], label="dropped"))
    assert leaves == [1, 2] and spec.unflatten([3, 4]) == Record([3, 4])
    assert [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(Record(1, 2))] == [".x", ".y"]
    pytree.register_constant(Mode)
    leaves, spec = pytree.tree_flatten([Mode("a"), 1])
    assert leaves == [1] and spec.unflatten([2]) == [Mode("a"), 2] and pytree.is_constant_class(Mode)
    assert spec != pytree.tree_structure([Mode("b"), 1])
    pytree.register_constant(Color)
    assert pytree.tree_leaves([Color.RED, 2]) == [2]
    pytree._deregister_pytree_node(Record)
    assert pytree.tree_leaves(Record(1)) == [Record(1)]
    with pytest.raises(ValueError, match=r"\['label', 'x', 'y'\]"):
        pytree.register_dataclass(Record, field_names=["x"])
    with pytest.raises(ValueError, match="no dataclass"):
        pytree.register_dataclass(Color)
    with pytest.raises(TypeError, match="__eq__"):
        pytree.register_constant(type("Same", (), {}))


def test_classes_register_the_ways_of_dicts():
    class Output(dict):
        pass

    pytree.register_pytree_node(
        Output, pytree._dict_flatten, lambda values, context: Output(pytree._dict_unflatten(values, context)),
        flatten_with_keys_fn=pytree._dict_flatten_with_keys, serialized_type_name="tests.Output",
    )  # fmt: skip
    doubled = pytree.tree_map(lambda x: 2 * x, Output(b=1, a=2))
    assert type(doubled) is Output and doubled == {"b": 2, "a": 4}
    paths = [path for path, _ in pytree.tree_leaves_with_path(doubled)]
    assert paths == [(pytree.MappingKey("b"),), (pytree.MappingKey("a"),)]


def test_old_names_of_registering():
    kind = type("Old", (), {})
    with pytest.warns(FutureWarning, match="register_pytree_node"):
        pytree._register_pytree_node(kind, lambda x: ([], None), lambda values, _: kind())
    pytree._private_register_pytree_node(kind, None, None)  # is registered already
    assert pytree.tree_leaves(kind()) == []
    with pytest.raises(ValueError, match="go together"):
        pytree.register_pytree_node(type("New", (), {}), None, None, to_dumpable_context=str)


def test_texts():
    spec = TreeSpec(dict, Color.RED, [LeafSpec()])
    said = json.loads(json.loads(pytree.treespec_dumps(spec))[1]["context"])
    assert said == {"__enum__": True, "fqn": f"{__name__}:Color", "name": "RED"}
    with pytest.raises(TypeError, match="TreeSpec"):
        pytree.treespec_dumps("a text")
    assert pytree.treespec_pprint(pytree.tree_structure({"a": [1, 2]})) == "{'a': [*, *]}"


def test_errors():
    spec = pytree.tree_structure([1, {"a": 2}])
    with pytest.raises(ValueError, match="2 leaves"):
        spec.unflatten([1])
    with pytest.raises(TypeError, match="TreeSpec"):
        pytree.tree_unflatten([1], None)
    for other in ([1], [1, {"b": 2}], (1, {"a": 2}), [1, 2]):
        with pytest.raises(ValueError, match="_pytree"):
            pytree.tree_map(max, [1, {"a": 2}], other)
    with pytest.raises(TypeError, match="type"):
        pytree.tree_map_only(3, len, [])
