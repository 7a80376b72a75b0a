// The __torch_function__ protocol: which arguments want to take a call over.
#pragma once
#include <vector>

#include "python/object.h"

namespace taeda::python {

extern PyTypeObject* parameter_type;  // taeda.nn.Parameter, null until made

// How many function modes are pushed or how often the protocol was disabled, on any thread: the fast paths are off
// while it is not zero, and the full parser looks closer.
extern int fast_path_blockers;

// A tensor whose type needs no protocol: the fast path serves these two exact types.
inline bool is_quick(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type == tensor_type || (type == parameter_type && type != nullptr);
}

enum class Protocol { None, Plain, Disabled, Subclass, Custom };
// None: no tensor and no __torch_function__. Plain: taeda.Tensor itself. Disabled: opted out (Parameter). Subclass: a
// tensor subclass with the inherited protocol, whose results become the subclass. Custom: its own method.
Protocol protocol_of(PyObject* object);

// The arguments of one call that take part in the protocol.
struct Overloaded {
  std::vector<Owned> custom;         // subclasses before their bases
  PyTypeObject* subclass = nullptr;  // type for results when nobody has a custom method
  void note(PyObject* object);
  void note_all(PyObject* const* args, Py_ssize_t n);  // also what lists and tuples hold
  bool is_wanted() const;                              // a custom argument, or an active function mode
  // Likewise, but once not after skip_one_hop. `function` is the public callable, where that is known.
  bool must_dispatch(PyObject* function = nullptr) const;

 private:
  void note_custom(PyObject* object);
  PyObject* first_of_subclass_ = nullptr;  // an argument of the call
  bool unrelated_ = false;                 // subclasses of which none is the other's base: each is asked, and declines
};

// Asks the modes and the custom arguments in turn. `function` is the public callable.
PyObject* call_torch_function(PyObject* function, const Overloaded& overloaded, PyObject* const* args, Py_ssize_t n,
                              PyObject* names);
// left.__radd__(right) and its kin (`name`) where the right operand's type has a protocol of its own, which could know
// what the left's declined; else NotImplemented.
PyObject* ask_right_operand(const char* name, PyObject* left, PyObject* right);
// Results as `type`, recursively through tuples and lists; steals `result`.
PyObject* convert_results(PyObject* result, PyTypeObject* type);

// What __torch_function__ and __torch_dispatch__ are given: (func, types, args=(), kwargs=None).
struct Given {
  PyObject *function, *types, *keywords = nullptr;
  Owned positional;
  Given(PyObject* args, PyObject* kwargs);
  PyObject* call() const { return check(PyObject_Call(function, positional.get(), keywords)); }
};

// Switches this thread's protocol off (by 1) or on again (by -1): `all` of it, or for subclasses only.
void disable_torch_function(bool all, int by);

int init_torch_function(PyObject* module);  // also Tensor.__torch_function__

}  // namespace taeda::python
