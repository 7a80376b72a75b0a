#include "python/exceptions.h"

#include <unistd.h>

#include <new>
#include <stdexcept>

#include "python/types.h"
#include "taeda/core/warn.h"

namespace taeda::python {

namespace {
PyObject* g_out_of_memory_error;
PyObject* g_linalg_error;

// Of a class that is written in Python, as few programs meet it: RuntimeError where it cannot be imported.
PyObject* distributed_error(const char* name) {
  Owned module(PyImport_ImportModule("taeda.distributed._errors"));
  Owned type(module ? PyObject_GetAttrString(module.get(), name) : nullptr);
  PyErr_Clear();
  return type ? type.get() : PyExc_RuntimeError;  // the module keeps it
}

PyObject* exception_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Runtime:
      return PyExc_RuntimeError;
    case ErrorKind::Value:
      return PyExc_ValueError;
    case ErrorKind::Type:
      return PyExc_TypeError;
    case ErrorKind::Index:
      return PyExc_IndexError;
    case ErrorKind::NotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::OutOfMemory:
      return g_out_of_memory_error;
    case ErrorKind::LinAlg:
      return g_linalg_error;
    case ErrorKind::Key:
      return PyExc_KeyError;
    case ErrorKind::Overflow:
      return PyExc_OverflowError;
    case ErrorKind::Assertion:
      return PyExc_AssertionError;
    case ErrorKind::Dist:
      return distributed_error("DistError");
    case ErrorKind::DistBackend:
      return distributed_error("DistBackendError");
    case ErrorKind::DistNetwork:
      return distributed_error("DistNetworkError");
    case ErrorKind::DistStore:
      return distributed_error("DistStoreError");
    case ErrorKind::QueueEmpty:
      return distributed_error("QueueEmptyError");
  }
  return PyExc_RuntimeError;
}

// The exception that is set, as one object; the indicator is clear afterwards.
PyObject* take_exception() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (!type) return nullptr;
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_DECREF(type);
  Py_XDECREF(traceback);
  return value;
#endif
}

std::string describe(PyObject* exception) {
  if (!exception) return "a Python function failed without an exception";
  std::string text = Py_TYPE(exception)->tp_name;
  Owned message(PyObject_Str(exception));
  const char* utf8 = message ? PyUnicode_AsUTF8(message.get()) : nullptr;
  if (utf8 && *utf8) text += str(": ", utf8);
  PyErr_Clear();
  return text;
}

PyObject* new_exception(PyObject* module, const char* attribute, const char* qualified, const char* doc) {
  PyObject* type = PyErr_NewExceptionWithDoc(qualified, doc, PyExc_RuntimeError, nullptr);
  if (type && PyModule_AddObjectRef(module, attribute, type) < 0) Py_CLEAR(type);
  return type;
}

// Where a quantised tensor met a float one, for messages that say that a stub is missing.
std::string in_module(const Error& e) {
  if (e.kind() != ErrorKind::NotImplemented || std::string_view(e.what()).find("QuantStub") == std::string_view::npos)
    return {};
  Owned module(PyImport_ImportModule("taeda._main.missing_stub"));
  Owned text(module ? PyObject_CallMethod(module.get(), "running_module", nullptr) : nullptr);
  const char* place = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string found = place && *place ? str(". It was called by ", place) : std::string();
  PyErr_Clear();
  return found;
}

// What extensions throw: as pybind11 translates it.
PyObject* exception_type(const std::exception& e) {
  if (dynamic_cast<const std::out_of_range*>(&e)) return PyExc_IndexError;
  if (dynamic_cast<const std::overflow_error*>(&e)) return PyExc_OverflowError;
  const bool of_value = dynamic_cast<const std::invalid_argument*>(&e) || dynamic_cast<const std::domain_error*>(&e) ||
                        dynamic_cast<const std::range_error*>(&e);
  return of_value ? PyExc_ValueError : PyExc_RuntimeError;
}

void raise_warning(const Warning& warning) {
  WithGil gil;
  const bool deprecation = std::holds_alternative<Warning::DeprecationWarning>(warning.type());
  PyObject* category = deprecation ? PyExc_DeprecationWarning : PyExc_UserWarning;
  const SourceLocation& place = warning.source_location();
  const char* text = warning.msg().c_str();
  bool of_program = warning.verbatim() && place.line > 0;
  check(of_program ? PyErr_WarnExplicit(category, text, place.file, static_cast<int>(place.line), nullptr, nullptr)
                   : PyErr_WarnEx(category, text, 1));
}
}  // namespace

// The last copy may die on a thread without the GIL, or after the interpreter.
struct PythonError::State {
  PyObject* exception;
  explicit State(PyObject* e) : exception(e) {}
  State(const State&) = delete;
  ~State() {
    if (!exception || !Py_IsInitialized()) return;
    WithGil gil;
    Py_DECREF(exception);
  }
};

PythonError::PythonError() : state_(std::make_shared<State>(take_exception())), message_(describe(state_->exception)) {}

void PythonError::restore() {
  if (!state_->exception) {
    PyErr_SetString(PyExc_SystemError, message_.c_str());
    return;
  }
#if PY_VERSION_HEX >= 0x030C0000
  PyErr_SetRaisedException(Py_NewRef(state_->exception));
#else
  PyObject* exception = state_->exception;
  PyErr_Restore(Py_NewRef(Py_TYPE(exception)), Py_NewRef(exception), PyException_GetTraceback(exception));
#endif
}

void wait_for_exit() noexcept {
  for (;;) pause();
}

void translate_exception(const char* function) noexcept {
  try {
    try {
      throw;
    } catch (abi::__forced_unwind&) {
      wait_for_exit();
    } catch (PythonError& e) {
      e.restore();
    } catch (Error& e) {
      if (function) e.name_function(function);
      PyErr_SetString(exception_type(e.kind()), (e.what() + in_module(e)).c_str());
    } catch (const std::bad_alloc&) {
      PyErr_Format(PyExc_MemoryError, "taeda.%s: the system has no memory left for so many items",
                   function ? function : "core");
    } catch (const std::length_error&) {
      PyErr_Format(PyExc_RuntimeError, "taeda.%s: no memory could hold so many items; a size must be wrong",
                   function ? function : "core");
    } catch (const std::exception& e) {
      if (function)
        PyErr_Format(exception_type(e), "taeda.%s: %s", function, e.what());
      else
        PyErr_SetString(exception_type(e), e.what());
    } catch (...) {
      PyErr_Format(PyExc_RuntimeError, "taeda.%s: an unknown C++ exception", function ? function : "core");
    }
  } catch (const std::bad_alloc&) {  // making the message itself failed
    PyErr_NoMemory();
  }
}

int init_errors(PyObject* module) {
  set_warn_handler(raise_warning);
  g_out_of_memory_error = new_exception(module, "OutOfMemoryError", "taeda.OutOfMemoryError",
                                        "Raised when a device has not enough memory for a tensor.");
  g_linalg_error = new_exception(module, "_LinAlgError", "taeda.linalg.LinAlgError",
                                 "Raised when a decomposition or a solve has no answer, e.g. for a singular matrix.");
  return g_out_of_memory_error && g_linalg_error ? 0 : -1;
}

}  // namespace taeda::python
