"""Schemas of built-in ops beside PyTorch's of the same name: overloads, arguments, types and what must be given."""

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
