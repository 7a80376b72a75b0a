// The full argument parser: table-driven by the ops' schemas, used when a call is not of the plainest form.
#pragma once
#include <atomic>
#include <span>

#include "python/exceptions.h"
#include "python/torch_function.h"
#include "taeda/dispatch/op.h"
#include "taeda/dispatch/type.h"

namespace taeda::python {

// One functional or in-place overload of a Python name and the variant that out= selects.
struct Overload {
  const Op* op;
  const Op* out;
};

struct ParsedName;

// A Python name: all its overloads in the order in which they are tried.
struct Name {
  const char* name;
  const char* where;  // in messages: "add", "nn.functional.silu", "Tensor.add_"
  const Overload* overloads;
  uint8_t overload_count;
  bool is_factory;         // takes requires_grad=
  int8_t number_place;     // of a tensor that may be given as a number in every overload (add(2, x)); -1 for none
  const char* old_factor;  // keyword of the number that once stood before the tensors (add(x, 2, y)); null for none
  mutable std::atomic<ParsedName*> parsed{nullptr};
  mutable PyObject* callable = nullptr;         // the public function, for __torch_function__
  mutable PyObject* method = nullptr;           // the method descriptor
  mutable PyTypeObject* result_type = nullptr;  // of several named results
};

// A method's arguments, fewer than these, are put behind `self` without memory of their own.
constexpr Py_ssize_t kMethodRoom = 12;

// All arguments stand in `args`, a method's self first; `names` are the last ones' keywords.
PyObject* parse_and_call(const Name& name, PyObject* const* args, Py_ssize_t n, PyObject* names, bool is_method);
// The same with `self` before the arguments.
PyObject* parse_method(const Name& name, PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names);

// Converts one object for a parameter; false (and `why`) when it does not fit. `type` says more where the parameter's
// constant data say Any.
bool read_value(PyObject* object, const Param& param, Value& value, std::string* why, TypePtr type = nullptr);

// An op object called from Python (taeda.ops.aten.add.Tensor): one overload, no protocol conversions. With `keys` the
// call goes to what serves that key set, or to what is in `slot`, instead of starting from its arguments.
PyObject* call_op(const Op& op, PyObject* const* args, Py_ssize_t n, PyObject* names, const KeySet* keys = nullptr,
                  uintptr_t slot = 0);

// Whether the arguments fit the op's schema.
bool takes_arguments(const Op& op, PyObject* const* args, Py_ssize_t n, PyObject* names);

PyObject* wrap_results(const Name& name, const Op& op, std::span<Value> results);
PyTypeObject* result_type_of(const Name& name, const Op& op);
// taeda.return_types.<name>, made from the op's schema at first; null if its results have no names.
PyTypeObject* result_type_named(const std::string& name, const Op& op);

// One int of a list; x.view(n, flag): only the first tells what the list is.
bool read_int_item(PyObject* item, bool is_first, int64_t& value);
bool read_scalar(PyObject* object, Scalar& scalar);  // exact Python numbers only
// Also what converts to one without loss of meaning: NumPy's, subclasses, tensors of one element.
bool read_number(PyObject* object, Scalar& scalar);

}  // namespace taeda::python
