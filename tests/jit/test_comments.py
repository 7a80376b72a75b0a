"""Type comments: of functions, of arguments, of variables, and where they stand."""

# fmt: off
from __future__ import annotations

from typing import Dict, List, Optional, Tuple  # noqa: F401, UP035

import pytest

import taeda
from taeda import Tensor, jit, nn  # noqa: F401


def plain(x, n):
    # type: (Tensor, int) -> Tensor
    return x * n


def below_text(x, n):
    """A text."""
    # and a comment
    # type: (Tensor, int) -> Tensor
    return x * n


def by_argument(x,  # type: Tensor
                n=3,  # type: int
                *,
                k=2.0  # type: Optional[float]
                ):
    # type: (...) -> Tuple[Tensor, Optional[float]]
    found = []  # type: List[int]
    found.append(n)
    for i in range(n):  # type: int
        found.append(i)
    return x * found[0], k


def comma_first(x  # type: Tensor
                , n  # type: Dict[str, int]  # a remark
                ):
    # type: (...) -> int
    return n["a"]


def behind_head(
    x,  # type: Tensor
    n,  # type: int
):  # type: (...) -> Tensor
    return x * n


def texts(x, n):
    # type: (Tensor, "int") -> "Tensor"
    return x * n  # type: ignore[operator]


SIGNATURES = {
    plain: "plain(Tensor x, int n) -> Tensor",
    below_text: "below_text(Tensor x, int n) -> Tensor",
    by_argument: "by_argument(Tensor x, int n=3, *, float? k=2.0) -> ((Tensor, float?))",
    comma_first: "comma_first(Tensor x, Dict(str, int) n) -> int",
    behind_head: "behind_head(Tensor x, int n) -> Tensor",
    texts: "texts(Tensor x, int n) -> Tensor",
}


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda f: f.__name__)
def test_comments_say_types(function):
    assert str(jit.script(function).schema) == SIGNATURES[function]


class Block(nn.Module):
    def forward(self, x, y=None):
        # type: (Tensor, Optional[int]) -> Tensor
        return x if y is None else x * y

    @jit.export
    def first(self,
              x,  # type: Tensor
              n,  # type: List[int]
              ):
        # type: (...) -> int
        return n[0]


def test_comments_of_methods():
    block = jit.script(Block())
    assert "Tensor x, int? y=None) -> Tensor" in str(block.forward.schema)
    assert "Tensor x, int[] n) -> int" in str(block.first.schema)


def two(x):
    # type: (Tensor) -> Tensor
    # type: (int) -> int
    return x


def no_space(x):
    #type: (int) -> int
    return x


def many_spaces(x):
    #   type: (int) -> int
    return x


def one_missing(x,  # type: int
                y,
                z  # type: int
                ):
    # type: (...) -> int
    return x


def both(x,  # type: int
         ):
    # type: (int) -> int
    return x


def too_many(x):
    # type: (int, int) -> int
    return x


def no_type(x):
    # type: (3 +) -> int
    return x


@pytest.mark.parametrize(
    ("function", "message"),
    [(two, "2 type comments"), (no_space, "begins with '# type:'"), (many_spaces, "begins with"),
     (one_missing, "2 of 3"), (both, r"\(\.\.\.\)"), (too_many, "2 types for 1"), (no_type, "no signature")],
)
def test_wrong_comments(function, message):
    with pytest.raises(RuntimeError, match=message):
        jit.script(function)


def test_declarations_of_comments():
    decl = taeda.parse_type_comment("# type: (int, Optional[Tensor]) -> List[int]")
    assert [p.type for p in decl.params] == ["int", "Optional[Tensor]"] and decl.result == "List[int]"
    assert "(subscript (variable (ident List)) (list (variable (ident int))))" in str(decl)
    merged = taeda.merge_type_from_type_comment(decl, taeda.parse_type_comment("# type: (str) -> int"), True)
    assert [p.type for p in merged.params] == ["int", "str"] and merged.result == "int"
    for bad in ("(int) -> int", "# type: (int", "# type: int"):
        with pytest.raises(RuntimeError, match="type comment"):
            taeda.parse_type_comment(bad)
    with pytest.raises(RuntimeError, match="2 arguments"):
        taeda.merge_type_from_type_comment(decl, taeda.parse_type_comment("# type: (str) -> int"), False)
