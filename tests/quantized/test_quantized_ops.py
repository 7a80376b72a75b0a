"""``taeda.ops.quantized``: sums, products, activations, norms, embeddings and recurrent layers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from quantized_twin import of_torch, quanta

import taeda

q = taeda.ops.quantized
OUT = (0.05, 20)
# Name, what is called with the first quantised tensor: "q" stands for a second one, other things for themselves.
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("add", ("q", *OUT)), ("add_relu", ("q", *OUT)), ("mul", ("q", *OUT)), ("mul_relu", ("q", *OUT)),
    *((name, (number,)) for name in ("add", "mul", "add_relu", "mul_relu") for number in (3.0, -30.0, 20.0, -2.5, 0.0)),
    ("hardswish", OUT), ("sigmoid", OUT), ("elu", OUT), ("celu", OUT), ("leaky_relu", (0.1, False, *OUT)),
    ("relu6", ()), ("threshold", (0.1, 0.2)), ("clamp", (-0.2, 0.3)), ("softmax", (1, 1 / 256, 0)),
    ("layer_norm", ([6], None, None, 1e-5, *OUT)), ("group_norm", (2, None, None, 1e-5, *OUT)),
    ("instance_norm", (None, None, 1e-5, *OUT)), ("max_pool2d", ([2, 2], [1, 1], [0, 0], [1, 1], False)),
    ("batch_norm2d", ("ones", "ones", "zeros", "ones", 1e-5, *OUT)),
    ("batch_norm2d_relu", ("ones", "ones", "zeros", "ones", 1e-5, *OUT)),
    ("matmul", ("t", *OUT)),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize(("name", "args"), CALLS, ids=[f"{n}{a}" for n, a in CALLS])
@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
def test_as_pytorch(name: str, args: tuple[Any, ...], dtype: str) -> None:
    import torch

    torch.manual_seed(2)
    a, b = (torch.quantize_per_tensor(torch.randn(2, 4, 5, 6), s, 7, getattr(torch, dtype)) for s in (0.03, 0.05))
    known = {"q": b, "t": b.transpose(2, 3), "ones": torch.rand(4) + 0.5, "zeros": torch.randn(4)}
    given = [known.get(x, x) if isinstance(x, str) else x for x in args]
    wanted = getattr(torch.ops.quantized, name)(a, *given)
    assert quanta(getattr(q, name)(of_torch(a), *map(of_torch, given)), wanted) <= 1


@pytest.mark.torch
def test_joined_as_pytorch() -> None:
    import torch

    a, b = (torch.quantize_per_tensor(torch.randn(2, 3), s, 7, torch.quint8) for s in (0.03, 0.05))
    for name in ("cat", "cat_relu"):
        for numbers in (OUT, (None, None)):
            wanted = getattr(torch.ops.quantized, name)([a, b], 0, *numbers)
            assert quanta(getattr(q, name)([of_torch(a), of_torch(b)], 0, *numbers), wanted) <= 1


def test_sums_are_those_of_the_numbers() -> None:
    a, b = (taeda.quantize_per_tensor(taeda.randn(50), s, 7, taeda.qint8) for s in (0.03, 0.05))
    out = taeda._empty_affine_quantized([50], scale=0.06, zero_point=3, dtype=taeda.qint8)
    assert q.add_out(a, b, out) is not None and out.q_scale() == pytest.approx(0.06)
    wanted = (a.dequantize() + b.dequantize()).clamp((-128 - 3) * 0.06, (127 - 3) * 0.06)
    assert float((out.dequantize() - wanted).abs().max()) <= 0.0301


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_embedding_tables_of_few_bits(bits: int) -> None:
    name = "byte" if bits == 8 else f"{bits}bit"
    table = taeda.randn(5, 8)
    packed = getattr(q, f"embedding_bag_{name}_prepack")(table)
    unpacked = getattr(q, f"embedding_bag_{name}_unpack")(packed)
    step = (table.amax(1) - table.amin(1)) / (2**bits - 1)
    assert bool(((unpacked - table).abs().amax(1) <= step * 0.51 + 0.01).all())
    indices, offsets = taeda.tensor([1, 2, 4, 4]), taeda.tensor([0, 3])
    got = getattr(q, f"embedding_bag_{name}_rowwise_offsets")(packed, indices, offsets)
    wanted = taeda.stack([unpacked[[1, 2, 4]].sum(0), unpacked[4]])
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("kept", [[0, 2, 3], []])
def test_pruned_tables(bits: int, kept: list[int]) -> None:
    """The rows left out are zeros; a mapping counts only where the table is said to be pruned."""
    name = "byte" if bits == 8 else f"{bits}bit"
    prepack, unpack, bag = (
        getattr(q, f"embedding_bag_{name}_{what}") for what in ("prepack", "unpack", "rowwise_offsets")
    )
    whole = prepack(taeda.randn(5, 8))
    mapping = taeda.tensor([kept.index(i) if i in kept else -1 for i in range(5)], dtype=taeda.int32)
    indices, offsets = taeda.tensor([1, 2, 4, 0], dtype=taeda.int32), taeda.tensor([0, 3])
    options = {"mode": 0, "compressed_indices_mapping": mapping}
    every, left = unpack(whole), unpack(whole) * (mapping >= 0).unsqueeze(1)
    for pruned, table, rows in ((True, whole[kept], left), (False, whole, every)):
        wanted = taeda.stack([rows[[1, 2, 4]].sum(0), rows[0]])
        got = bag(table, indices, offsets, pruned_weights=pruned, **options)
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.torch
@pytest.mark.parametrize("bits", [8, 4])
def test_embeddings_as_pytorch(bits: int) -> None:
    import torch

    torch.manual_seed(bits)
    theirs, name = torch.ops.quantized, "byte" if bits == 8 else "4bit"
    table = torch.randn(6, 8)
    for search in ((), (True, 50, 0.16)) if bits == 4 else ((),):
        wanted = getattr(theirs, f"embedding_bag_{name}_prepack")(table, *search)
        got = getattr(q, f"embedding_bag_{name}_prepack")(of_torch(table), *search)
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())
    dtype = "quint8" if bits == 8 else "quint4x2"
    w = torch.quantize_per_channel(table, torch.rand(6) / 5 + 0.1, torch.rand(6) * 9, 0, getattr(torch, dtype))
    numbers = (of_torch(w.q_per_channel_scales()), of_torch(w.q_per_channel_zero_points()))
    packed = q.embedding_bag_prepack(taeda.quantize_per_channel(of_torch(table), *numbers, 0, getattr(taeda, dtype)))
    wanted, indices, offsets = theirs.embedding_bag_prepack(w), torch.tensor([0, 3, 5, 1]), torch.tensor([0, 1])
    for args in ((indices, offsets), (indices, offsets, False, 0, False, torch.rand(4))):
        theirs_bag = getattr(theirs, f"embedding_bag_{name}")(wanted, *args)
        bag = getattr(q, f"embedding_bag_{name}")(packed, *map(of_torch, args))
        np.testing.assert_allclose(bag.numpy(), theirs_bag.numpy(), rtol=2e-3, atol=2e-3)
    rows = getattr(q, f"embedding_{name}")(packed, of_torch(indices))
    np.testing.assert_allclose(rows.numpy(), getattr(theirs, f"embedding_{name}")(wanted, indices).numpy(), atol=2e-3)
    assert copy.deepcopy(packed).bit_rate() == bits


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_recurrent_layers_as_pytorch(kind: str, half: bool, both: bool) -> None:
    import torch

    torch.manual_seed(0)
    theirs, count, hidden = torch.ops.quantized, 4 if kind == "lstm" else 3, 5

    def cells(space: Any, tensors: list[list[Any]], convert: Any) -> list[Any]:
        made = []
        for w_ih, w_hh, b_ih, b_hh in tensors:
            pack = space.linear_prepack_fp16 if half else space.linear_prepack
            ih, hh = pack(convert(w_ih), convert(b_ih)), pack(convert(w_hh), convert(b_hh))
            if half:
                made.append(space.make_quantized_cell_params_fp16(ih, hh))
            else:
                made.append(space.make_quantized_cell_params_dynamic(ih, hh, convert(b_ih), convert(b_hh), True))
        return made

    ways, weights = 2 if both else 1, []
    for layer in range(2):
        for _ in range(ways):
            of = [torch.randn(count * hidden, hidden * ways if layer else 3), torch.randn(count * hidden, hidden)]
            if not half:
                of = [torch.quantize_per_tensor(w, 0.02, 0, torch.qint8) for w in of]
            weights.append([*of, torch.randn(count * hidden), torch.randn(count * hidden)])
    h, c = torch.randn(2 * ways, 4, hidden), torch.randn(2 * ways, 4, hidden)
    states = [h, c] if kind == "lstm" else h
    sequence = torch.nn.utils.rnn.pack_sequence([torch.randn(n, 3) for n in (6, 4, 4, 2)])
    name, more = f"quantized_{kind}", {"dtype": torch.qint8, "use_dynamic": True} if kind == "lstm" else {}
    for given in ((torch.randn(6, 4, 3),), (sequence.data, sequence.batch_sizes)):
        # input, [batch_sizes], hx, params, has_biases, num_layers, dropout, train, bidirectional, [batch_first]
        tail = [True, 2, 0.0, False, both, *([False] if len(given) == 1 else [])]
        wanted = getattr(torch, name)(*given, states, cells(theirs, weights, lambda t: t), *tail, **more)
        got = getattr(taeda, name)(*map(of_torch, given), of_torch(states), cells(q, weights, of_torch), *tail)
        for g, w in zip(got, wanted, strict=True):
            np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=0, atol=2e-3 if half else 0.03)


@pytest.mark.torch
@pytest.mark.parametrize(("m", "k", "n"), [(1, 64, 64), (5, 128, 96), (3, 32, 16)])
def test_weights_alone_of_few_bits(m: int, k: int, n: int) -> None:
    import torch

    x, w = torch.randn(m, k), torch.randint(-128, 128, (n, k), dtype=torch.int8)
    for dtype in (torch.float32, torch.bfloat16):
        args = (x.to(dtype), w, torch.rand(n).to(dtype))
        ours = (of_torch(x).to(of_torch(dtype)), of_torch(w), of_torch(args[2].float()).to(of_torch(dtype)))
        wanted = torch._weight_int8pack_mm(*args).float().numpy()
        np.testing.assert_allclose(taeda._weight_int8pack_mm(*ours).float().numpy(), wanted, rtol=2e-2, atol=1)
    four = torch.randint(0, 16, (n, k), dtype=torch.int32)
    packed, numbers = torch._convert_weight_to_int4pack_for_cpu(four, 2), torch.rand(k // 32, n, 2)
    ours = taeda._convert_weight_to_int4pack_for_cpu(of_torch(four), 2)
    if torch.cpu._is_avx512_supported():  # else PyTorch orders them for shorter vectors
        np.testing.assert_array_equal(ours.numpy(), packed.numpy())
    wanted = torch._weight_int4pack_mm_for_cpu(x, packed, 32, numbers).numpy()
    got = taeda._weight_int4pack_mm_for_cpu(of_torch(x), ours, 32, of_torch(numbers)).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-3)


def test_int_mm_is_exact() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (40, 300)).astype(np.int8), rng.integers(-128, 128, (300, 33)).astype(np.int8)
    got = taeda._int_mm(taeda.tensor(a), taeda.tensor(b))
    np.testing.assert_array_equal(got.numpy(), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("name", ["quantized_gru", "quantized_lstm"])
@pytest.mark.parametrize("sizes, message", [
    (taeda.empty(3, dtype=taeda.int64, device="meta"), "on meta"),
    (taeda.tensor([2, 2**62]), "never grow"),
    (taeda.tensor([2, 1]), "packed weights"),
])  # fmt: skip
def test_wrong_packed_sequences(name: str, sizes: Any, message: str) -> None:
    state = taeda.zeros(1, 2, 3)
    function = getattr(taeda.ops.aten, name).data
    with pytest.raises(RuntimeError, match=message):
        function(taeda.ones(3, 4), sizes, state if "gru" in name else [state] * 2, [], True, 2, 0.0, False, False)
