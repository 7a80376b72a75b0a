"""Schemas of built-in ops beside PyTorch's of the same name: overloads, arguments and what must be given."""

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
