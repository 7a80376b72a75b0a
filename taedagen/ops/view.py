"""Views: another geometry over the same storage."""

from taedagen.opdef import *


@view("alias(Tensor(a) self) -> Tensor(a)", variants="function", shape="same", unbound=True)
def alias(self):
    """The same tensor under a new handle."""

@alias.backward
def _(grad): return {"self": grad}


@view("as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
      variants="function method", shape="as_strided")
def as_strided(self, size, stride, storage_offset):
    """A view with the given sizes, strides and offset (in elements) over the storage of ``self``."""

@as_strided.backward
def _(grad, self, size, stride, storage_offset):
    return {"self": op.as_strided_backward(grad, self.sizes(), self.strides(), self.storage_offset(), size, stride,
                                           storage_offset)}


@view("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", variants="function method", shape="transpose")
def transpose(self, dim0, dim1):
    """A view with two dimensions swapped."""

@transpose.backward
def _(grad, dim0, dim1): return {"self": grad.transpose(dim0, dim1)}


@view("t(Tensor(a) self) -> Tensor(a)", variants="function method", shape="t")
def t(self):
    """The transpose of a matrix; vectors and numbers stay as they are."""

@t.backward
def _(grad): return {"self": grad.t()}


@view("permute(Tensor(a) self, int[] dims) -> Tensor(a)", variants="function method", shape="permute")
def permute(self, dims):
    """A view with the dimensions in the order of ``dims``."""

@permute.backward
def _(grad, dims): return {"self": op.permute_backward(grad, dims)}


@view("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", variants="method", shape="expand")
def expand(self, size, implicit):
    """A view in which dimensions of size 1 repeat, without copies, up to ``size``; -1 keeps a size."""

@expand.backward
def _(grad, self): return {"self": op.sum_to_size(grad, self.sizes())}


@view("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", variants="method", shape="view")
def view_(self, size):
    """A view of another shape with as many elements; RuntimeError if the strides cannot express it."""

@view_.backward
def _(grad, self): return {"self": grad.reshape(self.sizes())}


@view("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", variants="function method", shape="unsqueeze")
def unsqueeze(self, dim):
    """A view with a dimension of size 1 inserted at ``dim``."""

@unsqueeze.backward
def _(grad, dim): return {"self": grad.squeeze(dim)}


@view("squeeze(Tensor(a) self) -> Tensor(a)", variants="function method", shape="squeeze")
def squeeze(self):
    """A view without the dimensions of size 1."""

@squeeze.backward
def _(grad, self): return {"self": grad.reshape(self.sizes())}


@view("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", variants="function method", shape="squeeze")
def squeeze(self, dim):
    """A view without dimension ``dim`` where that has size 1."""

@squeeze.backward
def _(grad, self): return {"self": grad.reshape(self.sizes())}


@view("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", variants="function method", shape="squeeze")
def squeeze(self, dim):
    """A view without those of the dimensions ``dim`` that have size 1."""

@squeeze.backward
def _(grad, self): return {"self": grad.reshape(self.sizes())}


@view("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", variants="function method", shape="select")
def select(self, dim, index):
    """The slice at ``index`` of dimension ``dim``, without that dimension."""

@select.backward
def _(grad, self, dim, index): return {"self": op.select_backward(grad, self.sizes(), dim, index)}


@view("slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
      variants="method", shape="slice", unbound=True)
def slice_(self, dim, start, end, step):
    """Every ``step``-th slice of dimension ``dim`` from ``start`` to before ``end``."""

@slice_.backward
def _(grad, self, dim, start, end, step): return {"self": op.slice_backward(grad, self.sizes(), dim, start, end, step)}


@view("detach(Tensor(a) self) -> Tensor(a)", variants="function method", shape="same", not_differentiable=True)
def detach(self):
    """The same values, cut off from the history of ``self``."""


@composite("sum_to_size(Tensor self, SymInt[] size) -> Tensor", variants="method", files="view")
def sum_to_size(self, size):
    """Sums away the dimensions that broadcasting from ``size`` added."""


@composite("as_strided_backward(Tensor grad, SymInt[] input_size, SymInt[] input_stride, SymInt input_offset, SymInt[] size, "
           "SymInt[] stride, SymInt? storage_offset) -> Tensor", files="view", unbound=True)
def as_strided_backward(grad, input_size, input_stride, input_offset, size, stride, storage_offset):
    """The gradient of ``as_strided``: summed where elements were shown more than once."""


@composite("permute_backward(Tensor grad, int[] dims) -> Tensor", files="view", unbound=True)
def permute_backward(grad, dims):
    """The inverse permutation."""


@composite("select_backward(Tensor grad, SymInt[] input_sizes, int dim, SymInt index) -> Tensor", files="view", unbound=True)
def select_backward(grad, input_sizes, dim, index):
    """Zeros with ``grad`` at one position of a dimension."""


@composite("slice_backward(Tensor grad, SymInt[] input_sizes, int dim, SymInt? start, SymInt? end, SymInt step) -> Tensor",
           files="view", unbound=True)
def slice_backward(grad, input_sizes, dim, start, end, step):
    """Zeros with ``grad`` in a slice of a dimension."""


@composite("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", variants="function method", files="view")
def reshape(self, shape):
    """A view of the shape where the strides allow it, else a copy; one size may be -1."""
