// The start of what Python knows of ops: one function per file library_*.cpp.
#include "python/op_objects.h"

#include "python/module_parts.h"

namespace taeda::python {

int init_library(PyObject* module) {
  using Init = int (*)(PyObject*);
  constexpr Init kAll[] = {init_op_objects,     init_python_library, init_key_sets,      init_guards,
                           init_recorder,       init_profiler,       init_dispatch_mode, init_capture,
                           init_device_backend, init_schemas,        init_symbols,       init_enumerations};
  for (Init init : kAll)
    if (init(module) < 0) return -1;
  return 0;
}

}  // namespace taeda::python
