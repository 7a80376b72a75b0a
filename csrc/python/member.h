// Methods and getters of TensorBase that are not ops: plain tensors go straight to the function, others are first
// asked through __torch_function__.
#pragma once
#include <algorithm>

#include "python/torch_function.h"
#include "python/types.h"

namespace taeda::python {

template <size_t N>
struct Text {
  char chars[N]{};
  constexpr Text(const char (&text)[N]) { std::copy_n(text, N, chars); }
};
// In messages: "Tensor.item".
template <size_t N>
constexpr auto of_tensor(const Text<N>& name) {
  char chars[N + 7] = "Tensor.";
  std::copy_n(name.chars, N, chars + 7);
  return Text<N + 7>(chars);
}
template <Text name>
inline constexpr auto kWhere = of_tensor(name);

inline bool is_quick_call(PyObject* self) { return is_quick(self) && fast_path_blockers == 0; }
// Null without an error when nobody wants to handle the call.
PyObject* ask_protocol(PyObject* self, const char* name, bool is_getter, PyObject* const* args, Py_ssize_t count,
                       PyObject* keyword_names);
// What a property of a tensor subclass gives: tensors become the subclass, but for gradients and bases. Steals
// `result`.
PyObject* convert_property(PyObject* self, const char* name, PyObject* result);

template <PyObject* (*body)(const Tensor&), Text name>
PyObject* getter(PyObject* self, void*) {
  if (!is_quick_call(self)) [[unlikely]] {
    PyObject* result = ask_protocol(self, name.chars, true, nullptr, 0, nullptr);
    if (result || PyErr_Occurred()) return result;
  }
  PyObject* result = guarded(kWhere<name>.chars, [&] { return body(unwrap(self)); });
  return is_quick(self) ? result : convert_property(self, name.chars, result);
}

template <PyObject* (*body)(PyObject* self), Text name>
PyObject* no_arguments(PyObject* self, PyObject*) {
  if (!is_quick_call(self)) [[unlikely]] {
    PyObject* result = ask_protocol(self, name.chars, false, nullptr, 0, nullptr);
    if (result || PyErr_Occurred()) return result;
  }
  return guarded(kWhere<name>.chars, [&] { return body(self); });
}

template <PyObject* (*body)(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*), Text name>
PyObject* some_arguments(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) {
  if (!is_quick_call(self)) [[unlikely]] {
    PyObject* result = ask_protocol(self, name.chars, false, args, count, keyword_names);
    if (result || PyErr_Occurred()) return result;
  }
  return guarded(kWhere<name>.chars, [&] { return body(self, args, count, keyword_names); });
}

// Table rows.
template <PyObject* (*body)(PyObject*), Text name>
constexpr PyMethodDef method(const char* doc) {
  return {name.chars, no_arguments<body, name>, METH_NOARGS, doc};
}
template <PyObject* (*body)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*), Text name>
PyMethodDef method(const char* doc) {
  return {name.chars, as_method(some_arguments<body, name>), METH_FASTCALL | METH_KEYWORDS, doc};
}
template <PyObject* (*body)(const Tensor&), Text name>
constexpr PyGetSetDef property(const char* doc) {
  return {name.chars, getter<body, name>, nullptr, doc, nullptr};
}

// A tensor whose elements can be read here: on the CPU, with its lazy bits carried out.
Tensor readable(const Tensor& tensor);

}  // namespace taeda::python
