// What ends a program as a Python exception.
#include "python/jit/parts.h"

namespace taeda::python {

namespace {

// "ValueError", or "package.module.Problem".
Owned find_class(const std::string& name) {
  size_t dot = name.rfind('.');
  std::string module = dot == name.npos ? "builtins" : name.substr(0, dot);
  Owned from(PyImport_ImportModule(module.c_str()));
  Owned found(from ? PyObject_GetAttrString(from.get(), name.c_str() + (dot == name.npos ? 0 : dot + 1)) : nullptr);
  PyErr_Clear();
  bool is_class = found && PyExceptionClass_Check(found.get());
  return is_class ? std::move(found) : Owned::borrow(PyExc_RuntimeError);
}

}  // namespace

void set_raised(const jit::Raised& raised) {
  Owned type = find_class(raised.type());
  PyErr_SetString(type.get(), raised.text().c_str());
}

}  // namespace taeda::python
