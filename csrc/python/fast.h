// The straight path of generated bindings: positional plain tensors and numbers go to ops:: without a parser.
#pragma once
#include "python/parser.h"

namespace taeda::python {

struct TensorArg {
  PyObject* object;
  bool read(PyObject* from) {
    object = from;
    return is_quick(from);
  }
  const Tensor& get() const { return unwrap(object); }
};

struct OptTensorArg {
  PyObject* object;
  bool read(PyObject* from) {
    object = from;
    return from == Py_None || is_quick(from);
  }
  const Tensor& get() const {
    static const Tensor kUndefined;
    return object == Py_None ? kUndefined : unwrap(object);
  }
};

struct ScalarArg {
  Scalar value;
  bool read(PyObject* from) { return read_scalar(from, value); }
  const Scalar& get() const { return value; }
};

struct IntArg {
  int64_t value;
  bool read(PyObject* from) {
    if (!PyLong_CheckExact(from)) return false;
    int overflow;
    value = PyLong_AsLongLongAndOverflow(from, &overflow);
    return !overflow;
  }
  int64_t get() const { return value; }
};

struct BoolArg {
  bool value;
  bool read(PyObject* from) {
    value = from == Py_True;
    return PyBool_Check(from);
  }
  bool get() const { return value; }
};

struct FloatArg {
  double value;
  bool read(PyObject* from) {
    if (PyFloat_CheckExact(from)) {
      value = PyFloat_AS_DOUBLE(from);
      return true;
    }
    IntArg integer;
    if (!integer.read(from)) return false;
    value = static_cast<double>(integer.value);
    return true;
  }
  double get() const { return value; }
};

constexpr size_t kMaxInts = 8;
bool read_ints(PyObject* const* items, Py_ssize_t n, int64_t* values, size_t& count);
bool read_int_list(PyObject* from, int lone, int64_t* values, size_t& count);
// A tuple or list of ints; with `lone` also one int, `lone` times.
template <int lone>
struct IntListArg {
  int64_t values[kMaxInts];
  size_t count;
  bool read(PyObject* from) { return read_int_list(from, lone, values, count); }
  bool read_items(PyObject* const* items, Py_ssize_t n) { return read_ints(items, n, values, count); }
  IntList get() const { return {values, count}; }
};

struct DTypeArg {
  DType value;
  bool read(PyObject* from) {
    if (!is_dtype(from)) return false;
    value = to_dtype(from);
    return true;
  }
  DType get() const { return value; }
};

// Above this many elements a call is long enough to let other Python threads run meanwhile.
constexpr int64_t kReleaseGilAbove = 1 << 15;

inline int64_t work(const TensorArg& arg) { return arg.get().numel(); }
inline int64_t work(const OptTensorArg& arg) { return arg.get().defined() ? arg.get().numel() : 0; }

inline PyObject* wrap_result(const Name&, const Op&, Tensor&& result) { return wrap(std::move(result)); }
inline PyObject* wrap_result(const Name&, const Op&, bool result) { return PyBool_FromLong(result); }
inline PyObject* wrap_result(const Name&, const Op&, int64_t result) { return PyLong_FromLongLong(result); }
inline PyObject* wrap_result(const Name&, const Op&, double result) { return PyFloat_FromDouble(result); }
inline PyObject* wrap_result(const Name&, const Op&, Scalar result) { return wrap(result); }
inline PyObject* wrap_result(const Name&, const Op&, DType result) { return wrap(result); }
PyObject* wrap_result(const Name& name, const Op& op, std::vector<Tensor>&& result);
template <class... Ts>
PyObject* wrap_result(const Name& name, const Op& op, std::tuple<Ts...>&& result) {
  return std::apply(
      [&](Ts&... parts) {
        Value values[] = {Value(std::move(parts))...};
        return wrap_results(name, op, values);
      },
      result);
}

// Runs a functional op for Python.
template <class Call>
[[gnu::always_inline]] inline PyObject* run(const Name& name, const Op& op, int64_t work, Call&& call) noexcept {
  try {
    auto result = [&] {
      NoGil unlocked(work > kReleaseGilAbove);
      return call();
    }();
    return wrap_result(name, op, std::move(result));
  } catch (...) {
    translate_exception(name.where);
    return nullptr;
  }
}

// Runs an in-place op for Python; the result is `self`.
template <class Call>
[[gnu::always_inline]] inline PyObject* run_inplace(const Name& name, int64_t work, PyObject* self,
                                                    Call&& call) noexcept {
  try {
    NoGil unlocked(work > kReleaseGilAbove);
    call();
  } catch (...) {
    translate_exception(name.where);
    return nullptr;
  }
  Py_INCREF(self);
  return self;
}

// A straight path gives null without an error set when the call is not of its form.
using Fast = PyObject* (*)(PyObject* const* args, Py_ssize_t n);

template <Fast fast, const Name& name>
PyObject* function(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
  if (!names && fast_path_blockers == 0) [[likely]] {
    PyObject* result = fast(args, n);
    if (result || PyErr_Occurred()) return result;
  }
  return parse_and_call(name, args, n, names, false);
}

template <Fast fast, const Name& name>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) noexcept {
  if (!names && n < kMethodRoom && fast_path_blockers == 0) [[likely]] {
    PyObject* all[kMethodRoom];
    all[0] = self;
    for (Py_ssize_t i = 0; i < n; ++i) all[i + 1] = args[i];
    PyObject* result = fast(all, n + 1);
    if (result || PyErr_Occurred()) return result;
  }
  return parse_method(name, self, args, n, names);
}

}  // namespace taeda::python
