// x[...] and x[...] = v. Integers, slices, None and ... become views; tensors, masks and sequences one index call over
// what the views left.
#include <algorithm>

#include "python/manual/factories.h"
#include "python/module_parts.h"
#include "python/parser.h"
#include "python/symbols.h"
#include "python/types.h"
#include "shape/view_rules.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::python {
namespace {

struct Selection {
  Tensor view;
  std::vector<Tensor> indices;  // per dimension of `view`; undefined: all of it
  bool has_indices() const { return !indices.empty(); }
};

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// A symbol's value is taken as it is: the recorder is told of the symbol, so that nothing is lost.
Owned as_index_number(PyObject* object) {
  if (is_symbol(object)) return symbol_value(object);
  if (size_recorders > 0 && is_tensor(object)) [[unlikely]]
    if (Owned symbol = recorded_number(object)) return symbol_value(symbol.get());
  return Owned(check(PyNumber_Index(object)));
}

int64_t as_position(PyObject* object) {
  Owned index(as_index_number(object));
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  TAEDA_CHECK_VALUE(!overflow, "an index must fit into 64 bits");
  return value;
}

std::optional<int64_t> slice_bound(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  if (!PyIndex_Check(object)) TAEDA_FAIL(Type, "slice bounds must be ints or None, got ", Py_TYPE(object)->tp_name);
  Owned index(as_index_number(object));
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  return overflow < 0 ? INT64_MIN / 2 : overflow > 0 ? INT64_MAX / 2 : value;
}

Tensor apply_slice(const Tensor& self, int64_t dim, PyObject* slice) {
  auto* parts = reinterpret_cast<PySliceObject*>(slice);
  std::optional<int64_t> start = slice_bound(parts->start), stop = slice_bound(parts->stop),
                         step = slice_bound(parts->step);
  GivenSymbols given;
  given.note("start", parts->start, true);
  given.note("end", parts->stop, true);
  given.note("step", parts->step, true);
  given.tell("aten::slice", "Tensor");
  return ops::slice(self, dim, start, stop, step.value_or(1));
}

bool is_plain_item(PyObject* item) {
  return item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || PyBool_Check(item) || PyLong_Check(item);
}

// NumPy's integers and whatever else has __index__ are positions; arrays and sequences become tensors.
bool is_position(PyObject* item) {
  if (PyLong_Check(item)) return !PyBool_Check(item);
  return !is_tensor(item) && !PySequence_Check(item) && PyIndex_Check(item);
}

// A tensor, array or sequence as positions or a mask. Numbers of a sequence are cut to integers.
Tensor as_index(PyObject* item) {
  if (!is_tensor(item)) {
    TAEDA_CHECK_INDEX(PySequence_Check(item),
                      "an index must be made of ints, slices, None, ..., tensors, arrays and sequences; got ",
                      Py_TYPE(item)->tp_name);
    Tensor t = tensor_from(item, std::nullopt, std::nullopt);
    return is_floating(t.dtype()) ? ops::_to_copy(t, DType::Int64) : t;
  }
  const Tensor& t = unwrap(item);
  if (t.dim() == 0 && is_integral(t.dtype()) && !is_mask(t)) return ops::_to_copy(t, DType::Int64);
  TAEDA_CHECK_INDEX(t.dtype() == DType::Int64 || t.dtype() == DType::Int32 || is_mask(t),
                    "tensors used as indices must be int64, int32, bool or uint8; got ", t.dtype());
  return t;
}

// The tensor for each item that is no plain one, undefined for the others.
std::vector<Tensor> tensors_of(std::span<PyObject* const> items) {
  std::vector<Tensor> result(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    if (!is_plain_item(items[i]) && !is_position(items[i])) result[i] = as_index(items[i]);
  return result;
}

// How many dimensions of the tensor the items stand for.
int64_t dims_taken(std::span<PyObject* const> items, const std::vector<Tensor>& tensors) {
  int64_t count = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] == Py_None || items[i] == Py_Ellipsis || PyBool_Check(items[i])) continue;
    count += tensors[i].defined() && is_mask(tensors[i]) ? tensors[i].dim() : 1;
  }
  return count;
}

void put_index(Selection& selection, int64_t dim, Tensor index) {
  int64_t covered = 0;  // a mask before it is one index of several dimensions
  for (const Tensor& t : selection.indices) covered += t.defined() && is_mask(t) ? t.dim() : 1;
  selection.indices.resize(selection.indices.size() + static_cast<size_t>(dim - covered));
  selection.indices.push_back(std::move(index));
}

// A truth value takes a new dimension of size 1, or none of it.
void put_truth(Selection& selection, int64_t dim, const Tensor& positions) {
  selection.view = ops::unsqueeze(selection.view, dim);
  put_index(selection, dim, positions);
}

Tensor positions_of_truth(bool value) {
  return ops::full(value ? kValues<int64_t, 1> : kValues<int64_t, 0>, Scalar(0), DType::Int64);
}

void take_tensor(Selection& selection, int64_t& dim, const Tensor& index) {
  if (index.dim() > 0) {
    put_index(selection, dim, index);
    dim += is_mask(index) ? index.dim() : 1;
  } else if (is_mask(index)) {
    put_truth(selection, dim++, ops::select(ops::nonzero(ops::unsqueeze(index, 0)), 1, 0));
  } else if (index.keys().has(Functionality::Python)) {  // its class knows what it holds: one example's position
    put_index(selection, dim++, index);
  } else {
    selection.view = ops::select(selection.view, dim, shape::integers_of(index)[0]);
  }
}

Selection select(const Tensor& self, std::span<PyObject* const> items) {
  Selection result{self, {}};
  std::vector<Tensor> tensors = tensors_of(items);
  int64_t taken = dims_taken(items, tensors);
  TAEDA_CHECK_INDEX(taken <= self.dim(), "too many indices (", taken, ") for a tensor of ", self.dim(), " dimensions");
  int64_t dim = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    PyObject* item = items[i];
    if (item == Py_Ellipsis) {
      dim += self.dim() - taken;
    } else if (item == Py_None) {
      result.view = ops::unsqueeze(result.view, dim++);
    } else if (PyBool_Check(item)) {
      put_truth(result, dim++, positions_of_truth(item == Py_True));
    } else if (PySlice_Check(item)) {
      result.view = apply_slice(result.view, dim++, item);
    } else if (tensors[i].defined()) {
      take_tensor(result, dim, tensors[i]);
    } else {
      GivenSymbols given;
      given.note("index", item, false);
      given.tell("aten::select", "int");
      result.view = ops::select(result.view, dim, as_position(item));
    }
  }
  return result;
}

// A list stands for a tuple if it holds anything but numbers, as PyTorch and old NumPy have it.
bool list_is_tuple(PyObject* list) {
  constexpr Py_ssize_t kLongest = 31;
  if (PyList_GET_SIZE(list) > kLongest) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (is_tensor(item) || PySequence_Check(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None)
      return true;
  }
  return false;
}

// The items of an index, kept alive here: a list's could change while tensors are made of them.
class Items {
 public:
  explicit Items(PyObject* index) : index_(index) {
    if (PyList_Check(index) && list_is_tuple(index)) {
      tuple_ = Owned(check(PyList_AsTuple(index)));
      index_ = tuple_.get();
    }
  }
  std::span<PyObject* const> span() const {
    if (PyTuple_Check(index_)) return {&PyTuple_GET_ITEM(index_, 0), static_cast<size_t>(PyTuple_GET_SIZE(index_))};
    return {&index_, 1};
  }

 private:
  PyObject* index_;
  Owned tuple_;
};

PyObject* protocol(const char* method, std::initializer_list<PyObject*> args, const Overloaded& overloaded) {
  Owned function(check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_base_type), method)));
  return call_torch_function(function.get(), overloaded, args.begin(), static_cast<Py_ssize_t>(args.size()), nullptr);
}

Overloaded overloaded_of(PyObject* self, PyObject* index, PyObject* value) {
  Overloaded overloaded;
  overloaded.note(self);
  Items items(index);
  for (PyObject* item : items.span()) overloaded.note(item);
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
    Items items(index);
    Selection selection = select(unwrap(self), items.span());
    Tensor result = selection.has_indices()           ? ops::index(selection.view, selection.indices)
                    : selection.view.is(unwrap(self)) ? ops::alias(selection.view)
                                                      : selection.view;
    PyObject* wrapped = wrap(std::move(result));
    return overloaded.subclass ? convert_results(wrapped, overloaded.subclass) : wrapped;
  });
}

// Leading dimensions of size 1 are dropped, as assignment broadcasts from the back.
Tensor fit_value(Tensor value) {
  while (value.dim() > 0 && value.sizes()[0] == 1) value = ops::squeeze(value, int64_t{0});
  return value;
}

// x[mask] = number, without going through positions.
bool fill_by_mask(const Selection& selection, const Tensor& value) {
  const Tensor& mask = selection.indices.back();
  if (value.numel() != 1 || mask.dtype() != DType::Bool) return false;
  int64_t first = static_cast<int64_t>(selection.indices.size()) - 1;
  if (first + mask.dim() > selection.view.dim()) return false;
  for (int64_t d = 0; d < first; ++d)
    if (selection.indices[d].defined()) return false;
  for (int64_t d = 0; d < mask.dim(); ++d)
    if (mask.sizes()[d] != selection.view.sizes()[first + d]) return false;
  std::vector<int64_t> sizes(mask.sizes().begin(), mask.sizes().end());
  sizes.resize(static_cast<size_t>(selection.view.dim() - first), 1);
  DType dtype = selection.view.dtype();
  Tensor number = ops::reshape(value.dtype() == dtype ? value : ops::_to_copy(value, dtype), {});
  ops::masked_fill_(selection.view, ops::reshape(mask, sizes), number);
  return true;
}

void check_storable(bool is_complex_value, const Tensor& target) {
  TAEDA_CHECK(!is_complex_value || is_complex(target.dtype()), "a complex number cannot be stored in a ",
              target.dtype(), " tensor");
}

// ValueError for an int that takes more bits than the largest integers of the kind that `dtype` holds.
Scalar as_integer(PyObject* object, DType dtype) {
  int overflow;
  int64_t value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (!overflow) return Scalar(value);
  if (overflow > 0 && dtype == DType::UInt64) {
    uint64_t large = PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) return Scalar(large);
    PyErr_Clear();
  }
  TAEDA_FAIL(Value, "an int that does not fit in 64 bits cannot be stored in a ", dtype, " tensor");
}

bool is_integer(PyObject* object) { return PyLong_Check(object) && !PyBool_Check(object); }

Scalar as_number(PyObject* object, DType dtype) {
  if (is_integer(object)) return as_integer(object, dtype);
  Scalar number;
  TAEDA_CHECK_TYPE(read_number(object, number), "a ", Py_TYPE(object)->tp_name, " cannot be stored");
  return number;
}

bool is_number(PyObject* object) {
  return PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object);
}

void assign(const Selection& selection, PyObject* object) {
  const Tensor& target = selection.view;
  if (!is_tensor(object)) check_storable(PyComplex_Check(object), target);
  // fill_ refuses what is too large for a half type; here it becomes infinity, by way of a tensor.
  bool is_half = target.dtype() == DType::Float16 || target.dtype() == DType::BFloat16;
  if (is_number(object) && !selection.has_indices() && !is_half)
    return ops::fill_(target, as_number(object, target.dtype()));
  if (is_integer(object)) (void)as_integer(object, target.dtype());
  Tensor value = is_tensor(object) ? unwrap(object) : tensor_from(object, target.dtype(), target.device());
  if (!selection.has_indices()) {
    value = fit_value(value);  // expanded, as one that is part of what is written may be
    bool same = std::ranges::equal(value.sizes(), target.sizes());
    return ops::copy_(target, same ? value : ops::expand(value, target.sizes()));
  }
  check_storable(is_complex(value.dtype()), target);
  if (value.device() != target.device() && value.dim() == 0)
    value = ops::_to_copy(value, std::nullopt, std::nullopt, target.device());
  if (fill_by_mask(selection, value)) return;
  if (value.dtype() != target.dtype() && !is_tensor(object)) value = ops::_to_copy(value, target.dtype());
  ops::index_put_(target, selection.indices, fit_value(value));
}

int setitem(PyObject* self, PyObject* index, PyObject* value) noexcept {
  PyObject* done = guarded("Tensor.__setitem__", [&]() -> PyObject* {
    TAEDA_CHECK_TYPE(value != nullptr, "elements of a tensor cannot be deleted");
    if (!is_quick(self) || fast_path_blockers || !is_plain_item(index) || !is_quick(value)) {
      Overloaded overloaded = overloaded_of(self, index, value);
      if (overloaded.must_dispatch()) return protocol("__setitem__", {self, index, value}, overloaded);
    }
    Items items(index);
    TAEDA_CHECK_TYPE(unwrap(self)->layout() == Layout::Strided,
                     "elements of a sparse tensor cannot be set, as its slices are copies: make a new one from indices "
                     "and values, or to_dense() it");
    assign(select(unwrap(self), items.span()), value);
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
