// What the kernels for sparse layouts, which are written in Python (taeda/sparse/_kernels), ask of the core.
#include "taeda/core/sparse.h"

#include "python/module_parts.h"
#include "python/types.h"
#include "taeda/autograd/view.h"
#include "taeda/ops/view.h"

namespace taeda::python {
namespace {

void load_kernels() {
  WithGil locked;
  if (!before_first_sparse.load(std::memory_order_acquire)) return;
  call_python([] { return PyImport_ImportModule("taeda.sparse._kernels"); });
  before_first_sparse.store(nullptr, std::memory_order_release);
}

const Tensor& tensor_at(PyObject* object, const char* name) {
  TAEDA_CHECK_TYPE(is_tensor(object), name, " must be a tensor; got ", Py_TYPE(object)->tp_name);
  return unwrap(object);
}

SparseImpl& sparse_at(PyObject* object) {
  TAEDA_CHECK_TYPE(is_tensor(object), "takes a sparse tensor; got ", Py_TYPE(object)->tp_name);
  SparseImpl* impl = sparse_impl(unwrap(object));
  TAEDA_CHECK(impl, "takes a tensor of a sparse layout; got one of layout ",
              kLayoutNames[static_cast<int>(unwrap(object)->layout())]);
  return *impl;
}

// (layout, indices, plain or None, values, sizes, coalesced)
PyObject* make(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("sparse", [&] {
    TAEDA_CHECK_TYPE(count == 6, "takes six arguments");
    Layout layout = to_layout(args[0]);
    TAEDA_CHECK(layout != Layout::Strided && layout != Layout::Jagged, "the layout must be a sparse one; got ",
                kLayoutNames[static_cast<int>(layout)]);
    SparseImpl::Parts parts{tensor_at(args[1], "indices"), {}, tensor_at(args[3], "values")};
    if (args[2] != Py_None) parts.plain = tensor_at(args[2], "plain indices");
    std::vector<int64_t> sizes = to_sizes(args[4], "size");
    return wrap(new_sparse(layout, std::move(parts), sizes, to_flag(args[5], false)));
  });
}

PyObject* parts_of(PyObject*, PyObject* tensor) {
  return guarded("sparse", [&] {
    const SparseImpl::Parts& parts = sparse_at(tensor).parts();
    auto handle = [](const Tensor& t) { return wrap(t.defined() ? Tensor(t->shallow_copy()) : t); };
    Owned indices(handle(parts.indices)), plain(handle(parts.plain)), values(handle(parts.values));
    return check(PyTuple_Pack(3, indices.get(), plain.get(), values.get()));
  });
}

PyObject* dims_of(PyObject*, PyObject* tensor) {
  return guarded("sparse", [&] {
    const SparseImpl& impl = sparse_at(tensor);
    return check(Py_BuildValue("(LLL)", static_cast<long long>(impl.sparse_dim()),
                               static_cast<long long>(impl.dense_dim()), static_cast<long long>(impl.stored())));
  });
}

PyObject* is_coalesced(PyObject*, PyObject* tensor) {
  return guarded("sparse", [&] { return PyBool_FromLong(sparse_at(tensor).is_coalesced()); });
}

PyObject* set_coalesced(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("sparse", [&] {
    TAEDA_CHECK_TYPE(count == 2, "takes a tensor and a bool");
    sparse_at(args[0]).set_coalesced(to_flag(args[1], false));
    return Py_NewRef(args[0]);
  });
}

PyObject* row_pointers(PyObject*, PyObject* tensor) {
  return guarded("sparse", [&] { return wrap(sparse_at(tensor).row_pointers()); });
}

PyObject* set_row_pointers(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("sparse", [&] {
    TAEDA_CHECK_TYPE(count == 2, "takes a sparse tensor and a tensor");
    sparse_at(args[0]).set_row_pointers(tensor_at(args[1], "row pointers"));
    return Py_NewRef(args[0]);
  });
}

// The same parts under a new handle, without history.
PyObject* alias(PyObject*, PyObject* tensor) {
  return guarded("sparse", [&] { return wrap(Tensor(sparse_at(tensor).shallow_copy())); });
}

PyObject* assign(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("sparse", [&] {
    TAEDA_CHECK_TYPE(count == 2, "takes two sparse tensors");
    sparse_at(args[0]).take_data_of(sparse_at(args[1]));
    return Py_NewRef(args[0]);
  });
}

// (base, its transposed, two dimensions): the second counts as a view of the first, whose parts it shows.
PyObject* mark_transposed(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("sparse", [&] {
    TAEDA_CHECK_TYPE(count == 4, "takes two sparse tensors and two dimensions");
    sparse_at(args[0]);
    sparse_at(args[1]);
    int64_t first = to_int(args[2], "dim0"), second = to_int(args[3], "dim1");
    auto replay = autograd::make_replay([=](const Tensor& base) { return ops::transpose(base, first, second); });
    autograd::mark_view(unwrap(args[0]), unwrap(args[1]), std::move(replay), autograd::creation_now());
    return Py_NewRef(args[1]);
  });
}

PyMethodDef kFunctions[] = {{"_sparse_make", as_method(make), METH_FASTCALL, nullptr},
                            {"_sparse_parts", parts_of, METH_O, nullptr},
                            {"_sparse_dims", dims_of, METH_O, nullptr},
                            {"_sparse_is_coalesced", is_coalesced, METH_O, nullptr},
                            {"_sparse_set_coalesced", as_method(set_coalesced), METH_FASTCALL, nullptr},
                            {"_sparse_row_pointers", row_pointers, METH_O, nullptr},
                            {"_sparse_set_row_pointers", as_method(set_row_pointers), METH_FASTCALL, nullptr},
                            {"_sparse_alias", alias, METH_O, nullptr},
                            {"_sparse_mark_transposed", as_method(mark_transposed), METH_FASTCALL, nullptr},
                            {"_sparse_assign", as_method(assign), METH_FASTCALL, nullptr},
                            {}};

}  // namespace

int init_sparse(PyObject* module) {
  before_first_sparse.store(load_kernels, std::memory_order_release);
  return PyModule_AddFunctions(module, kFunctions);
}

}  // namespace taeda::python
