// Made by taedagen from tests/taedagen/tiny/first.py.
#include "api/first.h"
#include "dispatch/ops/first.h"
#include "python/bound.h"

namespace taeda::python {
namespace bound {

// tests/taedagen/tiny/first.py:6
static const Overload twice_overloads[] = {{&table::first[table::twice_plain], &table::first[table::twice_out]}};
constinit const Name twice_name{"twice", "twice", twice_overloads, 1, false, -1, nullptr};
PyObject* twice(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run(twice_name, table::first[table::twice_plain], work(self), [&] { return ops::twice(self.get()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:6
static const Overload twice__overloads[] = {{&table::first[table::twice__plain], nullptr}};
constinit const Name twice__name{"twice_", "Tensor.twice_", twice__overloads, 1, false, -1, nullptr};
PyObject* twice_(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run_inplace(twice__name, work(self), args[0], [&] { ops::twice_(self.get()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:17
static const Overload turned_overloads[] = {{&table::first[table::turned_plain], nullptr}};
constinit const Name turned_name{"turned", "turned", turned_overloads, 1, false, -1, nullptr};
PyObject* turned(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 3) {
    TensorArg self; IntArg dim0; IntArg dim1;
    if (self.read(args[0]) && dim0.read(args[1]) && dim1.read(args[2]))
      return run(turned_name, table::first[table::turned_plain], 0, [&] { return ops::turned(self.get(), dim0.get(), dim1.get()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:27
static const Overload stretch_overloads[] = {{&table::first[table::stretch_plain], nullptr}};
constinit const Name stretch_name{"stretch", "stretch", stretch_overloads, 1, false, -1, nullptr};
PyObject* stretch(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run(stretch_name, table::first[table::stretch_plain], work(self), [&] { return ops::stretch(self.get(), 1.5, std::optional<int64_t>()); });
  }
  if (n == 2) {
    TensorArg self; FloatArg by;
    if (self.read(args[0]) && by.read(args[1]))
      return run(stretch_name, table::first[table::stretch_plain], work(self), [&] { return ops::stretch(self.get(), by.get(), std::optional<int64_t>()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:32
static const Overload four_times_overloads[] = {{&table::first[table::four_times_plain], nullptr}};
constinit const Name four_times_name{"four_times", "four_times", four_times_overloads, 1, false, -1, nullptr};
PyObject* four_times(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run(four_times_name, table::first[table::four_times_plain], work(self), [&] { return ops::four_times(self.get()); });
  }
  return nullptr;
}

}  // namespace bound

PyMethodDef first_methods[] = {
    {"twice", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&method<bound::twice, bound::twice_name>)), METH_FASTCALL | METH_KEYWORDS, "twice(Tensor self) -> Tensor\n\n``2 * self``, of any shape."},
    {"twice_", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&method<bound::twice_, bound::twice__name>)), METH_FASTCALL | METH_KEYWORDS, "twice_(Tensor(a!) self) -> Tensor(a!)\n\n``2 * self``, of any shape."},
    {"turned", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&method<bound::turned, bound::turned_name>)), METH_FASTCALL | METH_KEYWORDS, "turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n\nA view with two dimensions swapped."},
    {}};

PyMethodDef first_functions[] = {
    {"twice", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&function<bound::twice, bound::twice_name>)), METH_FASTCALL | METH_KEYWORDS, "twice(Tensor self) -> Tensor\n\n``2 * self``, of any shape."},
    {"turned", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&function<bound::turned, bound::turned_name>)), METH_FASTCALL | METH_KEYWORDS, "turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)\n\nA view with two dimensions swapped."},
    {"stretch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&function<bound::stretch, bound::stretch_name>)), METH_FASTCALL | METH_KEYWORDS, "stretch(Tensor self, float by=1.5, *, int? power=None) -> Tensor\n\nA kernel that somebody writes by hand."},
    {"four_times", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&function<bound::four_times, bound::four_times_name>)), METH_FASTCALL | METH_KEYWORDS, "four_times(Tensor self) -> Tensor\n\nMade of another op."},
    {}};

PyMethodDef first_nn[] = {
    {}};

PyMethodDef first_linalg[] = {
    {}};

PyMethodDef first_fft[] = {
    {}};

PyMethodDef first_special[] = {
    {}};

}  // namespace taeda::python
