"""Schemas of built-in ops beside PyTorch's of the same name: overloads, arguments, types and what must be given."""

import collections
import enum
import pathlib
import re

import pytest

import taeda

# Of ops that exist in both, what we have besides.
OUR_OVERLOADS = {
    "aten::where.ScalarOther_out", "aten::where.ScalarSelf_out", "aten::where.Scalar_out", "aten::pow_.Tensor_Tensor",
    "aten::pow_.Tensor_Scalar", "aten::multiply.Scalar_out", "aten::divide.Scalar_out", "aten::true_divide.Scalar_out",
    "aten::subtract.Scalar_out", "aten::divide.Scalar_mode_out",
}  # fmt: skip
# With out= the dtype may be told a second time.
OPTIONS = {"dtype", "layout", "device", "pin_memory"}
OTHERWISE = {"aten::to.prim_Device"}  # a memory_format besides


def theirs():
    torch = pytest.importorskip("torch")
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        found.setdefault(schema.name, {})[schema.overload_name] = schema
    return found


def facts(schema):
    return [(a.name, a.kwarg_only, a.has_default_value()) for a in schema.arguments]


@pytest.mark.torch
def test_schemas_agree_with_torch():
    known, wrong = theirs(), []
    for name in taeda._C._all_op_names():
        base, _, overload = name.partition(".")
        if base not in known or not base.startswith("aten::"):
            continue
        if overload not in known[base]:
            if name not in OUR_OVERLOADS:
                wrong.append(f"{name}: there are {sorted(known[base])}")
            continue
        mine = facts(taeda._C._find_op(base, overload)._schema)
        wanted = facts(known[base][overload])
        names = {fact[0] for fact in wanted}
        if "out" in names:
            mine = [fact for fact in mine if fact[0] in names or fact[0] not in OPTIONS]
        if mine != wanted and name not in OTHERWISE:
            wrong.append(f"{name}: {mine}, wanted {wanted}")
    assert not wrong, "\n".join(wrong)


def types(schema):
    given = schema.arguments + schema.returns
    return [(a.type.kind(), str(a.type), a.type.str(), a.real_type.kind(), str(a.real_type), a.N) for a in given]


@pytest.mark.torch
def test_types_agree_with_torch():
    known = theirs()
    pairs = [(name, known.get(base, {}).get(overload), taeda._C._find_op(base, overload)._schema)
             for name in taeda._C._all_op_names() for base, _, overload in [name.partition(".")]]  # fmt: skip
    same = [(name, theirs, ours) for name, theirs, ours in pairs if theirs and facts(theirs) == facts(ours)]
    wrong = {name for name, theirs, ours in same if types(theirs) != types(ours)}
    assert len(same) > 1500 and wrong == {"aten::slice_backward"}  # whose end may be left out


T, INT, NONE = taeda.TensorType.get(), taeda.IntType.get(), taeda.NoneType.get()


@pytest.mark.parametrize("made, annotation, spelling, parts", [
    (taeda.ListType(INT), "List[int]", "int[]", [INT]),
    (taeda.OptionalType(taeda.ListType(INT)), "Optional[List[int]]", "int[]?", [taeda.ListType.ofInts()]),
    (taeda.ListType(taeda.OptionalType.ofTensor()), "List[Optional[Tensor]]", "Tensor?[]", [taeda.OptionalType(T)]),
    (taeda.DictType(taeda.StringType.get(), T), "Dict[str, Tensor]", "Dict(str, Tensor)", [taeda.StringType.get(), T]),
    (taeda.TupleType([INT, T]), "Tuple[int, Tensor]", "(int, Tensor)", [INT, T]),
    (taeda.UnionType([INT, T]), "Union[Tensor, int]", "Union(Tensor, int)", [T, INT]),
    (taeda.FutureType(T), "Future[Tensor]", "Future[Tensor]", [T]),
])  # fmt: skip
def test_types_made_of_others(made, annotation, spelling, parts):
    assert (str(made), made.annotation_str, made.str(), made.containedTypes()) == (
        annotation, annotation, spelling, parts,
    )  # fmt: skip
    assert made.kind() == type(made).__name__ and made != T and made.isSubtypeOf(taeda.AnyType.get())


def test_subtypes():
    number, option = taeda.NumberType.get(), taeda.OptionalType(taeda.NumberType.get())
    assert INT.isSubtypeOf(number) and not taeda.BoolType.get().isSubtypeOf(number) and not number.isSubtypeOf(INT)
    assert NONE.isSubtypeOf(option) and INT.isSubtypeOf(option) and taeda.OptionalType(INT).isSubtypeOf(option)
    assert not option.isSubtypeOf(number) and not taeda.ListType(INT).isSubtypeOf(taeda.ListType(number))
    assert taeda.TupleType([INT]).isSubtypeOf(taeda.TupleType([number]))
    assert taeda.UnionType([INT, T]).isSubtypeOf(taeda.UnionType([T, number, NONE]))
    with pytest.raises(TypeError, match=r"TensorType\.get"):
        taeda.TensorType()


@pytest.mark.torch
def test_what_draws_random_numbers_is_tagged_as_in_torch():
    torch, wrong = pytest.importorskip("torch"), []
    for name in taeda._C._all_op_names():
        base, _, overload = name.partition(".")
        theirs = getattr(getattr(torch.ops.aten, base.removeprefix("aten::"), None), overload or "default", None)
        mine = taeda._C._find_op(base, overload)
        if theirs is None:
            continue
        draws = torch.Tag.nondeterministic_seeded in theirs.tags
        if not base.endswith("dropout_") and draws != (taeda.Tag.nondeterministic_seeded in mine.tags):
            wrong.append(name)
    assert not wrong


@pytest.mark.torch
def test_positional_alpha_of_numbers():
    x = taeda.ones(2)
    assert taeda.add(x, 2, 3).tolist() == [7, 7] and x.sub(2, 3).tolist() == [-5, -5]
    with pytest.raises(TypeError):
        taeda.add(x, x, 3)


SCHEMAS = [
    'ns::f.ov(Tensor(a!) self, int[2] x=1, *, str sep=",", str s2="a\\"b") -> Tensor(a!)',
    "f(int[][] x, Dict(str, Tensor) d, (int, Tensor) t, (int, Tensor)[] l) -> (Tensor a, (int, int) b)",
    "f(Any y, t z, tVal[] w, RRef(int)? r) -> t",
    "f(Union(int, str) x, Dict(int, str)?[] y) -> ()",
    "f(Tensor(*) y, Tensor(a -> *) z, Tensor(a!)[] w, Tensor[](b!) v, Tensor(c!)? u) -> Tensor(a)",
    "f(__torch__.torch.classes.quantized.Conv2dPackedParamsBase x) -> ()",
    "f(...) -> ...",
    "f(int x, ...) -> (int, ...)",
    "f(str s=\"a\\nb\", str t='it\\'s', str? u=None, str v='[(,)]') -> ()",
    "f(ScalarType? dtype=None, Layout l=strided, MemoryFormat m=contiguous_format, Generator? g=None) -> ()",
    "f(float x=1, float y=-2.5e-3, int[3] w=[1, 2, -3], bool[3] b=True, complex c=1j, float[] z=[1, 2.5]) -> ()",
    "f(SymBool d, DeviceIndex e, None g, int reduction=Mean, Scalar a=1.5, float? b=None, SymInt[2] c=1) -> ()",
    "f(() a, (int) b, Tensor?[]? c, Tensor?? d, QScheme e, Stream g, Storage h, AnyEnumType i) -> (Tensor)",
]  # fmt: skip


def all_facts(schema):
    def of(a):
        alias = a.alias_info
        marks = alias and (alias.is_write, alias.before_set, alias.after_set)
        default = str(a.default_value) if a.type.kind() in ("IntType", "DeviceObjType") else a.default_value
        known = not any(name in str(a.real_type) for name in ("ScalarType", "Layout", "MemoryFormat"))
        return (a.name, a.type.kind(), str(a.type), a.type.str(), str(a.real_type), a.N, a.kwarg_only, marks,
                a.has_default_value(), default if known else None)  # fmt: skip

    parts = [of(a) for a in schema.arguments], [of(a) for a in schema.returns]
    return schema.name, schema.overload_name, *parts, schema.is_mutable


@pytest.mark.torch
@pytest.mark.parametrize("text", SCHEMAS)
def test_the_grammar_is_torchs(text):
    torch = pytest.importorskip("torch")
    ours = taeda._C.parse_schema(text)
    assert all_facts(ours) == all_facts(torch._C.parse_schema(text))
    assert all_facts(taeda._C.parse_schema(str(ours))) == all_facts(ours)


@pytest.mark.torch
def test_every_schema_of_torch_is_read_alike():
    torch, wrong = pytest.importorskip("torch"), []
    for theirs in torch._C._jit_get_all_schemas():
        text = str(theirs)
        if len({a.name for a in theirs.arguments}) < len(theirs.arguments) or "Enum<" in text:
            continue
        ours = taeda._C.parse_schema(text)
        try:
            again = torch._C.parse_schema(text)  # its own text: what it prints of defaults differs from what it read
        except RuntimeError:  # a type of its own that it cannot read, where its distributed tensors were loaded
            assert "PyObject" in text
            continue
        if all_facts(ours)[2:] != all_facts(again)[2:]:
            wrong.append(text)
    assert wrong == []


@pytest.mark.parametrize("text, wanted", [
    ("f(int x=1.5) -> ()", "a default of type int"), ("f(str x=a) -> ()", "a text in quotes"),
    ("f(str x='a) -> ()", "the quote '"), ("f(Tens x) -> ()", "'Tens' is none"), ("f(int x) -> int, int", "the end"),
    ("f(int x, int x) -> ()", "another parameter name"), ("f(..., int y) -> ()", "'...' stands last"),
    ("f(int[] x=3) -> ()", "a size in the type"), ("f(Dict(str) x) -> ()", "2 types"), ("f(int x", "'\\)'"),
])  # fmt: skip
def test_malformed_schemas_say_where(text, wanted):
    with pytest.raises(RuntimeError, match=wanted):
        taeda._C.parse_schema(text)


def test_the_build_reads_schemas_as_the_core_does():
    """taedagen's parser against the core's, on every declared schema."""
    from taedagen.opdef.schema import parse_schema

    count = 0
    for name in taeda._C._all_op_names():
        base, _, overload = name.partition(".")
        op = taeda._C._find_op(base, overload)
        if base.partition("::")[0] not in ("aten", "quantized"):
            continue  # defined by a module or a test while it runs
        built, schema = parse_schema(op._schema_text.partition("::")[2]), op._schema
        assert (base.partition("::")[2], overload) == (built.name, built.overload) and str(schema) == op._schema_text
        for ours, theirs in [*zip(built.arguments, schema.arguments, strict=True),
                             *zip(built.returns, schema.returns, strict=True)]:  # fmt: skip
            spelled = ours.type.base + "?" * ours.type.optional_elements + "[]" * ours.type.is_list
            spelled += "?" * ours.type.optional
            alias = f"({ours.type.alias})" if ours.type.alias else "None"
            assert (ours.name, spelled, ours.type.list_size, alias) == (
                theirs.name, theirs.real_type.str(), theirs.N or 0, str(theirs.alias_info),
            ), op._schema_text  # fmt: skip
        for ours, theirs in zip(built.arguments, schema.arguments, strict=True):
            assert (ours.keyword_only, ours.default is not None) == (theirs.kwarg_only, theirs.has_default_value())
            if ours.default is not None and ours.default[0] in "-0123456789[\"'NTF":
                wanted = __import__("ast").literal_eval(ours.default)
                is_spread = isinstance(theirs.default_value, list) and not isinstance(wanted, list)
                assert theirs.default_value == ([wanted] * theirs.N if is_spread else wanted), op._schema_text
        count += 1
    assert count > 2000


@pytest.mark.torch
def test_subtypes_and_unions_are_torchs():
    torch = pytest.importorskip("torch")
    spelled = ["int", "Tensor", "str", "float", "Any", "Scalar", "NoneType", "complex", "bool", "SymInt", "int[]",
               "int?", "Scalar?", "int?[]", "(int, int)", "(int?, Any)", "Dict(str, int)", "Future(int)", "Future(Any)",
               "Any[]", "RRef(int)", "Union(int, str)", "Union(int, str, NoneType)", "Device", "Generator"]  # fmt: skip
    theirs = [torch._C.parse_schema(f"f({t} x) -> ()").arguments[0].real_type for t in spelled]
    ours = [taeda._C.parse_schema(f"f({t} x) -> ()").arguments[0].real_type for t in spelled]
    from torch._C import UnionType as Theirs

    for a, x in zip(theirs, ours, strict=True):
        for b, y in zip(theirs, ours, strict=True):
            if "SymInt" in (x.str(), y.str()):
                continue
            assert x.isSubtypeOf(y) == a.isSubtypeOf(b), (x, y)
            assert (x == y) == (a == b)
            if (
                not any(name in f"{x} {y}" for name in ("Any", "number"))
                and not x.isSubtypeOf(y)
                and not y.isSubtypeOf(x)
            ):
                assert str(taeda.UnionType([x, y])) == str(Theirs([a, b])), (x, y)


@pytest.mark.torch
def test_unification_is_torchs():
    torch = pytest.importorskip("torch")
    for texts in (["int", "NoneType"], ["int", "int"], ["(int, NoneType)", "(int, int)"], ["int?", "int"],
                  ["int", "Scalar"], ["Tensor", "NoneType"], ["int[]", "float[]"], ["int?", "float?"]):  # fmt: skip
        results = []
        for lib in (torch, taeda):
            types = [lib._C.parse_schema(f"f({t} x) -> ()").arguments[0].real_type for t in texts]
            try:
                results.append(str(lib._C.unify_type_list(types)))
            except RuntimeError:
                results.append("an error")
        assert results[0] == results[1], texts


class Color(enum.Enum):
    RED = 1
    BLUE = 2


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize("value, annotation", [
    (1, "int"), (1.5, "float"), ("a", "str"), (None, "NoneType"), (True, "bool"), (1j, "complex"),
    ([1, 2], "List[int]"), ([1.5], "List[float]"), (["a"], "List[str]"), ([True], "List[bool]"), ([], "List[Any]"),
    ([[1], [2, 3]], "List[List[int]]"), ((1, "a"), "Tuple[int, str]"), ({"a": 1, "b": 2}, "Dict[str, int]"),
    ([None, 1], "List[Optional[int]]"), ([1, "a"], "List[Any]"), ({}, "Dict[Any, Any]"), ({1: [(2.5, "x")]}, None),
    (Color.RED, f"__torch__.{__name__}.Color"), ([Color.BLUE], None), (Point(1, "b"), f"__torch__.{__name__}.Point"),
    (taeda.device("cpu"), "Device"), (taeda.float32, "ScalarType"),
])  # fmt: skip
def test_objects_go_through_values(value, annotation):
    shown = taeda._C._type_of(value)
    assert annotation in (None, str(shown))
    for kind in (shown, taeda.AnyType.get()):
        back, again = taeda._C._convert(value, kind)
        assert back == value and type(back) is type(value) and again is shown
    if isinstance(value, dict):
        assert list(back) == list(value)


@pytest.mark.parametrize("value, spelling, fits", [
    ([1, 2], "float[]", [1.0, 2.0]), ((1, 2), "int[]", [1, 2]), ([1, "a"], "Union(int, str)[]", [1, "a"]),
    ({"a": None}, "Dict(str, int?)", {"a": None}), ((1, [2]), "(int, int[])", (1, [2])), (3, "complex", 3 + 0j),
    ([1, "a"], "int[]", None), ((1,), "(int, int)", None), ({"a": "b"}, "Dict(str, int)", None), (None, "str", None),
    ([[1], ["a"]], "int[][]", None), (1.5, "Union(int, str)", None),
])  # fmt: skip
def test_objects_as_values_of_a_type(value, spelling, fits):
    kind = taeda._C._parse_type(spelling)
    if fits is None:
        with pytest.raises(TypeError, match="is no"):
            taeda._C._convert(value, kind)
    else:
        back, shown = taeda._C._convert(value, kind)
        assert back == fits and shown.isSubtypeOf(kind) or shown.str() in ("int[]", "Union(int, str)[]")


def test_an_op_of_nested_types_and_quoted_defaults():
    lib = taeda.library.Library("nested", "DEF")
    lib.define("f(str[] names, Dict(str, Tensor) d, (int, float) p, int[][] q, str sep=', (', int[][] r=[[1], []]) "
               "-> (str, Dict(str, int))")  # fmt: skip
    seen = []

    def f(names, d, p, q, sep=", (", r=None):
        seen.append((names, sorted(d), p, q, sep, r))
        return sep.join(names), {name: len(name) for name in names}

    lib.impl("f", f, "CompositeExplicitAutograd")
    one = taeda.ones(1)
    assert taeda.ops.nested.f(["a", "bc"], {"x": one}, (1, 2.0), [[1], [2, 3]]) == ("a, (bc", {"a": 1, "bc": 2})
    assert seen == [(["a", "bc"], ["x"], (1, 2.0), [[1], [2, 3]], ", (", None)]
    assert [a.default_value for a in taeda.ops.nested.f.default._schema.arguments[4:]] == [", (", [[1], []]]
    with pytest.raises(RuntimeError, match=r"'q' must be a List\[List\[int\]\], got list"):
        taeda.ops.nested.f([], {}, (1, 2.0), [1])


@pytest.mark.torch
@pytest.mark.parametrize("new, fits", [
    ("f(Tensor x, int y=1) -> Tensor", True), ("f(Tensor x, int y=1, *, int z=2) -> Tensor", True),
    ("f(Tensor x, int y=1, int z=2) -> Tensor", True), ("f(Tensor x, int y=1, int z) -> Tensor", None),
    ("f(Tensor x, int y=1, *, int z) -> Tensor", False), ("f(Tensor x) -> Tensor", False),
    ("f(Tensor x, int y) -> Tensor", False), ("f(Tensor x, int y=2) -> Tensor", False),
    ("f(Tensor x, int? y=1) -> Tensor", True), ("f(Tensor? x, int y=1) -> Tensor", True),
    ("f(Tensor x, int y=1) -> Tensor?", False), ("f(Tensor x, int y=1) -> (Tensor, Tensor)", False),
    ("f(Tensor(a) x, int y=1) -> Tensor(a)", False), ("g(Tensor x, int y=1) -> Tensor", False),
    ("f(Tensor x, float y=1) -> Tensor", False), ("f(Tensor x, *, int y=1) -> Tensor", False),
    ("f(Tensor z, int y=1) -> Tensor", False),
])  # fmt: skip
def test_compatibility_is_torchs(new, fits):
    torch = pytest.importorskip("torch")
    old = "f(Tensor x, int y=1) -> Tensor"
    ours = taeda._C.parse_schema(new).is_backward_compatible_with(taeda._C.parse_schema(old))
    if fits is not None:
        assert ours == fits == torch._C.parse_schema(new).is_backward_compatible_with(torch._C.parse_schema(old))


def test_enumerations_are_the_cores():
    from taedagen.emit.elementwise import _DTYPES as DTYPES
    from taedagen.emit.variants import COMPUTES

    assert list(DTYPES) == taeda._C._dtype_names()[: len(DTYPES)]
    header = (pathlib.Path(__file__).parents[2] / "csrc/backend/cpu/engine/loop_table.h").read_text()
    order = re.search(r"enum class Compute : uint8_t \{ (.*?) \};", header).group(1).split(", ")
    assert [*COMPUTES, "BF16"] == order
    assert {*taeda._C._op_tag_bits()} <= {tag.name for tag in taeda.Tag}
    assert {tag.name for tag in taeda.ops.aten.add_.Tensor.tags} == {"inplace", "pointwise", "pt2_compliant_tag"}
    for key in taeda._C.DispatchKey:
        assert taeda._C._parse_dispatch_key(key) == key or key == "CompositeExplicitAutogradNonFunctional"
