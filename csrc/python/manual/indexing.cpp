// x[...] and x[...] = v. Integers, slices, None and ... become views; tensors, masks and sequences one index call over
// what the views left.
#include "api/ops.h"
#include "python/engine_room.h"
#include "python/manual/factories.h"
#include "python/parser.h"
#include "python/types.h"

namespace taeda::python {
namespace {

struct Selection {
  Tensor view;
  std::vector<Tensor> indices;  // per dimension of `view`; undefined: all of it
  bool has_indices() const { return !indices.empty(); }
};

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

bool is_index_tensor(const Tensor& t) { return category(t.dtype()) <= Category::Integral; }

int64_t as_position(PyObject* object) {
  Owned index(check(PyNumber_Index(object)));
  int64_t value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) throw PythonError();
  return value;
}

std::optional<int64_t> slice_bound(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  if (!PyIndex_Check(object))
    TAEDA_FAIL(Type, "slice bounds must be ints or None, got ", Py_TYPE(object)->tp_name);
  Owned index(check(PyNumber_Index(object)));
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  return overflow < 0 ? INT64_MIN / 2 : overflow > 0 ? INT64_MAX / 2 : value;
}

Tensor apply_slice(const Tensor& self, int64_t dim, PyObject* slice) {
  auto* parts = reinterpret_cast<PySliceObject*>(slice);
  std::optional<int64_t> start = slice_bound(parts->start), stop = slice_bound(parts->stop), step = slice_bound(parts->step);
  return ops::slice(self, dim, start, stop, step.value_or(1));
}

// One item of an index that is not a plain integer, slice, None or ...: as a tensor of positions or a mask.
Tensor as_index(PyObject* item, Device device) {
  Tensor t = is_tensor(item) ? unwrap(item) : tensor_from(item, std::nullopt, std::nullopt);
  if (!is_tensor(item) && t.numel() == 0 && is_floating(t.dtype())) t = ops::_to_copy(t, DType::Int64);
  TAEDA_CHECK_INDEX(is_index_tensor(t), "tensors used as indices must be integer or bool, got ", t.dtype());
  if (t.device() != device && t.is_cpu() && device.type != DeviceType::CPU && t.dim() > 0) return t;
  return t;
}

bool is_plain_item(PyObject* item) {
  return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || PyBool_Check(item) || PyLong_Check(item);
}

bool is_position(PyObject* item) {
  if (PyLong_Check(item)) return !PyBool_Check(item);
  if (is_tensor(item)) return unwrap(item).dim() == 0 && is_index_tensor(unwrap(item)) && !is_mask(unwrap(item));
  return !PySequence_Check(item) && PyIndex_Check(item) && Py_TYPE(item)->tp_as_number->nb_bool == nullptr;
}

// NumPy's integer scalars are positions though they look like arrays.
bool is_numpy_integer(PyObject* item) {
  return !is_tensor(item) && !PyLong_Check(item) && PyIndex_Check(item) && !PySequence_Check(item);
}

// How many dimensions of the tensor the items stand for.
int64_t dims_taken(std::span<PyObject* const> items) {
  int64_t count = 0;
  for (PyObject* item : items) {
    if (item == Py_None || item == Py_Ellipsis || PyBool_Check(item)) continue;
    if (is_tensor(item) && is_mask(unwrap(item)))
      count += unwrap(item).dim();
    else
      ++count;
  }
  return count;
}

void put_index(Selection& selection, int64_t dim, Tensor index) {
  selection.indices.resize(static_cast<size_t>(dim) + 1);
  selection.indices[static_cast<size_t>(dim)] = std::move(index);
}

Selection select(const Tensor& self, std::span<PyObject* const> items) {
  Selection result{self, {}};
  int64_t taken = dims_taken(items);
  TAEDA_CHECK_INDEX(taken <= self.dim(), "too many indices (", taken, ") for a tensor of ", self.dim(), " dimensions");
  int64_t dim = 0;
  bool ellipsis_seen = false;
  for (PyObject* item : items) {
    if (item == Py_Ellipsis) {
      TAEDA_CHECK_INDEX(!ellipsis_seen, "an index can have only one ellipsis (...)");
      ellipsis_seen = true;
      dim += self.dim() - taken;
    } else if (item == Py_None) {
      result.view = ops::unsqueeze(result.view, dim++);
    } else if (PyBool_Check(item)) {
      result.view = ops::unsqueeze(result.view, dim);
      put_index(result, dim++, ops::full(item == Py_True ? kValues<int64_t, 1> : kValues<int64_t, 0>, Scalar(0), DType::Int64));
    } else if (PySlice_Check(item)) {
      result.view = apply_slice(result.view, dim++, item);
    } else if (is_position(item) || is_numpy_integer(item)) {
      result.view = ops::select(result.view, dim, as_position(item));
    } else {
      Tensor index = as_index(item, self.device());
      int64_t covered = is_mask(index) ? std::max<int64_t>(index.dim(), 1) : 1;
      if (is_mask(index) && index.dim() == 0) result.view = ops::unsqueeze(result.view, dim);
      put_index(result, dim, index);
      dim += covered;
    }
  }
  return result;
}

// The items of an index; `held` keeps a tuple alive that had to be made.
std::span<PyObject* const> items_of(PyObject*& index) {
  if (PyTuple_Check(index)) return {&PyTuple_GET_ITEM(index, 0), static_cast<size_t>(PyTuple_GET_SIZE(index))};
  return {&index, 1};
}

PyObject* protocol(const char* method, std::initializer_list<PyObject*> args, const Overloaded& overloaded) {
  Owned function(check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_base_type), method)));
  return call_torch_function(function.get(), overloaded, args.begin(), static_cast<Py_ssize_t>(args.size()), nullptr);
}

Overloaded overloaded_of(PyObject* self, PyObject* index, PyObject* value) {
  Overloaded overloaded;
  overloaded.note(self);
  for (PyObject* item : items_of(index)) overloaded.note(item);
  if (value) overloaded.note(value);
  return overloaded;
}

PyObject* getitem(PyObject* self, PyObject* index) noexcept {
  return guarded("Tensor.__getitem__", [&]() -> PyObject* {
    bool quick = is_quick(self) && fast_path_blockers == 0;
    if (quick && PyLong_CheckExact(index)) {
      int overflow;
      int64_t position = PyLong_AsLongLongAndOverflow(index, &overflow);
      if (!overflow) return wrap(ops::select(unwrap(self), 0, position));
    }
    Overloaded overloaded;
    if (!quick || !is_plain_item(index)) {
      overloaded = overloaded_of(self, index, nullptr);
      if (overloaded.must_dispatch()) return protocol("__getitem__", {self, index}, overloaded);
    }
    Selection selection = select(unwrap(self), items_of(index));
    Tensor result = selection.has_indices() ? ops::index(selection.view, selection.indices)
                    : selection.view.is(unwrap(self)) ? ops::alias(selection.view)
                                                      : selection.view;
    PyObject* wrapped = wrap(std::move(result));
    return overloaded.subclass ? convert_results(wrapped, overloaded.subclass) : wrapped;
  });
}

// Leading dimensions of size 1 that the target lacks are dropped, as assignment broadcasts from the back.
Tensor fit_value(Tensor value, int64_t dims) {
  while (value.dim() > dims && value.sizes()[0] == 1) value = ops::squeeze(value, int64_t{0});
  return value;
}

void assign(const Selection& selection, PyObject* object) {
  const Tensor& target = selection.view;
  Scalar number;
  bool is_number = !is_tensor(object) && (PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object));
  if (is_number && !selection.has_indices()) {
    const Param param{"value", ArgType::Scalar, false, false, false, false, 0, nullptr};
    Value value;
    if (!read_value(object, param, value, nullptr, false)) TAEDA_FAIL(Type, "a ", Py_TYPE(object)->tp_name, " cannot be stored");
    number = value.to_scalar();
    TAEDA_CHECK(number.category() != Category::Complex || is_complex(target.dtype()), "a complex number cannot be stored in a ",
                target.dtype(), " tensor");
    return ops::fill_(target, number);
  }
  Tensor value = is_tensor(object) ? unwrap(object) : tensor_from(object, target.dtype(), target.device());
  if (!selection.has_indices()) return ops::copy_(target, fit_value(value, target.dim()));
  if (value.device() != target.device() && value.dim() == 0) value = ops::_to_copy(value, std::nullopt, std::nullopt, target.device());
  if (value.dtype() != target.dtype() && (value.dim() == 0 || !is_tensor(object))) value = ops::_to_copy(value, target.dtype());
  ops::index_put_(target, selection.indices, value);
}

int setitem(PyObject* self, PyObject* index, PyObject* value) noexcept {
  PyObject* done = guarded("Tensor.__setitem__", [&]() -> PyObject* {
    TAEDA_CHECK_TYPE(value != nullptr, "elements of a tensor cannot be deleted");
    if (!is_quick(self) || fast_path_blockers || !is_plain_item(index) || !is_quick(value)) {
      Overloaded overloaded = overloaded_of(self, index, value);
      if (overloaded.must_dispatch()) return protocol("__setitem__", {self, index, value}, overloaded);
    }
    assign(select(unwrap(self), items_of(index)), value);
    return Py_NewRef(Py_None);
  });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

}  // namespace

int init_indexing(PyObject*) {
  tensor_mapping.mp_subscript = getitem;
  tensor_mapping.mp_ass_subscript = setitem;
  return 0;
}

}  // namespace taeda::python
