"""Views and shape functions beside PyTorch's, and their gradients by finite differences."""

import pytest
from twin import check

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def a(T):
    return T.arange(24.0).reshape(2, 3, 4)


def m(T):
    return T.arange(6).reshape(2, 3)


def z(T):
    return T.complex(T.arange(6.0).reshape(2, 3), T.ones(2, 3))


def cl(T):
    return T.arange(120.0).reshape(2, 3, 4, 5).to(memory_format=T.channels_last)


VIEWS = [
    lambda T: a(T).view(4, 6),
    lambda T: a(T).view(-1),
    lambda T: a(T).view((2, -1)),
    lambda T: a(T)[:, :, ::2].view(6, 2),
    lambda T: a(T).transpose(0, 1).view(24),
    lambda T: a(T).view(5),
    lambda T: a(T).view(-1, -1),
    lambda T: T.empty(0, 3).view(0, 5),
    lambda T: T.empty(0).view(-1, 0),
    lambda T: T.tensor(1.0).view(1, 1),
    lambda T: a(T).view(T.int8),
    lambda T: a(T).view(T.float64).shape,
    lambda T: a(T).view(T.int32),
    lambda T: a(T)[:, :, :3].view(T.float64),
    lambda T: a(T).transpose(1, 2).view(T.float64),
    lambda T: a(T).transpose(0, 1).view(T.int16).stride(),
    lambda T: T.tensor(1.0).view(T.int8),
    lambda T: T.tensor(1.0).view(T.int32),
    lambda T: a(T).reshape(4, 6),
    lambda T: a(T).transpose(0, 1).reshape(6, 4),
    lambda T: T.reshape(a(T), (-1,)),
    lambda T: a(T).reshape_as(T.ones(6, 4)),
    lambda T: a(T).view_as(T.ones(6, 4)),
    lambda T: a(T).transpose(0, 2),
    lambda T: a(T).transpose(0, 5),
    lambda T: m(T).t(),
    lambda T: a(T).t(),
    lambda T: T.tensor(1.0).t(),
    lambda T: m(T).T,
    lambda T: a(T).T,
    lambda T: a(T).mT,
    lambda T: T.ones(2).mT,
    lambda T: T.tensor(1.0).mT,
    lambda T: z(T).H,
    lambda T: T.ones(2).H,
    lambda T: z(T).mH,
    lambda T: z(T).adjoint(),
    lambda T: T.ones(2).adjoint(),
    lambda T: a(T).permute(2, 0, 1),
    lambda T: a(T).permute((0, -1, 1)),
    lambda T: a(T).permute(0, 1),
    lambda T: a(T).permute(0, 1, 1),
    lambda T: a(T).movedim(0, -1),
    lambda T: a(T).movedim((0, 1), (2, 0)),
    lambda T: a(T).movedim((0, 1), (1, 1)),
    lambda T: T.moveaxis(a(T), 2, 0),
    lambda T: a(T).swapaxes(0, 1),
    lambda T: a(T).swapdims(1, 2),
    lambda T: T.ones(3, 1).expand(3, 4),
    lambda T: T.ones(3, 1).expand(2, -1, 4),
    lambda T: a(T).expand(5, 3, 4),
    lambda T: a(T).expand(2),
    lambda T: a(T).expand(-1, 2, 3, 4),
    lambda T: T.ones(3, 1).expand_as(T.ones(2, 3, 5)),
    lambda T: T.broadcast_to(T.ones(3), (2, 3)),
    lambda T: T.broadcast_tensors(T.ones(3, 1), T.ones(4)),
    lambda T: T.broadcast_tensors(T.ones(3), T.ones(4)),
    lambda T: T.ones(2, 1, 3, 1).squeeze(),
    lambda T: T.ones(2, 1, 3, 1).squeeze(1),
    lambda T: T.ones(2, 1, 3, 1).squeeze(0),
    lambda T: T.ones(2, 1, 3, 1).squeeze((1, 3)),
    lambda T: T.ones(2, 1).squeeze((1, 1)),
    lambda T: T.tensor(1.0).squeeze(0),
    lambda T: a(T).squeeze(7),
    lambda T: a(T).unsqueeze(1),
    lambda T: a(T).unsqueeze(-1),
    lambda T: a(T).unsqueeze(5),
    lambda T: a(T).select(1, -1),
    lambda T: a(T).select(0, 5),
    lambda T: T.tensor(1).select(0, 0),
    lambda T: a(T).narrow(1, 1, 2),
    lambda T: a(T).narrow(1, -2, 2),
    lambda T: a(T).narrow(0, T.tensor(1), 1),
    lambda T: a(T).narrow(0, 5, 1),
    lambda T: a(T).narrow(0, 1, 5),
    lambda T: a(T).narrow(0, 0, -1),
    lambda T: T.narrow_copy(a(T), 0, 0, 1),
    lambda T: a(T).diagonal(),
    lambda T: a(T).diagonal(1, 1, 2),
    lambda T: a(T).diagonal(-1, 2, 0),
    lambda T: a(T).diagonal(9).shape,
    lambda T: a(T).diagonal(0, 0, 0),
    lambda T: a(T).unfold(2, 2, 1),
    lambda T: a(T).unfold(1, 3, 2),
    lambda T: a(T).unfold(1, 0, 1),
    lambda T: a(T).unfold(1, 5, 1),
    lambda T: a(T).unfold(1, 2, 0),
    lambda T: T.tensor(3.0).unfold(0, 1, 1),
    lambda T: a(T).unbind(),
    lambda T: a(T).unbind(-1),
    lambda T: T.tensor(3.0).unbind(),
    lambda T: a(T).split(2, 1),
    lambda T: a(T).split([1, 2], 1),
    lambda T: a(T).split([1, 1], 1),
    lambda T: a(T).split([4, -1], 1),
    lambda T: a(T).split(0),
    lambda T: a(T)[:0].split(0),
    lambda T: a(T)[:0].split(2),
    lambda T: T.split_with_sizes(a(T), [3, 1], -1),
    lambda T: a(T).chunk(3, 2),
    lambda T: a(T)[:0].chunk(3),
    lambda T: a(T).chunk(0),
    lambda T: T.tensor(1).chunk(1),
    lambda T: a(T).tensor_split(3, 2),
    lambda T: a(T).tensor_split((1, 3), 2),
    lambda T: a(T).tensor_split(T.tensor([2, 1]), 2),
    lambda T: a(T).tensor_split(T.tensor(2)),
    lambda T: a(T).tensor_split(0),
    lambda T: a(T).tensor_split(T.tensor([1], dtype=T.int32)),
    lambda T: a(T).hsplit(3),
    lambda T: a(T).hsplit(2),
    lambda T: T.arange(4).hsplit([1, 3]),
    lambda T: a(T).vsplit(2),
    lambda T: T.arange(4).vsplit(2),
    lambda T: a(T).dsplit([1]),
    lambda T: T.unsafe_split(a(T), 2, 1),
    lambda T: T.unsafe_chunk(a(T), 2, 2),
    lambda T: a(T).flatten(),
    lambda T: a(T).flatten(1),
    lambda T: a(T).flatten(0, 1),
    lambda T: a(T).flatten(2, 0),
    lambda T: T.tensor(1).flatten(),
    lambda T: T.flatten(a(T).transpose(0, 1), 1),
    lambda T: a(T).unflatten(2, (2, -1)),
    lambda T: a(T).unflatten(1, (2, 2)),
    lambda T: a(T).unflatten(1, ()),
    lambda T: a(T).transpose(0, 1).ravel(),
    lambda T: [T.atleast_1d(T.tensor(1)), T.atleast_2d(T.ones(2)), T.atleast_3d(T.ones(2)), T.atleast_3d(T.ones(2, 3))],
    lambda T: T.atleast_2d(T.tensor(1), T.ones(3)),
    lambda T: a(T).as_strided((2, 2), (1, 2)),
    lambda T: a(T).as_strided((2, 2), (1, 2), 3),
    lambda T: a(T).as_strided((2, 2), (1,)),
    lambda T: a(T).as_strided((2, 200), (1, 1)),
    lambda T: a(T).as_strided((2,), (-1,)),
    lambda T: T.as_strided_scatter(a(T), T.ones(2, 2), (2, 2), (1, 2), 3),
    lambda T: T.select_scatter(a(T), T.ones(3, 4), 0, 1),
    lambda T: T.select_scatter(a(T), T.ones(3), 0, 1),
    lambda T: T.slice_scatter(a(T), T.ones(2, 2, 4), 1, 0, 3, 2),
    lambda T: T.diagonal_scatter(m(T), T.tensor([7, 8])),
    lambda T: T.diag_embed(m(T)),
    lambda T: T.diag_embed(m(T), 1, 0, 2),
    lambda T: T.diag_embed(T.ones(2), -1),
    lambda T: T.diag_embed(T.ones(2), 0, 0, 0),
    lambda T: cl(T).contiguous(),
    lambda T: cl(T).flatten(1),
]


COMPLEX = [
    lambda T: T.view_as_real(z(T)),
    lambda T: T.view_as_real(a(T)),
    lambda T: T.view_as_complex(T.arange(8.0).reshape(2, 2, 2)),
    lambda T: T.view_as_complex(a(T)),
    lambda T: T.view_as_complex(T.arange(6.0)[1:5].view(2, 2)),
    lambda T: T.view_as_complex(T.ones(2, 2, dtype=T.int32)),
    lambda T: z(T).real,
    lambda T: z(T).imag,
    lambda T: a(T).imag,
    lambda T: T.imag(a(T)),
    lambda T: T.real(a(T)),
    lambda T: T.conj_physical(z(T)),
    lambda T: z(T).conj().resolve_conj(),
    lambda T: z(T).clone().conj_physical_(),
    lambda T: T.complex(T.ones(2, 1), T.arange(3.0)),
    lambda T: T.complex(T.ones(2), T.ones(2, dtype=T.float64)),
    lambda T: T.complex(T.ones(2).int(), T.ones(2).int()),
    lambda T: T.polar(T.ones(2), T.arange(2.0)),
    lambda T: T.positive(a(T)),
    lambda T: T.positive(T.tensor(True)),
]


def changed(method, *arguments):
    def case(T):
        t = a(T).clone()
        result = getattr(t, method)(*(x(T) if callable(x) else x for x in arguments))
        assert result is t
        return t, t.shape, t.stride()

    return case


IN_PLACE = [
    changed("transpose_", 0, 2),
    changed("swapaxes_", 0, 2),
    changed("swapdims_", 0, 1),
    changed("unsqueeze_", 1),
    changed("squeeze_"),
    changed("squeeze_", 0),
    changed("t_"),
    changed("as_strided_", (2, 2), (1, 2), 1),
    changed("as_strided_", (2, 200), (1, 2), 1),
    changed("resize_", 2, 3),
    changed("resize_", -1),
    changed("resize_as_", lambda T: T.ones(3, 2)),
    changed("set_", lambda T: T.arange(3.0)),
    changed("set_", lambda T: T.arange(6.0), 1, (2, 2), (1, 2)),
    changed("set_", lambda T: T.arange(6.0).untyped_storage(), 1, (2, 2), (1, 2)),
    changed("set_", lambda T: T.arange(6.0).untyped_storage()),
    changed("set_", lambda T: T.arange(6)),
    changed("set_"),
]


FORMS = [
    lambda T: T.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    lambda T: T.arange(24.0).reshape(2, 3, 4)[:, :, ::2],
    lambda T: T.arange(24.0).reshape(2, 3, 4)[:1].expand(2, 3, 4),
    lambda T: T.arange(24.0).reshape(2, 3, 4)[1:],
]
PLACED = [
    case
    for x in FORMS
    for case in (
        lambda T, x=x: T.select_scatter(x(T), T.zeros(x(T).shape[1:]), 0, 0),
        lambda T, x=x: T.slice_scatter(x(T), T.zeros(1, *x(T).shape[1:]), 0, 0, 1),
        lambda T, x=x: T.diagonal_scatter(x(T), T.zeros(x(T).diagonal().shape)),
        lambda T, x=x: T.as_strided_scatter(x(T), T.zeros(2), (2,), (1,)),
        lambda T, x=x: T.as_strided_scatter(x(T), T.zeros(2), (2,), (1,), 3),
    )
]
SECTIONS = [
    lambda T: len(T.ones(3).chunk(2**31)),
    lambda T: [part.shape for part in T.ones(0, 2).chunk(3)],
    lambda T: len(T.ones(3).tensor_split(2**10)),
    lambda T: T.ones(3).tensor_split(0),
    lambda T: T.ones(3)[:: 2**62],
    lambda T: T.ones(3, 4)[2 : 2**62 : 2**62].shape,
]


@pytest.mark.torch
@pytest.mark.parametrize("case", VIEWS + COMPLEX + IN_PLACE + PLACED + SECTIONS)
def test_like_torch(case):
    check(case)


GRADIENTS = [
    lambda x: x.transpose(0, 2),
    lambda x: x.permute(2, 0, 1),
    lambda x: x.expand(5, 2, 3, 2),
    lambda x: x[:, :1].expand(2, 4, 2),
    lambda x: x.reshape(-1) * x.view(-1),
    lambda x: x.unsqueeze(1).squeeze(1).squeeze(),
    lambda x: x.select(1, 2) * 2,
    lambda x: x[:, 1:, ::2],
    lambda x: x.diagonal(1, 0, 1),
    lambda x: x.unfold(1, 2, 1),
    lambda x: x.unfold(1, 1, 2),
    lambda x: x.unfold(1, 3, 1),
    lambda x: x.unbind(1)[1],
    lambda x: sum(x.split([1, 2], 1)[1].unbind()),
    lambda x: x.chunk(2, 1)[0],
    lambda x: x.as_strided((2, 2), (3, 1), 1),
    lambda x: x.as_strided((2, 3), (1, 1)),
    lambda x: taeda.select_scatter(x, x[0] * 2, 0, 1),
    lambda x: taeda.slice_scatter(x, x[:, :1] * 2, 1, 1, 2),
    lambda x: taeda.diagonal_scatter(x, x.diagonal() * 3),
    lambda x: taeda.as_strided_scatter(x, x[0, :2] * 2, (2, 2), (4, 1)),
    lambda x: taeda.diag_embed(x, 1, 0, 2),
    lambda x: taeda.view_as_real(taeda.complex(x, x * x)),
    lambda x: taeda.complex(x, x).conj().imag * x,
    lambda x: taeda.polar(x, x[0]).real,
    lambda x: (x * 1).transpose_(0, 1).unsqueeze_(0).squeeze_(0).t() if x.dim() == 2 else (x * 1).transpose_(0, 1),
    lambda x: taeda.unsafe_split(x * 1, 2, 1)[0].mul_(2),
]


@pytest.mark.parametrize("function", GRADIENTS)
def test_gradients(function):
    x = (taeda.arange(12.0, dtype=taeda.float64) / 7 - 0.8).reshape(2, 3, 2).requires_grad_()
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


def test_views_share_memory():
    x = taeda.zeros(2, 3)
    x.t()[0, 1] = 5
    x.view(-1)[0] = 7
    x.unfold(1, 2, 1)[0, 1, 1] = 9
    assert x.tolist() == [[7, 0, 9], [5, 0, 0]]
    assert x.reshape(3, 2).data_ptr() == x.data_ptr()
    assert x.t().reshape(6).data_ptr() != x.data_ptr()


def test_in_place_through_views_reaches_the_base():
    x = taeda.ones(2, 3, requires_grad=True)
    y = x * 1
    y.t()[1].mul_(5)
    y.unsqueeze(0).select(2, 0).zero_()
    y.sum().backward()
    assert x.grad.tolist() == [[0, 5, 1]] * 2


def test_parts_of_complex_numbers_can_be_set():
    z = taeda.zeros(2, dtype=taeda.complex64)
    z.real = 1.0
    z.imag = taeda.tensor([2.0, 3.0])
    assert z.tolist() == [1 + 2j, 1 + 3j]


def test_resize_keeps_elements_and_refuses_gradients():
    x = taeda.arange(6)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    with pytest.raises(RuntimeError, match="requires grad"):
        taeda.ones(2, requires_grad=True).resize_(3)


@pytest.mark.parametrize("name", ["tensor_split", "chunk", "unsafe_chunk"])
def test_sections_without_elements_are_limited(name):
    with pytest.raises(RuntimeError, match="would be empty"):
        getattr(taeda, name)(taeda.ones(0), 2**31)


@pytest.mark.parametrize("dtype", [taeda.bool, taeda.int16, taeda.float32, taeda.int64, taeda.complex128])
@pytest.mark.parametrize("n", [1, 7, 64, 1001])
def test_flipped_rows(dtype, n):
    x = (taeda.arange(3 * n) % 97).to(dtype).view(3, n)
    backwards = taeda.arange(n - 1, -1, -1)
    assert taeda.equal(x.flip(1), x[:, backwards]) and taeda.equal(x.flip(0, 1), x[[2, 1, 0]][:, backwards])


def test_numbers_at_the_end_of_the_integers():
    most, x = 2**63 - 1, taeda.arange(6).reshape(2, 3)
    assert [piece.tolist() for piece in x.split(most)] == [x.tolist()]
    assert [piece.shape for piece in taeda.empty(most - 1, 0, device="meta").split(2**62)] == [
        (2**62, 0),
        (2**62 - 2, 0),
    ]
    assert x.unfold(0, 2, most // 2).tolist() == [[[0, 3], [1, 4], [2, 5]]]
    for call in (
        lambda: taeda.histogram(taeda.ones(2), most),
        lambda: taeda.matrix_power(taeda.eye(2), -most - 1),
        lambda: taeda.ops.aten._empty_affine_quantized([most], dtype=taeda.quint8, scale=0.5),
        lambda: taeda.ops.aten._empty_affine_quantized([2**62], dtype=taeda.qint32, scale=0.5),
    ):
        with pytest.raises(RuntimeError, match=r"bins|at most 2\*\*63|bytes"):
            call()
    assert taeda.equal(taeda.matrix_power(taeda.eye(2), -most), taeda.eye(2))
