// The extension's start: types, generated tables, what the objects ask of layers above the core.
#include "backend/cpu/libraries/onednn_cache.h"
#include "python/autograd/init.h"
#include "python/core_hooks.h"
#include "python/module_parts.h"
#include "python/tables.h"
#include "python/torch_function.h"
#include "python/types.h"
#include "taeda/autograd/meta.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::python {
namespace {

// A submodule of _C that holds one namespace's functions, which say that they are `home`'s.
int add_functions(PyObject* module, const char* name, PyMethodDef* const* tables, const char* home = nullptr) {
  const std::string own = std::string("taeda._C.") + name;
  Owned part(PyModule_New(home ? home : own.c_str()));
  if (!part) return -1;
  for (; *tables; ++tables)
    if (PyModule_AddFunctions(part.get(), *tables) < 0) return -1;
  Owned text(PyUnicode_FromString(own.c_str()));
  if (!text || PyObject_SetAttrString(part.get(), "__name__", text.get()) < 0) return -1;
  return PyModule_AddObjectRef(module, name, part.get());
}

void fill_hooks() {
  hooks.to_device = [](const Tensor& t, Device device) {
    return t.device() == device ? t : ops::_to_copy(t, std::nullopt, std::nullopt, device);
  };
  hooks.resolve = [](const Tensor& t) { return ops::resolve_neg(ops::resolve_conj(t)); };
  hooks.clone = [](const Tensor& t) { return ops::clone(t); };
  hooks.detach = [](const Tensor& t) { return ops::detach(t); };
  hooks.alias = [](const Tensor& t) { return ops::alias(t); };
  hooks.requires_grad = [](const Tensor& t) { return autograd::requires_grad(t); };
  hooks.set_requires_grad = [](const Tensor& t, bool value) { autograd::set_requires_grad(t, value); };
}

int init(PyObject* module) {
  Py_AtExit(cpu::onednn::close_library);
  fill_hooks();
  for (PyMethodDef* const* table = all_methods; *table; ++table) add_tensor_methods(*table);
  add_conversions();
  add_tensor_methods(autograd_methods);
  add_tensor_getset(autograd_getset);
  fill_operators(*tensor_base_type);
  if (init_indexing(module) < 0 || init_factories(module) < 0) return -1;
  if (init_objects(module) < 0 || init_torch_function(module) < 0 || init_autograd(module) < 0 ||
      init_settings(module) < 0 || init_library(module) < 0 || init_autocast(module) < 0 ||
      init_distributed(module) < 0 || init_jit(module) < 0 || init_sparse(module) < 0 || init_cpp_api(module) < 0)
    return -1;
  if (add_functions(module, "_functions", all_functions, "taeda") < 0 || add_functions(module, "_nn", all_nn) < 0 ||
      add_functions(module, "_linalg", all_linalg) < 0 || add_functions(module, "_fft", all_fft) < 0 ||
      add_functions(module, "_special", all_special) < 0)
    return -1;
  return 0;
}

}  // namespace
}  // namespace taeda::python

PyMODINIT_FUNC PyInit__C() {
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "taeda._C", "Taeda's core.", -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  PyObject* module = PyModule_Create(&definition);
  if (module && taeda::python::init(module) < 0) Py_CLEAR(module);
  return module;
}
