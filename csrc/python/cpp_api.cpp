// The table of functions that C++ extensions find in the capsule _C._cpp_api.
#include "torch/detail/python_table.h"

#include "python/convert_value.h"
#include "python/distributed/handles.h"
#include "python/module_parts.h"
#include "python/parser.h"
#include "python/types.h"

namespace taeda::python {
namespace {

using torch::detail::PythonTable;

// In the order of the table's fields.
const PythonTable g_table{
    .wrap_tensor = [](const Tensor& tensor) { return wrap(tensor); },
    .wrap_value = [](const Value& value) { return wrap(value); },
    .wrap_storage = [](const Storage& storage) { return wrap(storage); },
    .is_tensor = [](PyObject* object) { return is_tensor(object); },
    .is_dtype = is_dtype,
    .is_device = is_device,
    .is_layout = is_layout,
    .is_memory_format = is_memory_format,
    .is_generator = is_generator,
    .is_storage = is_storage,
    .unwrap = [](PyObject* object) { return &unwrap(object); },
    .to_dtype = to_dtype,
    .to_device = to_device,
    .to_layout = to_layout,
    .to_memory_format = to_memory_format,
    .to_generator = to_generator,
    .to_storage = to_storage,
    .read_number = read_number,
    .read_value = read_typed,
    .translate_exception = [] { translate_exception(nullptr); },
    .tensor_class = [] { return reinterpret_cast<PyObject*>(tensor_type); },
    .to_store = store_within,
    .wrap_store = [](const Ref<distributed::Store>& store) { return store_handle(store); },
    .to_engine = group_within,
};

}  // namespace

int init_cpp_api(PyObject* module) {
  PyObject* capsule = PyCapsule_New(const_cast<PythonTable*>(&g_table), torch::detail::kPythonTable, nullptr);
  int done = capsule ? PyModule_AddObjectRef(module, "_cpp_api", capsule) : -1;
  Py_XDECREF(capsule);
  return done;
}

}  // namespace taeda::python
