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

namespace {

// The class of the exception that is being handled, and of Python's own the exception itself.
struct Cause {
  Owned type, exception;
};

Owned take_exception() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Owned(value);
}

Cause cause_of(const jit::Failure& failure) {
  try {
    std::rethrow_exception(failure.cause());
  } catch (PythonError& error) {
    error.restore();
    return {{}, take_exception()};
  } catch (const jit::Raised& raised) {
    return {find_class(raised.type()), {}};
  } catch (...) {
    translate_exception(nullptr);
    Owned exception = take_exception();
    return {Owned::borrow(reinterpret_cast<PyObject*>(Py_TYPE(exception.get()))), {}};
  }
}

}  // namespace

void set_failure(const jit::Failure& failure) {
  Cause cause = cause_of(failure);
  if (cause.exception) {  // Python's own, as it was, with the program's lines as a note
    Owned note(PyObject_CallMethod(cause.exception.get(), "add_note", "s", failure.traceback().c_str()));
    PyErr_Clear();
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.exception.get())), cause.exception.get());
    return;
  }
  Owned module(check(PyImport_ImportModule("taeda.jit._errors")));
  Owned exception(check(PyObject_CallMethod(module.get(), "raised", "Os", cause.type.get(), failure.what())));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
}

}  // namespace taeda::python
