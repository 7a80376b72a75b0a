"""Dimensions rearranged by a pattern."""

import pytest

import taeda

REARRANGED = [
    ("b c h w -> b h w c", {}, lambda x: x.permute(0, 2, 3, 1)),
    ("b c h w -> (b h) w c", {}, lambda x: x.permute(0, 2, 3, 1).reshape(8, 5, 3)),
    ("b c (h p) w -> (b p) h w c", {"p": 2}, lambda x: x.reshape(2, 3, 2, 2, 5).permute(0, 3, 2, 4, 1).flatten(0, 1)),
    ("b ... -> ... b", {}, lambda x: x.permute(1, 2, 3, 0)),
    ("b ... w -> b (...) w", {}, lambda x: x.flatten(1, 2)),
    ("... -> (...) 1", {}, lambda x: x.reshape(-1, 1)),
    ("b c h w -> b 1 c (h w) ()", {}, lambda x: x.reshape(2, 1, 3, 20, 1)),
]


@pytest.mark.parametrize("pattern, lengths, wanted", REARRANGED)
def test_rearrange(pattern, lengths, wanted):
    x = taeda.arange(120).reshape(2, 3, 4, 5)
    result = taeda.func.rearrange(x, pattern, **lengths)
    assert result.shape == wanted(x).shape and result.tolist() == wanted(x).tolist()


def test_rearrange_stacks():
    parts = [taeda.ones(2, 3), taeda.zeros(2, 3)]
    assert taeda.func.rearrange(parts, "n a b -> a (n b)").tolist() == [[1, 1, 1, 0, 0, 0]] * 2


@pytest.mark.parametrize("pattern, lengths", [
    ("a b c d", {}), ("a b c -> a b c", {}), ("a a c d -> a c d", {}), ("a b c d -> a b c", {}),
    ("a b (c e) d -> a b c d e", {}), ("a b (c e) d -> a b c d e", {"c": 3}), ("a b c d -> a b c d", {"q": 1}),
    ("a (b c d -> a", {}), ("(...) a -> a", {}), ("a b c d -> a ((b c) d)", {}), ("a b c d_ -> a b c d_", {}),
    ("2 b c d -> b c d", {}), ("a b c d -> ... a b c d", {}), ("a b c . d -> a", {}), ("a ... b ... -> a b", {}),
])  # fmt: skip
def test_rearrange_errors(pattern, lengths):
    with pytest.raises(ValueError, match="rearrange"):
        taeda.func.rearrange(taeda.zeros(2, 3, 4, 5), pattern, **lengths)
