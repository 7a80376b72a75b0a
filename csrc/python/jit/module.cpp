#include "jit/primitive.h"
#include "python/jit/parts.h"
#include "python/module_parts.h"
#include "python/types.h"

namespace taeda::python {

namespace {

std::string tensor_text(const Tensor& tensor) {
  WithGil locked;
  Owned object(check(wrap(tensor)));
  Owned text = call_python([&] { return PyObject_Repr(object.get()); });
  return std::string(to_text(text.get(), "repr"));
}

// To sys.stdout, which tests and notebooks replace.
void print(std::string_view line) {
  WithGil locked;
  Owned text(check(PyUnicode_FromStringAndSize(line.data(), static_cast<Py_ssize_t>(line.size()))));
  PyObject* out = PySys_GetObject("stdout");
  if (out && out != Py_None) call_python([&] { return PyObject_CallMethod(out, "write", "O", text.get()); });
}

void check_interrupt() {
  WithGil locked;
  if (PyErr_CheckSignals() < 0) throw PythonError();
}

}  // namespace

int init_jit(PyObject* module) {
  jit::surroundings = {tensor_text, print, check_interrupt};
  Owned part(PyModule_New("taeda._C._jit"));
  if (!part) return -1;
  for (auto init : {init_jit_primitives, init_jit_functions, init_jit_objects, init_jit_containers})
    if (init(part.get()) < 0) return -1;
  return PyModule_AddObjectRef(module, "_jit", part.get());
}

}  // namespace taeda::python
