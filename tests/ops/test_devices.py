"""Calls whose arguments live on several devices, and writes to tensors of inference mode."""

import pytest

import taeda


def meta(*sizes, **kwargs):
    return taeda.empty(*sizes, device="meta", **kwargs)


ONE, WHERE = taeda.ones(2), taeda.zeros(1, dtype=taeda.int64)
MIXED = [
    lambda: meta(2) + ONE,
    lambda: ONE + meta(2),
    lambda: ONE.clone().add_(meta(2)),
    lambda: meta(2).add_(ONE),
    lambda: taeda.add(ONE, ONE, out=meta(2)),
    lambda: taeda.sum(ONE, 0, out=meta(())),
    lambda: taeda.zeros(2, out=meta(2), device="cpu"),
    lambda: taeda.cat([meta(2), ONE]),
    lambda: taeda.stack([meta(2), ONE]),
    lambda: taeda.ones(2, 2) @ meta(2, 2),
    lambda: taeda.where(ONE > 0, meta(2), ONE),
    lambda: meta(2).gather(0, WHERE),
    lambda: ONE.scatter(0, WHERE, meta(1)),
    lambda: ONE.scatter_reduce(0, meta(1, dtype=taeda.int64), taeda.ones(1), "sum"),
    lambda: ONE.index_put((WHERE,), meta(1)),
    lambda: ONE.take(meta(1, dtype=taeda.int64)),
    lambda: ONE.masked_fill(meta(2) > 0, 1),
    lambda: taeda.embedding(taeda.ones(3, 2), meta(1, dtype=taeda.int64)),
    lambda: taeda.conv1d(meta(1, 1, 3), taeda.ones(1, 1, 2)),
    lambda: taeda.layer_norm(meta(2, 2), (2,), ONE),
    lambda: taeda.searchsorted(ONE, meta(2)),
    lambda: taeda.sort(ONE, out=(taeda.ones(2), meta(2, dtype=taeda.int64))),
    lambda: taeda.nn.functional.mse_loss(ONE, meta(2)),
    lambda: taeda.ops.aten.clamp.Tensor(meta(2), None),
]


@pytest.mark.parametrize("call", MIXED)
def test_devices_do_not_mix(call):
    with pytest.raises(RuntimeError, match="device|is on|given"):
        call()


NUMBERS = [
    lambda: meta(2) + taeda.tensor(1.0),
    lambda: meta(2).masked_fill(meta(2) > 0, taeda.tensor(1.0)),
    lambda: meta(2)[WHERE],
    lambda: taeda.where(meta(2) > 0, taeda.tensor(1.0), meta(2)),
]


@pytest.mark.parametrize("call", NUMBERS)
def test_numbers_and_positions_may_come_from_elsewhere(call):
    assert call().is_meta


FOLLOWERS = [
    lambda: taeda.zeros(2, out=meta(2)),
    lambda: taeda.eye(2, out=meta(2, 2)),
    lambda: taeda.arange(3, out=meta(3)),
    lambda: taeda.randn(2, out=meta(2)),
    lambda: taeda.randint(3, (2,), out=meta(2)),
    lambda: taeda.normal(0.0, 1.0, (2,), out=meta(2)),
    lambda: taeda.fft.fftfreq(4, out=meta(4)),
    lambda: taeda.nn.functional.one_hot(meta(2, dtype=taeda.int64), 3),
]


@pytest.mark.parametrize("call", FOLLOWERS)
def test_results_are_where_their_arguments_are(call):
    assert call().is_meta


WRITES = [
    lambda x: x.add_(1),
    lambda x: x.zero_(),
    lambda x: x.__setitem__(0, 1.0),
    lambda x: x[1:].mul_(2),
    lambda x: x.copy_(taeda.ones(3)),
    lambda x: x.uniform_(),
    lambda x: x.masked_fill_(x > 0, 1),
    lambda x: x.unsqueeze_(0),
    lambda x: x.resize_(2),
    lambda x: x.set_(),
    lambda x: taeda.add(x, 1, out=x),
    lambda x: taeda._foreach_add_([x], 1),
]


@pytest.mark.parametrize("write", WRITES)
def test_tensors_of_inference_mode_are_written_to_inside_of_it_only(write):
    with taeda.inference_mode():
        x = taeda.ones(3)
        write(taeda.ones(3))
    with pytest.raises(RuntimeError, match="inference mode"):
        write(x)
    with taeda.inference_mode(), taeda.inference_mode(False), pytest.raises(RuntimeError, match="inference mode"):
        write(x)


def test_ordinary_tensors_are_written_to_in_inference_mode():
    x = taeda.ones(3)
    with taeda.inference_mode():
        x.add_(1).view(-1).add_(1)
    assert x.add_(1).tolist() == [4.0] * 3 and not (x + 1).is_inference()


@pytest.mark.parametrize("name", ["mps", "xpu", "mps:0", "xpu:1"])
def test_devices_that_are_names_alone(name):
    device = taeda.device(name)
    assert str(device) == name and device.type == name[:3]
    with pytest.raises((RuntimeError, AssertionError, NotImplementedError)):
        taeda.ones(2, device=device)


def test_parts_beside_each_other_do_not_overlap():
    image = taeda.zeros(1, 1, 5, 4)
    part = image[:, :, 1:, :]
    part += taeda.ones(1, 1, 4, 4)
    image[:, :, 1:, :] += part
    assert image.sum() == 32


NAMES = ["mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "mps", "hpu", "ve", "lazy",
         "ipu", "mtia", "xpu"]  # fmt: skip


@pytest.mark.filterwarnings("ignore:'mkldnn' as a device")
@pytest.mark.parametrize("name", NAMES)
def test_what_names_alone_refuse(name):
    device = taeda.device(name, 1)
    assert (device.type, device.index, str(device)) == (name, 1, f"{name}:1") and device == taeda.device(f"{name}:1")
    assert device != taeda.device("cpu") and len({device, taeda.device(f"{name}:1")}) == 1
    error = AssertionError if name in ("xpu", "mtia") else RuntimeError
    for make in (taeda.zeros, taeda.empty, taeda.randn):
        with pytest.raises(error, match=name):
            make(0, device=device)
    for call in (ONE.to, meta(2).to, taeda.nn.Linear(2, 2).to):
        with pytest.raises(error, match=name):
            call(device)
    with pytest.raises(RuntimeError, match=name):
        taeda.Generator(device)
    with pytest.raises((error, NotImplementedError), match=name), device:
        taeda.arange(3)
    with pytest.raises((error, NotImplementedError), match=name):
        taeda.ops.aten.arange.default(3, device=device)


def test_a_device_that_shows_itself_under_a_name_alone():
    class Shown(taeda.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*(a.inner if isinstance(a, cls) else a for a in args), **(kwargs or {}))

    shown = taeda.Tensor._make_wrapper_subclass(Shown, (2,), device="hpu")
    shown.inner = ONE
    assert shown.device.type == "hpu" and (shown * 2).tolist() == [2, 2] and taeda.sigmoid(shown).device.type == "cpu"


def test_names_that_are_not_written():
    for name in ("metal", "ort", "MKLDNN", "mkl"):
        with pytest.raises(RuntimeError, match=name):
            taeda.device(name)
    with pytest.warns(UserWarning, match="mkldnn"):
        taeda.device("mkldnn")
