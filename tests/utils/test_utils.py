"""Small functions of utils."""

import pytest

import taeda


def test_modules_of_functions():
    def f():
        pass

    taeda.utils.set_module(f, "elsewhere")
    assert f.__module__ == "elsewhere"
    with pytest.raises(TypeError, match="str"):
        taeda.utils.set_module(f, None)
