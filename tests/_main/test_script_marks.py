"""What TorchScript's names do in eager programs."""

import pytest

import taeda
import taeda.nn.functional as F


def test_boolean_dispatch_and_pairs():
    chosen = F.boolean_dispatch("flag", 1, False, lambda x, flag: ("on", x), lambda x, flag=False: ("off", x), "m", "n")
    assert chosen(1) == ("off", 1) and chosen(1, True) == ("on", 1) and chosen(1, flag=True) == ("on", 1)
    F.assert_int_or_pair([1, 2], "size", "{} is wrong")
    with pytest.raises(AssertionError, match="size is wrong"):
        F.assert_int_or_pair([1, 2, 3], "size", "{} is wrong")
    assert F.has_torch_function is taeda.overrides.has_torch_function


def test_switches_of_a_compiler():
    for name in ("_jit_set_profiling_executor", "_jit_set_profiling_mode", "_jit_set_autocast_mode"):
        switch = getattr(taeda._C, name)
        assert [switch(False), switch(True), switch(True)] == [True, False, True]
    for turn, ask in (
        ("_jit_override_can_fuse_on_cpu", "_jit_can_fuse_on_cpu"),
        ("_jit_override_can_fuse_on_gpu", "_jit_can_fuse_on_gpu"),
        ("_jit_set_texpr_fuser_enabled", "_jit_texpr_fuser_enabled"),
    ):
        before = getattr(taeda._C, ask)()
        assert getattr(taeda._C, turn)(not before) is None and getattr(taeda._C, ask)() is not before
        getattr(taeda._C, turn)(before)
    assert taeda._C._is_tracing() is False and taeda.Future is taeda.futures.Future


def test_classes_of_extensions_there_are_none():
    with pytest.raises(RuntimeError, match=r"'some\.Class'"):
        taeda.classes.some.Class  # noqa: B018
    assert not hasattr(taeda.classes, "__wrapped__") and not hasattr(taeda.classes.some, "__wrapped__")
