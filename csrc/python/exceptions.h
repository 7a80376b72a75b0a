// C++ errors to Python exceptions and back.
#pragma once
#include <cxxabi.h>

#include "python/object.h"

namespace taeda::python {

// A Python exception on its way through C++ (a hook, a Python kernel); the error indicator's contents travel with it.
class PythonError : public std::exception {
 public:
  PythonError();  // takes the error indicator; the GIL is held
  void restore();
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::string message_;
};
inline PyObject* check(PyObject* result) {
  if (!result) throw PythonError();
  return result;
}
inline void check(int result) {
  if (result < 0) throw PythonError();
}

// Sets the Python error indicator from the exception being handled; `function` is put before the message.
void translate_exception(const char* function) noexcept;

// Runs the body of a bound function: PyObject* f(...) { return guarded("add", [&] { ... }); }
template <class Body>
PyObject* guarded(const char* function, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    translate_exception(function);
    return nullptr;
  }
}

// While the interpreter ends, CPython ends a thread that asks for the GIL: it unwinds the thread's stack, destructors
// and all, though the thread may touch no object any more. Such a thread waits here until the process is gone.
[[noreturn]] void wait_for_exit() noexcept;
template <class Body>
auto held_at_exit(Body&& body) {
  try {
    return body();
  } catch (abi::__forced_unwind&) {
    wait_for_exit();
  }
}
// A call into Python from C++ that other threads run, too: a new reference, or a PythonError.
template <class Body>
Owned call_python(Body&& body) {
  return Owned(check(held_at_exit(body)));
}

// Without the GIL for the scope.
class NoGil {
 public:
  explicit NoGil(bool unlocks = true) : state_(unlocks ? PyEval_SaveThread() : nullptr) {}
  ~NoGil() {
    if (state_) held_at_exit([this] { PyEval_RestoreThread(state_); });
  }
  NoGil(const NoGil&) = delete;

 private:
  PyThreadState* state_;
};
// With the GIL for the scope, whoever holds it now. A thread that Python knows takes its own state back, which it may
// do at any time: PyGILState_Ensure, once the interpreter has ended, reads what is gone.
class WithGil {
 public:
  WithGil() : own_(PyGILState_GetThisThreadState()) {
    if (own_ && own_ == _PyThreadState_UncheckedGet())
      kind_ = Kind::Held;
    else if (own_)
      held_at_exit([this] { PyEval_RestoreThread(own_); });
    else if (is_finalizing())
      wait_for_exit();
    else
      kind_ = Kind::Lent, lent_ = held_at_exit([] { return PyGILState_Ensure(); });
  }
  ~WithGil() {
    if (kind_ == Kind::Own) PyEval_SaveThread();
    if (kind_ == Kind::Lent) PyGILState_Release(lent_);
  }
  WithGil(const WithGil&) = delete;

 private:
  enum class Kind { Held, Own, Lent } kind_ = Kind::Own;
  PyThreadState* own_;
  PyGILState_STATE lent_{};
};

}  // namespace taeda::python
