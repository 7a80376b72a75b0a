"""autocast: which dtype ops compute in, weights and their gradients, nesting, decorators, threads."""

import pickle
import threading

import pytest

import taeda
from taeda import nn
from taeda.amp import GradScaler, autocast, custom_bwd, custom_fwd
from taeda.nn import functional as F

bf16, f16, f32, f64 = taeda.bfloat16, taeda.float16, taeda.float32, taeda.float64


def state():
    return [
        taeda.is_autocast_enabled(device_type="cpu"),
        taeda.get_autocast_dtype("cpu"),
        taeda.is_autocast_cache_enabled(),
    ]


# Rules of the ops: a function of the namespace (taeda or torch) and of what makes its tensors.
RULES = {
    "lower": {
        "mm": lambda T, a: T.mm(a(3, 3), a(3, 3)),
        "matmul": lambda T, a: a(3, 3) @ a(3, 3),
        "bmm": lambda T, a: T.bmm(a(2, 3, 3), a(2, 3, 3)),
        "baddbmm": lambda T, a: T.baddbmm(a(2, 3, 3), a(2, 3, 3), a(2, 3, 3)),
        "addmm": lambda T, a: T.addmm(a(3, 3), a(3, 3), a(3, 3)),
        "addbmm": lambda T, a: T.addbmm(a(3, 3), a(2, 3, 3), a(2, 3, 3)),
        "linear": lambda T, a: T.nn.functional.linear(a(3, 3), a(3, 3), a(3)),
        "vecdot": lambda T, a: T.linalg.vecdot(a(3), a(3)),
        "conv1d": lambda T, a: T.nn.functional.conv1d(a(1, 2, 5), a(2, 2, 3)),
        "conv2d same": lambda T, a: T.nn.functional.conv2d(a(1, 2, 5, 5), a(2, 2, 3, 3), padding="same"),
        "conv3d": lambda T, a: T.nn.functional.conv3d(a(1, 1, 3, 3, 3), a(1, 1, 2, 2, 2)),
        "conv_transpose2d": lambda T, a: T.nn.functional.conv_transpose2d(a(1, 2, 5, 5), a(2, 2, 3, 3)),
        "conv_tbc": lambda T, a: T.conv_tbc(a(5, 2, 2), a(3, 2, 2), a(2)),
        "prelu": lambda T, a: T.nn.functional.prelu(a(3), a(1)),
        "attention": lambda T, a: T.nn.functional.scaled_dot_product_attention(
            a(1, 2, 3, 4), a(1, 2, 3, 4), a(1, 2, 3, 4)
        ),
        "einsum": lambda T, a: T.einsum("ij,jk", a(3, 3), a(3, 3)),
        "tensordot": lambda T, a: T.tensordot(a(3, 3), a(3, 3), 1),
        "rnn_tanh_cell": lambda T, a: T.rnn_tanh_cell(a(1, 2), a(1, 2), a(2, 2), a(2, 2)),
    },
    "fp32": {
        "prod": lambda T, a: a(3).prod(),
        "prod dim": lambda T, a: a(3).prod(0),
        "trace": lambda T, a: a(3, 3).trace(),
        "quantile": lambda T, a: T.quantile(a(3), 0.5),
        "view_as_complex": lambda T, a: T.view_as_complex(a(3, 2)).real,
        "avg_pool3d": lambda T, a: T.nn.functional.avg_pool3d(a(1, 4, 4, 4), 2),
        "adaptive_avg_pool3d": lambda T, a: T.nn.functional.adaptive_avg_pool3d(a(1, 4, 4, 4), 2),
        "max_pool3d": lambda T, a: T.nn.functional.max_pool3d(a(1, 4, 4, 4), 2),
        "mse_loss": lambda T, a: T.nn.functional.mse_loss(a(3), a(3)),
        "l1_loss": lambda T, a: T.nn.functional.l1_loss(a(3), a(3)),
        "huber_loss": lambda T, a: T.nn.functional.huber_loss(a(3), a(3)),
        "smooth_l1_loss": lambda T, a: T.nn.functional.smooth_l1_loss(a(3), a(3)),
        "kl_div": lambda T, a: T.nn.functional.kl_div(a(3), a(3)),
        "bce logits": lambda T, a: T.nn.functional.binary_cross_entropy_with_logits(a(3), a(3)),
        "bce": lambda T, a: T.nn.functional.binary_cross_entropy(a(3).sigmoid(), a(3).sigmoid()),
        "cross_entropy": lambda T, a: T.nn.functional.cross_entropy(a(2, 3), T.tensor([0, 1])),
        "nll_loss": lambda T, a: T.nn.functional.nll_loss(a(2, 3), T.tensor([0, 1])),
        "triplet": lambda T, a: T.nn.functional.triplet_margin_loss(a(2, 3), a(2, 3), a(2, 3)),
        "poisson": lambda T, a: T.nn.functional.poisson_nll_loss(a(3), a(3)),
        "reflect": lambda T, a: T.nn.functional.pad(a(1, 4), (1, 1), mode="reflect"),
        "replicate": lambda T, a: T.nn.functional.pad(a(1, 4), (1, 1), mode="replicate"),
        "qr": lambda T, a: T.linalg.qr(a(3, 3))[0],
        "svd": lambda T, a: T.linalg.svd(a(3, 3))[1],
        "inv": lambda T, a: T.linalg.inv(a(3, 3) + 3 * T.eye(3)),
    },
    "widest": {
        "cat": lambda T, a: T.cat([a(2), T.ones(2)]),
        "stack": lambda T, a: T.stack([T.ones(2), a(2)]),
        "index_copy": lambda T, a: T.index_copy(a(3), 0, T.tensor([0, 1]), T.ones(2)),
    },
    "as it comes": {
        "cat": lambda T, a: T.cat([a(2), a(2)]),
        "add": lambda T, a: a(2) + a(2),
        "dot": lambda T, a: T.dot(a(3), a(3)),
        "mv": lambda T, a: T.mv(a(3, 3), a(3)),
        "bilinear": lambda T, a: T.nn.functional.bilinear(a(2, 3), a(2, 3), a(2, 3, 3)),
        "softmax": lambda T, a: a(3).softmax(0),
        "layer_norm": lambda T, a: T.nn.functional.layer_norm(a(3), (3,)),
        "sum": lambda T, a: a(3).sum(),
        "exp": lambda T, a: a(3).exp(),
        "avg_pool2d": lambda T, a: T.nn.functional.avg_pool2d(a(1, 4, 4), 2),
        "pad": lambda T, a: T.nn.functional.pad(a(4), (1, 1)),
    },
}
CASES = [(rule, name) for rule, ops in RULES.items() for name in ops]


def result(T, rule, name, dtype, lower):
    with T.autocast("cpu", dtype=getattr(T, lower)):
        return str(RULES[rule][name](T, lambda *sizes: T.rand(*sizes).to(getattr(T, dtype))).dtype)


@pytest.mark.parametrize("lower", ["bfloat16", "float16"])
@pytest.mark.parametrize(("rule", "name"), CASES)
def test_rules(rule, name, lower):
    for dtype in ("float32", lower, "float64"):
        if dtype == "float64" and name == "index_copy":
            continue  # both tensors must have one dtype
        wanted = {"lower": lower, "fp32": "float32", "widest": "float32", "as it comes": dtype}[rule]
        wanted = "float64" if dtype == "float64" else wanted
        assert result(taeda, rule, name, dtype, lower) == f"torch.{wanted}"


@pytest.mark.torch
@pytest.mark.parametrize(("rule", "name"), CASES)
def test_rules_are_torchs(rule, name):
    torch = pytest.importorskip("torch")
    for dtype in ("float32", "bfloat16"):
        ours, theirs = (result(T, rule, name, dtype, "bfloat16") for T in (taeda, torch))
        assert ours.split(".")[1] == theirs.split(".")[1]


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("state_dtype", [None, "float32"])
@pytest.mark.parametrize("packed", [False, True])
def test_recurrent_layers_give_torchs_dtypes(kind, dtype, state_dtype, packed):
    torch = pytest.importorskip("torch")

    def dtypes(T):
        layer = getattr(T.nn, kind)(3, 4)
        x = T.ones(5, 2, 3).to(getattr(T, dtype))
        if packed:
            x = T.nn.utils.rnn.pack_padded_sequence(x, T.tensor([5, 3]))
        given = []
        if state_dtype:
            h = T.zeros(1, 2, 4, dtype=getattr(T, state_dtype))
            given = [(h, h)] if kind == "LSTM" else [h]
        with T.autocast("cpu"):
            output, last = layer(x, *given)
        tensors = [output.data if packed else output, *(last if kind == "LSTM" else [last])]
        return [str(t.dtype).split(".")[1] for t in tensors]

    if kind == "LSTM" and not packed and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        wanted = ["bfloat16"] * 3  # where the processor has instructions for it; it runs this one otherwise elsewhere
    else:
        wanted = dtypes(torch)
    assert dtypes(taeda) == wanted


def test_only_this_device_and_these_dtypes():
    with autocast("cpu"):
        assert (taeda.ones(2, 2, dtype=taeda.int64) @ taeda.ones(2, 2, dtype=taeda.int64)).dtype == taeda.int64
        assert (taeda.ones(2, 2, device="meta") @ taeda.ones(2, 2, device="meta")).dtype == f32
        assert taeda.ones(2, 2).mm(taeda.ones(2, 2, dtype=bf16)).dtype == bf16
        out = taeda.empty(2, 2)
        assert taeda.mm(taeda.ones(2, 2), taeda.ones(2, 2), out=out).dtype == f32
        assert taeda.ones(2, 2).addmm_(taeda.ones(2, 2), taeda.ones(2, 2)).dtype == f32
    assert (taeda.ones(2, 2) @ taeda.ones(2, 2)).dtype == f32


# Blocks


def test_blocks_nest_and_restore():
    before = state()
    with autocast("cpu", dtype=f16, cache_enabled=False):
        assert state() == [True, f16, False]
        with autocast("cpu", enabled=False):
            assert state() == [False, f16, False]
            assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype == f32
        with pytest.raises(KeyError), autocast("cpu", dtype=bf16):
            assert state() == [True, bf16, False]
            raise KeyError
        assert state() == [True, f16, False]
    assert state() == before == [False, bf16, True]


def test_one_object_may_be_entered_again():
    block = autocast("cpu")
    with block, block:
        pass
    assert not taeda.is_autocast_enabled("cpu")


def test_decorators():
    @autocast("cpu")
    def enabled(depth=0):
        return enabled(depth - 1) if depth else taeda.is_autocast_enabled("cpu")

    @taeda.autocast("cpu", dtype=f16)
    def generate():
        yield taeda.get_autocast_dtype("cpu")
        yield taeda.is_autocast_enabled("cpu")

    assert enabled(2) is True
    steps = generate()
    assert next(steps) == f16 and not taeda.is_autocast_enabled("cpu") and next(steps) is True
    assert state() == [False, bf16, True]


def test_a_thread_has_its_own():
    seen = []
    with autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(taeda.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    assert seen == [False]


def test_warnings_and_errors():
    for dtype in (f32, f64, taeda.int64):
        with pytest.warns(UserWarning, match="stays off"), autocast("cpu", dtype=dtype):
            assert not taeda.is_autocast_enabled("cpu")
    with pytest.warns(UserWarning, match="CUDA"), autocast("cuda"):
        assert not taeda.is_autocast_enabled("cuda") and not taeda.is_autocast_enabled()
    with pytest.raises(ValueError, match="device_type"):
        autocast(taeda.device("cpu"))
    with pytest.raises(RuntimeError, match="meta"):
        autocast("meta")
    with pytest.raises(RuntimeError):
        autocast("nowhere")
    assert taeda.amp.is_autocast_available("cpu") and not taeda.amp.is_autocast_available("meta")
    for call in (taeda.set_autocast_enabled, taeda.set_autocast_dtype, taeda.get_autocast_dtype):
        with pytest.raises(TypeError):
            call(3)


def test_devices_that_are_not_here():
    for name in ("xpu", "mps", "hpu", "xla", "ipu", "mtia", "maia"):
        with autocast(name, f16):
            assert taeda.is_autocast_enabled(name) and not taeda.is_autocast_enabled("cpu")
            assert (taeda.ones(2, 2) @ taeda.ones(2, 2)).dtype == f32
        with pytest.warns(UserWarning, match=f"'{name}' computes in"), autocast(name, f32):
            assert not taeda.is_autocast_enabled(name)
        assert taeda.amp.is_autocast_available(name)
        assert taeda.get_autocast_dtype(name) == (bf16 if name in ("hpu", "xla", "maia") else f16)
    for name in ("hip", "opengl", "lazy"):
        assert not taeda.amp.is_autocast_available(name)
        with pytest.raises(RuntimeError, match=name):
            autocast(name)


def test_a_backend_of_ones_own(monkeypatch):
    name = taeda._C._get_privateuse1_backend_name()

    class Module:
        @staticmethod
        def get_amp_supported_dtype():
            return [f16]

    monkeypatch.setattr(taeda, name, object(), raising=False)
    with pytest.raises(AssertionError, match="get_amp_supported_dtype"):
        autocast(name)
    monkeypatch.setattr(taeda, name, Module)
    with autocast(name):
        assert taeda.is_autocast_enabled(name) and not taeda.is_autocast_enabled("cpu")
        assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype == f32
    with pytest.warns(UserWarning, match="stays off"), autocast(name, dtype=bf16):
        assert not taeda.is_autocast_enabled(name)


def test_switches():
    try:
        taeda.set_autocast_enabled("cpu", True)
        taeda.set_autocast_dtype("cpu", f16)
        assert taeda.is_autocast_cpu_enabled() and taeda.get_autocast_cpu_dtype() == f16
        assert (taeda.ones(1, 1) @ taeda.ones(1, 1)).dtype == f16
        taeda.set_autocast_cpu_dtype(bf16)
        taeda.set_autocast_cpu_enabled(False)
        taeda.set_autocast_cache_enabled(False)
        assert state() == [False, bf16, False]
    finally:
        taeda.set_autocast_cache_enabled(True)
        taeda.set_autocast_cpu_enabled(False)
    assert taeda.get_autocast_gpu_dtype() == f16
    assert (taeda.autocast_increment_nesting(), taeda.autocast_decrement_nesting()) == (1, 0)


# Gradients and the cache


def test_weights_keep_float32_gradients():
    layer = nn.Linear(3, 2)
    x = taeda.randn(4, 3, requires_grad=True)
    with autocast("cpu"):
        y = layer(x)
        loss = F.mse_loss(y, taeda.zeros(4, 2))
    assert y.dtype == bf16 and loss.dtype == f32
    loss.backward()
    assert layer.weight.grad.dtype == layer.bias.grad.dtype == x.grad.dtype == f32
    expected = taeda.autograd.grad(F.mse_loss(layer(x), taeda.zeros(4, 2)), layer.weight)[0]
    taeda.testing.assert_close(layer.weight.grad, expected, rtol=0.05, atol=0.02)


def casts(run):
    """How many times ``run`` casts, in a block."""
    from taeda.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.count += "_to_copy" in str(func)
            return func(*args, **(kwargs or {}))

    with Count() as mode:
        run()
    return mode.count


def test_a_weight_is_cast_once_in_a_block():
    w, x = taeda.ones(2, 2, requires_grad=True), taeda.ones(2, 2, dtype=bf16)

    def twice(**options):
        with autocast("cpu", **options):
            return [x @ w, x @ w]

    assert casts(twice) == 1 and casts(lambda: twice(cache_enabled=False)) == 2
    assert casts(lambda: (twice(), twice())) == 2
    sum(twice()).sum().backward()
    assert w.grad.tolist() == [[4, 4], [4, 4]]

    def changed():
        with autocast("cpu"):
            before = x @ w
            with taeda.no_grad():
                w.zero_()
            return before, x @ w

    before, after = changed()
    assert before.tolist() == [[2, 2], [2, 2]] and after.tolist() == [[0, 0], [0, 0]]

    def outer():
        with autocast("cpu"):
            twice()
            twice()

    assert casts(outer) == 1
    plain = taeda.ones(2, 2)
    with autocast("cpu"):
        assert casts(lambda: (x @ plain, x @ plain)) == 2
        assert casts(lambda: (x @ w, taeda.clear_autocast_cache(), x @ w)) == 2


@pytest.mark.parametrize("first", [taeda.no_grad, taeda.inference_mode])
def test_a_cast_without_history_is_not_used_for_recording(first):
    w, x = taeda.ones(2, 2, requires_grad=True), taeda.ones(2, 2)
    with autocast("cpu"):
        with first():
            x @ w
        y = x @ w
    y.sum().backward()
    assert w.grad.tolist() == [[2, 2], [2, 2]]


def test_a_training_step_follows_float32():
    def losses(block):
        taeda.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
        optimizer = taeda.optim.SGD(net.parameters(), lr=0.1)
        x, target = taeda.randn(8, 1, 6, 6), taeda.randint(0, 3, (8,))
        seen = []
        for _ in range(5):
            with block():
                loss = F.cross_entropy(net(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        return seen

    exact, mixed = losses(lambda: autocast("cpu", enabled=False)), losses(lambda: autocast("cpu"))
    assert exact != mixed and mixed == pytest.approx(exact, abs=0.05) and mixed[-1] < mixed[0]


def test_backward_within_the_block():
    w = taeda.ones(2, 2, requires_grad=True)
    with autocast("cpu"):
        (taeda.ones(2, 2) @ w).sum().backward()
    assert w.grad.dtype == f32 and w.grad.tolist() == [[2, 2], [2, 2]]


# custom_fwd and custom_bwd


@pytest.mark.parametrize("cast_inputs", [None, f32, f16])
@pytest.mark.parametrize("enabled", [True, False])
def test_functions_of_ones_own(cast_inputs, enabled):
    seen = []

    class Product(taeda.autograd.Function):
        @staticmethod
        @custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx, a, b, rest):
            ctx.save_for_backward(a, b)
            seen.append((a.dtype, rest["x"][0].dtype, taeda.is_autocast_enabled("cpu")))
            return a @ b

        @staticmethod
        @custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append(taeda.is_autocast_enabled("cpu"))
            a, b = ctx.saved_tensors
            return grad @ b.t(), a.t() @ grad, None

    a, b = taeda.ones(2, 2, requires_grad=True), taeda.ones(2, 2, requires_grad=True)
    with autocast("cpu", dtype=bf16, enabled=enabled):
        y = Product.apply(a, b, {"x": [taeda.ones(1)]})
    y.float().sum().backward()
    casts_inputs = enabled and cast_inputs is not None
    inside = cast_inputs if casts_inputs else f32
    assert seen == [(inside, inside, enabled and not casts_inputs), enabled and not casts_inputs]
    assert y.dtype == (cast_inputs if casts_inputs else bf16 if enabled else f32)
    assert a.grad.dtype == f32 and a.grad.tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("custom", [True, False])
def test_registered_ops(custom):
    seen = []

    def scale(x: taeda.Tensor, ys: list[taeda.Tensor], by: float) -> taeda.Tensor:
        seen.append((x.dtype, [y.dtype for y in ys], taeda.is_autocast_enabled("cpu")))
        return x * by

    if custom:
        op = taeda.library.custom_op("autocast_custom::scale", scale, mutates_args=())
        op.register_autocast("cpu", bf16)
        taeda.library.register_autocast("autocast_custom::scale", "cpu", f16)  # takes the first one's place
    else:
        library = taeda.library.Library("autocast_plain", "DEF")
        library.define("scale(Tensor x, Tensor[] ys, float by) -> Tensor")
        library.impl("scale", scale, "CompositeExplicitAutograd")
        taeda.library.register_autocast("autocast_plain::scale", "cpu", f16)
        op = taeda.ops.autocast_plain.scale
    x, ys = taeda.ones(2), [taeda.ones(1, dtype=f64), taeda.ones(1, dtype=bf16)]
    with autocast("cpu", dtype=bf16):
        assert op(x, ys, 2.0).dtype == f16
        assert taeda.is_autocast_enabled("cpu")
    assert op(x, ys, 2.0).dtype == f32
    assert seen == [(f16, [f64, f16], False), (f32, [f64, bf16], False)]
    with pytest.raises(ValueError, match="meta"):
        taeda.library.register_autocast(op if custom else "autocast_plain::scale", "meta", f16)
    with pytest.raises(ValueError, match="dtype"):
        taeda.library.register_autocast(op if custom else "autocast_plain::scale", "cpu", "float16")


def test_custom_errors():
    with pytest.raises(ValueError, match="device_type"):
        custom_fwd(lambda ctx: None, device_type=3)
    with pytest.raises(ValueError, match="device_type"):
        custom_bwd(lambda ctx: None, device_type=None)


# GradScaler


def scaled(grad=1.0, **options):
    p = nn.Parameter(taeda.ones(2))
    optimizer = taeda.optim.SGD([p], lr=0.5)
    scaler = GradScaler("cpu", **{"init_scale": 4.0, "growth_interval": 2, **options})

    def step(grad=grad):
        optimizer.zero_grad()
        loss = scaler.scale((p * grad).sum())
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
        return p.tolist(), scaler.get_scale()

    return p, optimizer, scaler, step


def test_scaler_grows_and_backs_off():
    _, _, scaler, step = scaled()
    assert [step(), step(), step()] == [([0.5, 0.5], 4), ([0, 0], 8), ([-0.5, -0.5], 8)]
    assert step(float("inf")) == ([-0.5, -0.5], 4)
    assert step(float("nan")) == ([-0.5, -0.5], 2)
    assert scaler.state_dict() == {
        "scale": 2.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 0
    }  # fmt: skip


def test_scaler_by_hand():
    p, optimizer, scaler, _ = scaled()
    for early in (scaler.update, lambda: scaler.step(optimizer), lambda: scaler.unscale_(optimizer)):
        with pytest.raises(AssertionError, match="scale"):
            early()
    scaler.scale(p.sum()).backward()
    assert p.grad.tolist() == [4, 4]
    with pytest.raises(AssertionError, match="checked"):
        scaler.update()
    scaler.unscale_(optimizer)
    assert p.grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="twice"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="closure"):
        scaler.step(optimizer, closure=lambda: None)
    with pytest.raises(AssertionError, match="between iterations"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    assert p.tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="twice"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    scaler.update(taeda.tensor(16.0))
    assert pickle.loads(pickle.dumps(scaler)).get_scale() == 16


def test_scaler_options():
    ones = taeda.ones(1)
    scaler = GradScaler("cpu", init_scale=8.0)
    assert scaler.get_scale() == 8
    nested = scaler.scale([ones, (ones,)])
    assert nested[0].item() == 8 and isinstance(nested[1], tuple) and nested[1][0].item() == 8
    with pytest.raises(ValueError, match="tensor"):
        scaler.scale(3)
    for options in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError):
            GradScaler("cpu", **options)
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.25)
    scaler.set_growth_interval(7)
    assert [scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()] == [3, 0.25, 7]
    other = GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    with pytest.raises(RuntimeError):
        other.load_state_dict({})


def test_scaler_refuses_half_gradients_and_missing_ones():
    p = nn.Parameter(taeda.ones(2, dtype=f16))
    optimizer = taeda.optim.SGD([p], lr=0.5)
    scaler = GradScaler("cpu", init_scale=2.0)
    loss = scaler.scale(p.sum().float())
    with pytest.raises(AssertionError, match="gradient"):
        scaler.step(optimizer)
    scaler = GradScaler("cpu", init_scale=2.0)
    scaler.scale(loss).backward()
    with pytest.raises(ValueError, match="float16"):
        scaler.unscale_(optimizer)


def test_scaler_that_is_off():
    p = nn.Parameter(taeda.ones(2))
    optimizer = taeda.optim.SGD([p], lr=0.5)
    with pytest.warns(UserWarning, match="CUDA"):
        off = [GradScaler(), GradScaler("cpu", enabled=False)]
    for scaler in off:
        p.grad = taeda.ones(2)
        before = p.tolist()
        assert scaler.scale(p) is p and not scaler.is_enabled() and scaler.get_scale() == 1 and not scaler.state_dict()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert p.tolist() == [v - 0.5 for v in before]


def test_old_names():
    with pytest.warns(FutureWarning, match="taeda.amp.autocast"), taeda.cpu.amp.autocast():
        assert taeda.is_autocast_enabled("cpu")
    with pytest.warns(FutureWarning), pytest.warns(UserWarning, match="CUDA"), taeda.cuda.amp.autocast():
        assert not taeda.is_autocast_enabled("cuda")
    with pytest.warns(FutureWarning), pytest.warns(UserWarning, match="CUDA"):
        assert not taeda.cuda.amp.GradScaler().is_enabled()
    with pytest.warns(FutureWarning):
        assert taeda.cpu.amp.GradScaler(init_scale=2.0).get_scale() == 2
        taeda.cuda.amp.custom_fwd(lambda ctx: None)
        taeda.cuda.amp.custom_bwd(lambda ctx: None)


def test_switches_by_name():
    assert taeda.get_autocast_dtype(device_type="cpu") == taeda.bfloat16
    taeda.set_autocast_enabled("cpu", enabled=True)
    try:
        assert taeda.is_autocast_enabled("cpu")
    finally:
        taeda.set_autocast_enabled(enabled=False, device_type="cpu")
    assert not taeda.is_autocast_enabled(device_type="cpu")
    for wrong in ({"kind": "cpu"}, {"device_type": None}, {}):
        with pytest.raises(TypeError, match="get_autocast_dtype"):
            taeda.get_autocast_dtype(**wrong)
    with pytest.raises(TypeError, match="several values for 'device_type'"):
        taeda.set_autocast_dtype("cpu", device_type="cpu")
