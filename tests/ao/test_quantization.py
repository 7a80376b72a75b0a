"""What float models use to be ready for quantisation: marks, functions as modules, fusion."""

import copy
import importlib
import pickle

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization
from taeda.ao.nn import intrinsic
from taeda.ao.nn.quantized import FloatFunctional
from taeda.ao.quantization import DeQuantStub, QuantStub, QuantWrapper, fuse_modules, fuse_modules_qat

CONVS = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d),
         (nn.ConvTranspose1d, nn.BatchNorm1d), (nn.ConvTranspose2d, nn.BatchNorm2d),
         (nn.ConvTranspose3d, nn.BatchNorm3d)]  # fmt: skip


def trained(*modules):
    """A model whose norms have seen something; evaluated."""
    model = nn.Sequential(*modules).double()
    for module in model:
        if hasattr(module, "running_mean"):
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.5, 2)
            nn.init.uniform_(module.weight, 0.5, 2)
            nn.init.uniform_(module.bias)
    return model.eval()


def names(model):
    return [type(module).__name__ for module in model]


def test_stubs_are_the_identity():
    x = taeda.ones(2)
    assert QuantStub()(x) is x and DeQuantStub()(x) is x and not hasattr(QuantStub(), "qconfig")
    assert QuantStub("how").qconfig == "how" == DeQuantStub("how").qconfig
    wrapped = QuantWrapper(nn.Linear(2, 3).eval())
    assert not wrapped.training and wrapped(x).shape == (3,)
    assert list(dict(wrapped.named_children())) == ["quant", "dequant", "module"]


def test_float_functional():
    x, y, seen = taeda.tensor([1.0, -2.0]), taeda.tensor([3.0, 1.0]), []
    f = FloatFunctional()
    f.activation_post_process.register_forward_hook(lambda module, args, result: seen.append(result))
    assert f.add(x, y).tolist() == [4, -1] and f.mul(x, y).tolist() == [3, -2] and f.matmul(x, y) == 1
    assert f.cat([x, y]).tolist() == [1, -2, 3, 1] and f.add_relu(x, y).tolist() == [4, 0] and len(seen) == 5
    assert f.add_scalar(x, 1).tolist() == [2, -1] and f.mul_scalar(x, 2).tolist() == [2, -4] and len(seen) == 5
    with pytest.raises(RuntimeError, match="call a method"):
        f(x)


@pytest.mark.parametrize(("conv", "norm"), CONVS)
@pytest.mark.parametrize("bias", [True, False])
def test_a_norm_is_folded_into_the_convolution_before_it(conv, norm, bias):
    taeda.manual_seed(0)
    dims = int(norm.__name__[-2])
    model = trained(conv(2, 3, 2, bias=bias), norm(3))
    x = taeda.randn(2, 2, *[4] * dims, dtype=taeda.float64)
    fused = fuse_modules(model, ["0", "1"])
    assert names(fused) == [conv.__name__, "Identity"] and names(model) == [conv.__name__, norm.__name__]
    taeda.testing.assert_close(fused(x), model(x))


SEQUENCES = [
    ((nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.ReLU()), "ConvReLU2d", "ConvBnReLU2d"),
    ((nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3), nn.ReLU()), "ConvReLU1d", "ConvBnReLU1d"),
    ((nn.Conv3d(2, 3, 2), nn.BatchNorm3d(3), nn.ReLU()), "ConvReLU3d", "ConvBnReLU3d"),
    ((nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3)), "Conv2d", "ConvBn2d"),
    ((nn.Conv2d(2, 3, 2), nn.ReLU()), "ConvReLU2d", "ConvReLU2d"),
    ((nn.BatchNorm2d(2), nn.ReLU()), "BNReLU2d", "BNReLU2d"),
    ((nn.BatchNorm3d(2), nn.ReLU()), "BNReLU3d", "BNReLU3d"),
    ((nn.Linear(4, 3), nn.ReLU()), "LinearReLU", "LinearReLU"),
    ((nn.Linear(4, 3), nn.BatchNorm1d(3)), "Linear", "LinearBn1d"),
]


@pytest.mark.parametrize(("modules", "evaluated", "to_train"), SEQUENCES, ids=lambda x: x if type(x) is str else "")
def test_sequences(modules, evaluated, to_train):
    taeda.manual_seed(0)
    model = trained(*copy.deepcopy(modules))
    at = [str(i) for i in range(len(modules))]
    kind = type(modules[0])
    dims = 0 if kind is nn.Linear else int(kind.__name__[-2])
    x = taeda.randn(3, 4 if kind is nn.Linear else 2, *[4] * dims, dtype=taeda.float64)
    for fuse, name in ((fuse_modules, evaluated), (fuse_modules_qat, to_train)):
        fused = fuse(model, [at])
        assert names(fused) == [name, *["Identity"] * (len(modules) - 1)]
        taeda.testing.assert_close(fused(x), model(x))
    assert fuse_modules(model, at, inplace=True) is model and names(model)[0] == evaluated


def test_norms_stay_in_a_model_that_is_trained():
    model = nn.Sequential(nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), nn.ReLU())
    fused = fuse_modules_qat(model, ["0", "1", "2"])
    fused(taeda.randn(2, 2, 4, 4)).sum().backward()
    assert fused.training and fused[0][1].num_batches_tracked == 1 and fused[0][1].weight.grad is not None
    with pytest.raises(AssertionError, match="evaluation mode"):
        fuse_modules(model, ["0", "1"])
    model[1].eval()
    with pytest.raises(AssertionError, match="same mode"):
        fuse_modules_qat(model, ["0", "1"])


def test_hooks_go_over():
    model, seen = trained(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU()), []
    model[0].register_forward_pre_hook(lambda module, args: seen.append("before"))
    model[1].register_forward_hook(lambda module, args, result: seen.append("after"))
    fuse_modules(model, ["0", "1"])(taeda.ones(1, 2, dtype=taeda.float64))
    assert seen == ["before", "after"]


def test_nested_names_and_own_fusers():
    model = nn.Sequential(trained(nn.Linear(2, 2), nn.ReLU()), nn.Tanh())
    assert names(fuse_modules(model, ["0.0", "0.1"])[0]) == ["LinearReLU", "Identity"]
    config = {"additional_fuser_method_mapping": {(nn.Sequential, nn.Tanh): lambda is_qat, a, b: nn.Sequential(a, b)}}
    assert names(fuse_modules(model, ["0", "1"], fuse_custom_config_dict=config)) == ["Sequential", "Identity"]
    with pytest.raises(AssertionError, match="cannot fuse Sequential, Tanh"):
        fuse_modules(model, ["0", "1"])
    with pytest.raises(AttributeError):
        fuse_modules(model, ["0", "2"])


def test_intrinsic_sequences_take_their_parts_only():
    with pytest.raises(AssertionError, match="ConvReLU2d: takes Conv2d, ReLU; got Conv1d, ReLU"):
        intrinsic.ConvReLU2d(nn.Conv1d(1, 1, 1), nn.ReLU())
    with pytest.raises(AssertionError, match="LinearReLU: takes"):
        intrinsic.LinearReLU(nn.Linear(1, 1))
    assert len(intrinsic._FusedModule(nn.Linear(1, 1), nn.Tanh())) == 2


def test_older_homes():
    assert nn.quantized.FloatFunctional is FloatFunctional and nn.intrinsic.ConvReLU2d is intrinsic.ConvReLU2d
    assert taeda.quantization.fuse_modules is fuse_modules and taeda.ao.quantization.QuantStub is QuantStub
    assert taeda.quantization.quantize is taeda.ao.quantization.quantize and not hasattr(taeda.ao, "absent")
    assert vars(importlib.import_module("taeda.quantization.observer"))
    for name in (
        "quantized.functional", "quantized.modules.linear", "quantized.dynamic.modules.rnn", "qat.modules.conv",
        "qat.dynamic", "quantizable.modules.rnn", "intrinsic.modules.fused", "intrinsic.quantized.dynamic.modules",
        "intrinsic.qat.modules.conv_fused",
    ):  # fmt: skip
        assert importlib.import_module(f"taeda.nn.{name}") is importlib.import_module(f"taeda.ao.nn.{name}")


def test_whole_models_name_modules_by_their_older_homes():
    of_now = pickle.dumps(nn.quantized.Linear(2, 3), protocol=0)
    older = of_now.replace(b"ctaeda.ao.nn.quantized.modules", b"ctaeda.nn.quantized.modules")
    assert older != of_now and type(pickle.loads(older)) is nn.quantized.Linear


def test_base_classes_of_observers():
    class Largest(quantization.ObserverBase):
        def __init__(self, dtype=taeda.int8, is_dynamic=False, margin=1.0):
            super().__init__(dtype, is_dynamic)
            self.margin = margin

        def forward(self, x):
            self.seen = x.abs().max() * self.margin
            return x

        def calculate_qparams(self):
            return self.seen / 127, 0

    assert (Largest().dtype, Largest(is_dynamic=True).is_dynamic) == (taeda.int8, True)
    wide = Largest.with_args(margin=2.0)
    assert wide().margin == 2 == wide.with_args(dtype=taeda.int16)().margin and wide(margin=3).margin == 3
    margins = iter([4.0, 5.0])
    later = Largest.with_callable_args(margin=lambda: next(margins))
    assert [later().margin, later().margin, later(margin=6).margin] == [4, 5, 6]
    with pytest.raises(TypeError, match="abstract"):
        quantization.ObserverBase(taeda.int8)


def test_switches_of_fake_quantisation():
    class Rounds(quantization.FakeQuantizeBase):
        def forward(self, x):
            return x.round() if self.fake_quant_enabled[0] else x

        def calculate_qparams(self):
            return 1.0, 0

    model, x = nn.Sequential(Rounds()), taeda.tensor([0.6])
    assert model(x).item() == 1 and list(model.state_dict()) == ["0.fake_quant_enabled", "0.observer_enabled"]
    model.apply(quantization.disable_fake_quant).apply(quantization.disable_observer)
    assert model(x) is x and model[0].observer_enabled.tolist() == [0]
    model.apply(quantization.enable_fake_quant).apply(quantization.enable_observer)
    assert model(x).item() == 1 and model[0].observer_enabled.tolist() == [1]
