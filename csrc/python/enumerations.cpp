// The core's enumerations by name, for the Python that has its own classes of them.
#include "python/exceptions.h"
#include "python/op_objects.h"
#include "taeda/core/dtype.h"
#include "taeda/dispatch/library.h"

namespace taeda::python {

namespace {

// The tags of taeda.Tag that the op table knows.
constexpr std::pair<const char*, OpTag> kTags[] = {
    {"nondeterministic_seeded", kNondeterministicSeeded},
    {"inplace", kInplaceOp},
    {"out", kOutOp},
    {"dynamic_output_shape", kDataDependent},
    {"pointwise", kPointwise},
    {"reduction", kReduction},
};

PyObject* op_tag_bits(PyObject*, PyObject*) {
  return guarded("_op_tag_bits", [] {
    Owned dict(check(PyDict_New()));
    for (const auto& [name, bit] : kTags)
      check(PyDict_SetItemString(dict.get(), name, Owned(check(PyLong_FromLong(bit))).get()));
    return dict.release();
  });
}

PyObject* key_names(PyObject*, PyObject*) {
  return guarded("_dispatch_key_names", [] {
    Owned list(check(PyList_New(0)));
    for (const std::string& name : dispatch_key_names())
      check(PyList_Append(list.get(), Owned(check(PyUnicode_FromString(name.c_str()))).get()));
    return list.release();
  });
}

// In the order of the enumeration.
PyObject* dtype_names(PyObject*, PyObject*) {
  return guarded("_dtype_names", [] {
    Owned list(check(PyList_New(0)));
    for (int i = 0; i < kDTypes; ++i) {
      std::string text(name(static_cast<DType>(i)));
      check(PyList_Append(list.get(), Owned(check(PyUnicode_FromString(text.c_str()))).get()));
    }
    return list.release();
  });
}

PyMethodDef g_functions[] = {{"_op_tag_bits", op_tag_bits, METH_NOARGS, nullptr},
                             {"_dispatch_key_names", key_names, METH_NOARGS, nullptr},
                             {"_dtype_names", dtype_names, METH_NOARGS, nullptr},
                             {}};

}  // namespace

int init_enumerations(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
