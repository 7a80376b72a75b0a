"""The names of the main namespace, and names for annotations."""

import taeda

MISSING = object()


def test_every_name_that_dir_lists_is_there():
    for name in dir(taeda):
        assert getattr(taeda, name, MISSING) is not MISSING, name


def test_names_for_annotations():
    from taeda import types

    assert types.Number == int | float | bool and isinstance(taeda.device("cpu"), types.Device)
    assert isinstance("a", types._str) and issubclass(types._TensorOrTensors.__args__[0], taeda.Tensor)
