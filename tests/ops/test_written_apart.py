"""Writes at positions, of tensors that share memory with what is read, or with themselves."""

from __future__ import annotations

import pytest

import taeda

INDEX = taeda.tensor([2, 1, 0])


def calls(y, index):
    return {
        "index_add_": lambda: y.index_add_(0, index, y[:3]),
        "index_copy_": lambda: y.index_copy_(0, index, y[:3]),
        "index_reduce_": lambda: y.index_reduce_(0, index, y[:3], "prod"),
        "index_put_": lambda: y.index_put_((index,), y[0]),
        "put_": lambda: y.put_(index, y[:3]),
        "scatter_": lambda: y.scatter_(0, index, y[:3]),
        "setitem": lambda: y.__setitem__(index, y[:3]),
        "index as self": lambda: index.index_fill_(0, index, 0),
        "masked_select(out=)": lambda: taeda.masked_select(y, y > 2, out=y[:3]),
        "masked_select(out=self)": lambda: taeda.masked_select(y, y > 2, out=y),
        "copy_": lambda: y[:-1].copy_(y[1:]),
    }


@pytest.mark.parametrize("name", calls(taeda.zeros(3), INDEX))
def test_shared_memory_raises(name):
    y = taeda.arange(6.0)
    with pytest.raises(RuntimeError, match="shar"):
        calls(y, INDEX.clone())[name]()
    assert y.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", ["index_add_", "index_copy_", "scatter_", "put_"])
def test_expanded_target_raises(name):
    x = taeda.zeros(1).expand(6)
    arguments = (INDEX, taeda.ones(3)) if name == "put_" else (0, INDEX, taeda.ones(3))
    with pytest.raises(RuntimeError, match="several elements"):
        getattr(x, name)(*arguments)


def test_expanded_target_warns_where_one_value_is_written():
    mask = taeda.tensor([True, False, True])
    for write in (
        lambda x: x.masked_fill_(mask, 2.0), lambda x: x.index_fill_(0, INDEX, 2.0),
        lambda x: x.index_put_((INDEX,), taeda.tensor(2.0)),
    ):  # fmt: skip
        x = taeda.zeros(1).expand(3)
        with pytest.warns(UserWarning, match="several elements"):
            write(x)
        assert x.tolist() == [2, 2, 2]


def test_a_row_takes_an_element_of_its_own():
    x = taeda.arange(12).reshape(3, 4)
    x[0] = x[0][1]
    assert x[0].tolist() == [1, 1, 1, 1]


def test_fresh_outputs_are_laid_out_like_new_results():
    x = taeda.zeros(2, 3, 4).permute(2, 0, 1)
    assert taeda.add(x, x, out=taeda.empty(0)).stride() == taeda.add(x, x).stride()
