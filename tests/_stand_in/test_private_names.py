"""Names that PyTorch keeps to itself in public modules, by which published programs ask for them."""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
import warnings
from collections import OrderedDict, deque
from datetime import timedelta

import pytest

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda._library.fake_tensor import FakeTensorMode
from taeda._stand_in import private
from taeda._stand_in.private import utils__pytree
from taeda.nn import functional as F
from taeda.utils.data._utils.info import WorkerInfo

MODULES = sorted(module.name for module in pkgutil.iter_modules(private.__path__))

OF_ANY_ARGUMENT = {"_list_flatten", "_list_unflatten", "_ntuple", "_pair", "_quadruple", "_single", "_triple"}
OF_ANY_ARGUMENT |= {name for name in utils__pytree.__all__ if "flatten" in name}


def names_of(here: str) -> list[str]:
    return sorted(importlib.import_module(f"{private.__name__}.{here}").__all__)


def find(name: str):
    module, _, name = name.rpartition(".")
    return private.find(module, name)


def pytorch_module(here: str):
    """PyTorch's module, whose name is told by one with underscores where it has dots."""
    module = importlib.import_module("torch")
    rest = "" if here == "top" else here
    while rest:
        parts = rest.split("_")
        for count in range(len(parts), 0, -1):
            try:
                module = importlib.import_module(f"{module.__name__}.{'_'.join(parts[:count])}")
            except ModuleNotFoundError:
                continue
            rest = "_".join(parts[count:])
            break
        else:
            raise LookupError(here)
    return module


@pytest.mark.torch
@pytest.mark.parametrize("here", MODULES)
def test_pytorch_has_these_names_with_these_arguments(here: str) -> None:
    pytest.importorskip("torch")
    theirs = pytorch_module(here)
    for name in names_of(here):
        original, ours = getattr(theirs, name), private.find("" if here == "top" else here, name)
        if inspect.isfunction(original) and inspect.isfunction(ours) and name not in OF_ANY_ARGUMENT:
            wanted = list(inspect.signature(original).parameters)
            assert list(inspect.signature(ours).parameters)[: len(wanted)] == wanted, name


@pytest.mark.parametrize("here", MODULES)
def test_modules_do_not_have_them_already(here: str) -> None:
    assert names_of(here)
    with pytest.raises(LookupError):
        private.find(here, "absent")


def test_programs_import_them(tmp_path) -> None:
    import subprocess
    import sys

    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "from torch.nn.modules.transformer import _get_clones\n"
        "from torch.nn.modules.module import _addindent\n"
        "from torch.nn.parallel.distributed import _find_tensors\n"
        "from torch.optim.optimizer import _get_value, Optimizer\n"
        "assert len(_get_clones(torch.nn.Linear(1, 1), 2)) == 2 and _addindent('a\\nb', 2) == 'a\\n  b'\n"
        "assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3] and _get_value(torch.tensor(2.0)) == 2\n"
        "assert torch._guards.active_fake_mode() is None\n"
        "alias = []\n"
        "torch.vmap(lambda x: alias.append([torch._C._is_alias_of(x, y) for y in (x, x * 1)]) or x)(torch.ones(2))\n"
        "assert alias == [[True, False]]\n"
        "import functorch, functorch.experimental, torch.nn.utils._named_member_accessor\n"
        "from functorch.einops import rearrange\n"
        "assert not torch._C._functorch.is_batchedtensor(torch.ones(1)) and torch._C._functorch.maybe_get_level\n"
        "from torch._C._functorch import _add_batch_dim, is_batchedtensor\n"
        "import torch._functorch.vmap\n"
        "assert torch._functorch.vmap._process_batched_inputs and functorch.make_functional and functorch.make_fx\n"
        "assert torch._cast_Long(torch.tensor(1.5)) == 1 and not hasattr(torch, '_cast_absent')\n"
    )
    subprocess.run([sys.executable, "-m", "taeda", "run", program], check=True)


def test_pieces_of_attention() -> None:
    q = taeda.randn(2, 3, 4)
    w, b = taeda.randn(12, 4), taeda.randn(12)
    for k in (q, taeda.randn(2, 3, 4)):
        parts = find("nn.functional._in_projection_packed")(q, k, k, w, b)
        for part, x, weight, bias in zip(parts, (q, k, k), w.chunk(3), b.chunk(3)):
            taeda.testing.assert_close(part, F.linear(x, weight, bias))
        apart = find("nn.functional._in_projection")(q, k, k, *w.chunk(3), *b.chunk(3))
        taeda.testing.assert_close(list(apart), parts)
    mask = find("nn.functional._canonical_mask")(taeda.tensor([True, False]), "mask", None, "", taeda.float32)
    assert mask.tolist() == [-float("inf"), 0]
    assert find("nn.functional._none_or_dtype")(None) is None and find("nn.functional._none_or_dtype")(q) == q.dtype
    causal = find("nn.modules.transformer._generate_square_subsequent_mask")(3)
    assert find("nn.modules.transformer._detect_is_causal_mask")(causal) is True
    assert find("nn.modules.transformer._get_seq_len")(q, True) == 3
    with pytest.raises(RuntimeError, match="tensor or None; got int"):
        find("nn.functional._none_or_dtype")(3)


@pytest.mark.parametrize("name", ["_verify_batch_size", "_verify_spatial_size"])
def test_sizes_that_cannot_be_normalised(name: str) -> None:
    find(f"nn.functional.{name}")([2, 3, 4])
    with pytest.raises(ValueError, match="more than one value"):
        find(f"nn.functional.{name}")([1, 3, 1])


def test_rows_of_a_table_are_scaled() -> None:
    weight = taeda.full((2, 4), 3.0, requires_grad=True)
    table, _ = find("nn.functional._no_grad_embedding_renorm_")(weight, taeda.tensor([1]), 1.0, 2.0)
    assert table is weight and weight[0].tolist() == [3] * 4
    taeda.testing.assert_close(weight[1].norm(), taeda.tensor(1.0))


def test_optimisers_of_others() -> None:
    real, double, complex = taeda.ones(2), taeda.ones(2, dtype=taeda.float64), taeda.ones(2, dtype=taeda.complex64)
    groups = taeda.optim.Optimizer._group_tensors_by_device_and_dtype(
        [[real, double, real], [double, real, double]], True
    )
    assert {dtype: indices for (_, dtype), (_, indices) in groups.items()} == {
        taeda.float32: [0, 2],
        taeda.float64: [1],
    }
    params, grads = [real, complex], [real, complex * 2]
    find("optim.optimizer._view_as_real")(params, grads)
    assert params[0] is real and grads[1].tolist() == [[2, 0], [2, 0]]
    check = find("optim.optimizer._device_dtype_check_for_fused")
    check(real)
    with pytest.raises(RuntimeError, match="floating point parameters on cpu; got"):
        check(taeda.ones(1, dtype=taeda.int64))
    assert find("optim.optimizer._to_scalar")(taeda.ones(1)).dim() == 0
    assert taeda.optim.SGD([real]).__class__._cuda_graph_capture_health_check(taeda.optim.SGD([real])) is None


def test_modules_in_modules() -> None:
    assert find("functional.F") is F


def test_tensors_in_what_a_module_gives() -> None:
    a, b = taeda.ones(1), taeda.ones(2)
    assert list(find("nn.parallel.distributed._find_tensors")({"x": [a, (b, 3)], "y": "text"})) == [a, b]


def test_settings_and_devices() -> None:
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        _, cpu = find("utils.checkpoint._get_autocast_kwargs")()
    assert cpu == {"enabled": True, "dtype": taeda.bfloat16, "cache_enabled": True}
    assert find("utils.checkpoint._infer_device_type")(taeda.ones(1), 3) == "cpu"
    assert find("utils.checkpoint._infer_device_type")(3) == "cuda"
    assert taeda._utils._get_device_module("cpu") is taeda.cpu
    with pytest.raises(RuntimeError, match="no module for the device 'absent'"):
        taeda._utils._get_device_module("absent")


def test_trees() -> None:
    assert find("utils._pytree.is_structseq_instance")(taeda.ones(2).max(0)) is True
    assert find("utils._pytree.is_structseq_instance")((1, 2)) is False
    values, context = find("utils._pytree._tuple_flatten")((1, 2))
    assert find("utils._pytree._tuple_unflatten")(values, context) == (1, 2)
    assert find("utils._pytree._is_leaf")(3) and not find("utils._pytree._is_leaf")([3])


def test_trees_with_keys() -> None:
    for name, tree in (("list", [5, 6]), ("dict", {"a": 5}), ("deque", deque([5])), ("ordereddict", OrderedDict(a=5))):
        pairs, context = find(f"utils._pytree._{name}_flatten_with_keys")(tree)
        assert [key.get(tree) for key, _ in pairs] == [value for _, value in pairs] and pairs
        assert find(f"utils._pytree._{name}_unflatten")([value for _, value in pairs], context) == tree


def test_tensors_by_path() -> None:
    accessor_of, missing = (find(f"nn.utils._named_member_accessor.{n}") for n in ("NamedMemberAccessor", "_MISSING"))
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    zeros, weight = taeda.zeros(2, 2), net[0].weight
    accessor = accessor_of(net)
    assert accessor.swap_tensor("0.weight", zeros) is weight and net[0].weight is zeros
    assert (
        accessor.swap_tensors(["0.weight"], [weight]) == [zeros] and dict(net.named_parameters())["0.weight"] is weight
    )
    before, absent = accessor.swap_tensors_dict({"0.weight": zeros, "0.extra": zeros}, allow_missing=True)
    assert before["0.weight"] is weight and absent == ["0.extra"] and net[0].extra is zeros
    accessor.swap_tensors_dict(before, allow_missing=True)
    assert net[0].weight is weight and not hasattr(net[0], "extra") and before["0.extra"] is missing
    with pytest.raises(RuntimeError, match="has no tensors"):
        accessor.swap_tensors_dict({"0.weight": zeros, "0.extra": zeros})
    assert net[0].weight is weight and not hasattr(net[0], "extra")
    lacking, unknown = accessor.check_keys(["0.weight", "1.nothing"])
    assert "1.running_mean" in lacking and "0.weight" not in lacking and unknown == ["1.nothing"]
    assert isinstance(accessor.swap_submodule("0", nn.ReLU()), nn.Linear) and isinstance(net[0], nn.ReLU)
    for name, value, error in (("a.b", zeros, KeyError), ("a", 3, TypeError)):
        with pytest.raises(error):
            find("nn.utils._named_member_accessor.set_tensor")(net, name, value)
    with pytest.raises(KeyError, match="no child '7'"):
        accessor.swap_submodule("7", nn.ReLU())
    with pytest.raises(TypeError, match="at '1.weight' is no Module but a Parameter"):
        accessor.get_submodule("1.weight")
    assert accessor.get_tensor("1.bias") is net[1].bias
    accessor.del_tensors(["1.bias"])
    with pytest.raises(AttributeError):
        accessor.get_tensor("1.bias")


def test_batches_and_levels() -> None:
    inner = private.find("_C", "_functorch")
    seen = []

    def function(x):
        level = inner.current_level()
        seen.append((inner.maybe_get_level(x) == level, inner.maybe_get_bdim(x), tuple(inner.get_unwrapped(x).shape)))
        assert inner.is_functorch_wrapped_tensor(x)
        value, dim = inner._unwrap_batched(x, level)
        assert value is inner.get_unwrapped(x) and dim == 0 and inner._unwrap_batched(x, level + 1) == (x, None)
        return x

    taeda.vmap(function)(taeda.ones(3, 2))
    assert seen == [(True, 0, (3, 2))]
    plain = taeda.ones(1)
    assert inner.maybe_current_level() is None and inner.maybe_get_level(plain) == inner.maybe_get_bdim(plain) == -1
    for call in (inner.current_level, lambda: inner.get_unwrapped(plain)):
        with pytest.raises(RuntimeError):
            call()


def test_modes_of_functions() -> None:
    enabled = find("_C._is_torch_function_mode_enabled")
    with taeda.overrides.BaseTorchFunctionMode():
        assert enabled()
        with taeda._C.DisableTorchFunction():
            assert not enabled()
    assert not enabled()


def test_line_search() -> None:
    target = taeda.tensor([3.0, -1.0], dtype=taeda.float64)

    def function(x, t, d):
        away = x + t * d - target
        return float((away**4).sum()), 4 * away**3

    x = taeda.zeros(2, dtype=taeda.float64)
    value, gradient = function(x, 0, x)
    slope = -gradient.dot(gradient)
    for length in (1e-3, 0.1, 1.0):
        loss, there, t, calls = find("optim.lbfgs._strong_wolfe")(
            function, x, length, -gradient, value, gradient, slope, c2=0.1
        )
        assert (loss, there.tolist()) == (function(x, t, -gradient)[0], function(x, t, -gradient)[1].tolist())
        assert loss <= value + 1e-4 * t * slope and abs(there.dot(-gradient)) <= -0.1 * slope and calls > 1
    least = find("optim.lbfgs._cubic_interpolate")
    assert least(0.0, 1.0, -2.0, 2.0, 1.0, 2.0) == 1 and least(0.0, 1.0, -2.0, 2.0, 1.0, 2.0, bounds=(0.0, 0.5)) == 0.5


def test_schedules_of_others() -> None:
    schedule = taeda.optim.lr_scheduler.StepLR(taeda.optim.SGD([taeda.ones(1)], 1.0), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with find("optim.lr_scheduler._enable_get_lr_call")(schedule):
            assert schedule.get_lr() == [1.0]
        with pytest.raises(UserWarning):
            schedule.get_lr()
    with find("optim.lr_scheduler._initial_mode")(schedule):
        assert schedule._is_initial
    assert not schedule._is_initial
    group = {"lr": taeda.tensor(1.0)}
    rate = group["lr"]
    find("optim.lr_scheduler._update_param_group_val")(group, "lr", 2.0)
    assert rate == 2


def test_classes_of_parameters() -> None:
    marked, plain = taeda.ones(1), taeda.ones(1)
    marked._is_param = True
    for name, kind in (("_ParameterMeta", nn.Parameter), ("_BufferMeta", nn.Buffer)):
        meta = find(f"nn.parameter.{name}")
        assert [meta.__instancecheck__(kind, x) for x in (marked, plain)] == [kind is nn.Parameter, False]


def test_a_tensor_on_each_device() -> None:
    copies = find("amp.grad_scaler._MultiDeviceReplicator")(taeda.ones(2))
    assert copies.get("meta").is_meta and copies.get("cpu") is copies.get(taeda.device("cpu"))
    assert copies.get("cpu").tolist() == [1, 1] and copies.get("cpu") is not copies.master


def test_modes_of_fake_tensors() -> None:
    active, detect = find("_guards.active_fake_mode"), find("_guards.detect_fake_mode")
    outer, inner = FakeTensorMode(), FakeTensorMode()
    with outer:
        x = taeda.ones(2)
        assert active() is detect() is outer
        with inner:
            assert active() is inner
    assert active() is None and detect([3, taeda.ones(1)]) is None and detect({"a": [x]}) is outer
    with inner, pytest.raises(AssertionError, match="several"):
        detect(x)
    context = find("_guards.TracingContext")
    assert context.try_get() is None
    with pytest.raises(RuntimeError):
        context.get()


def test_what_a_worker_is_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    from taeda.utils.data._utils import worker

    info = WorkerInfo(0, 2, 3, None)
    monkeypatch.setattr(worker, "_worker_info", info)
    assert taeda.utils.data.get_worker_info() is info


def test_bytes_of_a_storage() -> None:
    stored = io.BytesIO()
    taeda.save(taeda.arange(3).storage(), stored)
    assert find("storage._load_from_bytes")(stored.getvalue()).tolist() == [0, 1, 2]


def test_groups_made_by_hand() -> None:
    store = dist.HashStore()
    make = find("distributed.distributed_c10d._new_process_group_helper")
    group, place = make(1, 0, [], "gloo", store, group_name="apart", timeout=timedelta(seconds=30))
    known = find("distributed.distributed_c10d._world")
    try:
        known.pg_group_ranks[group] = {0: 0}
        tensor = taeda.ones(2)
        dist.all_reduce(tensor, group=group)
        assert tensor.tolist() == [1, 1] and dist.get_process_group_ranks(group) == [0]
        assert known.pg_names[group] == "apart" and known.default_pg is None
        assert known.pg_map[group][1] is place
        data, size = find("distributed.distributed_c10d._object_to_tensor")({"a": 1}, "cpu", group)
        assert find("distributed.distributed_c10d._tensor_to_object")(data, size, group) == {"a": 1}
        find("distributed.distributed_c10d._store_based_barrier")(0, store, "apart", 1, timedelta(seconds=5))
        with pytest.raises(dist.DistStoreError):
            find("distributed.distributed_c10d._store_based_barrier")(0, store, "b", 2, timedelta(seconds=0.05))
        find("distributed.utils._verify_param_shape_across_processes")(group, [tensor])
        find("distributed.utils._sync_params_and_buffers")(group, [tensor], 1 << 20, 0)
    finally:
        dist.destroy_process_group(group)
    (inputs,), (kwargs,) = find("distributed.utils._to_kwargs")((tensor,), {"y": [tensor]}, "meta", False)
    assert inputs[0].is_meta and kwargs["y"][0].is_meta
    with pytest.raises(AssertionError, match="so"):
        find("distributed.utils._p_assert")(False, "so")


def test_initial_values_without_gradients() -> None:
    weight = nn.Parameter(taeda.empty(100))
    assert find("nn.init._no_grad_trunc_normal_")(weight, 0.0, 1.0, -0.5, 0.5) is weight and weight.abs().max() <= 0.5
    assert find("nn.init._no_grad_fill_")(weight, 2.0).sum() == 200
