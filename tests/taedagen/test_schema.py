"""The schema grammar, and what mistakes in a declaration say."""

from __future__ import annotations

import pytest

from taedagen.opdef import declaration as opdef
from taedagen.opdef.declaration import INTEGRAL, Registry
from taedagen.opdef.errors import DeclarationError
from taedagen.opdef.schema import parse_schema, parse_type, split_commas


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(opdef, "REGISTRY", Registry())


@pytest.mark.parametrize("text", [
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    "fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    "index(Tensor self, Tensor?[] indices) -> Tensor",
    "conv(Tensor input, Tensor? bias=None, SymInt[2] stride=1, int[]? dim=None) -> Tensor",
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    "split(Tensor self, int[] sizes=[1, 2]) -> Tensor[]",
])  # fmt: skip
def test_a_schema_prints_as_it_was_written(text):
    assert str(parse_schema(text)) == text


@pytest.mark.parametrize("text, words", [
    ("add", "a schema reads"),
    ("add(Tensor self)", "a schema reads"),
    ("add(Tensor self, Tensor self) -> Tensor", "'self' stands twice"),
    ("add(Tensro self) -> Tensor", "'Tensro' is no type"),
    ("add(self) -> Tensor", "lacks a type or a name"),
])  # fmt: skip
def test_a_malformed_schema(text, words):
    with pytest.raises(ValueError, match=words):
        parse_schema(text)


@pytest.mark.parametrize("text, expected", [
    ("a, b", ["a", "b"]), ("", []), ("int[2] x=[1, 2], y", ["int[2] x=[1, 2]", "y"]), ("str s='a,b', *",
    ["str s='a,b'", "*"]),
])  # fmt: skip
def test_split_commas(text, expected):
    assert split_commas(text) == expected


@pytest.mark.parametrize(
    "text, optional, elements", [("Tensor?", True, False), ("Tensor?[]", False, True), ("int[]?", True, False)]
)
def test_optional_types(text, optional, elements):
    type_ = parse_type(text)
    assert (type_.optional, type_.optional_elements) == (optional, elements)


def declare(schema="f(Tensor self) -> Tensor", **options):
    @opdef.pointwise(schema, **options)
    def f(self):
        """Something."""
        return self

    return f


@pytest.mark.parametrize("schema, options, words", [
    ("f(Tensor self", {}, "a schema reads"),
    ("f(Tensor x) -> Tensor", {}, r"takes \['self'\] but the schema says \['x'\]"),
    ("f(Tensor self) -> Tensor", {"variants": "funktion"}, "'funktion'.* is unknown"),
    ("f(Tensor self) -> Tensor", {"promote": "up"}, "promotion rule 'up' is unknown"),
    ("f(Scalar self) -> Tensor", {"variants": "inplace"}, "needs a tensor as its first argument"),
])  # fmt: skip
def test_a_mistake_names_file_line_and_reason(schema, options, words):
    with pytest.raises(DeclarationError, match=words) as error:
        declare(schema, **options)
    assert str(error.value).startswith(f"{error.value.file}:{error.value.line}: error: ")
    assert error.value.file == "tests/taedagen/test_schema.py"


def test_a_second_declaration_names_the_first():
    first = declare()
    with pytest.raises(DeclarationError, match=f"declared already at {first.where[0]}:{first.where[1]}"):
        declare()


def test_variants_and_numbers_make_ops():
    ops = declare(variants="function inplace out").ops()
    assert [str(op.schema) for op in ops] == [
        "f(Tensor self) -> Tensor",
        "f_(Tensor(a!) self) -> Tensor(a!)",
        "f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ]


def test_a_second_formula_is_kept_by_dtypes():
    f = declare()

    @f.formula(INTEGRAL)
    def _(self):
        return self

    assert list(f.formulas) == [INTEGRAL]
