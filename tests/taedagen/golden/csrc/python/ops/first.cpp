// Made by taedagen from tests/taedagen/tiny/first.py.
#include "taeda/ops/first.h"
#include "dispatch/ops/first.h"
#include "python/fast.h"

namespace taeda::python {
namespace bound {

extern const Name twice_name;
extern const Name twice__name;
extern const Name turned_name;
extern const Name stretch_name;
extern const Name four_times_name;
// tests/taedagen/tiny/first.py:6
static const Overload twice_overloads[] = {{&table::twice_plain.op, &table::twice_out.op}};
constinit const Name twice_name{"twice", "twice", twice_overloads, 1, false, -1, nullptr};
PyObject* twice(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run(twice_name, table::twice_plain.op, work(self), [&] { return ops::twice(self.get()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:6
static const Overload twice__overloads[] = {{&table::twice__plain.op, nullptr}};
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
static const Overload turned_overloads[] = {{&table::turned_plain.op, nullptr}};
constinit const Name turned_name{"turned", "turned", turned_overloads, 1, false, -1, nullptr};
PyObject* turned(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 3) {
    TensorArg self; IntArg dim0; IntArg dim1;
    if (self.read(args[0]) && dim0.read(args[1]) && dim1.read(args[2]))
      return run(turned_name, table::turned_plain.op, 0, [&] { return ops::turned(self.get(), dim0.get(), dim1.get()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:27
static const Overload stretch_overloads[] = {{&table::stretch_plain.op, nullptr}};
constinit const Name stretch_name{"stretch", "stretch", stretch_overloads, 1, false, -1, nullptr};
PyObject* stretch(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run(stretch_name, table::stretch_plain.op, work(self), [&] { return ops::stretch(self.get(), 1.5, std::optional<int64_t>()); });
  }
  if (n == 2) {
    TensorArg self; FloatArg by;
    if (self.read(args[0]) && by.read(args[1]))
      return run(stretch_name, table::stretch_plain.op, work(self), [&] { return ops::stretch(self.get(), by.get(), std::optional<int64_t>()); });
  }
  return nullptr;
}

// tests/taedagen/tiny/first.py:32
static const Overload four_times_overloads[] = {{&table::four_times_plain.op, nullptr}};
constinit const Name four_times_name{"four_times", "four_times", four_times_overloads, 1, false, -1, nullptr};
PyObject* four_times(PyObject* const* args, Py_ssize_t n) noexcept {
  if (n == 1) {
    TensorArg self;
    if (self.read(args[0]))
      return run(four_times_name, table::four_times_plain.op, work(self), [&] { return ops::four_times(self.get()); });
  }
  return nullptr;
}

}  // namespace bound

#include "python/ops/first.inc"
}  // namespace taeda::python
