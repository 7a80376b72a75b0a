// The language's own functions as Python sees them: schemas for the checker, calls for constant folding and tests.
#include "jit/dtype_numbers.h"
#include "jit/primitive.h"

#include "python/convert_value.h"
#include "python/items.h"
#include "python/jit/parts.h"
#include "python/types.h"

namespace taeda::python {

Value to_program_value(PyObject* object, TypePtr type) {
  Value value;
  if (!type || !read_typed(object, type, value)) {
    if (PyErr_Occurred()) throw PythonError();
    value = to_value(object);
  }
  jit::to_program(value);
  return value;
}

namespace {

PyObject* schemas(PyObject*, PyObject*) {
  return guarded("jit", [&] {
    Owned list(check(PyList_New(0)));
    for (jit::PrimitiveTable table : jit::primitive_tables())
      for (const jit::Primitive& primitive : table)
        check(PyList_Append(list.get(), Owned(check(PyUnicode_FromString(primitive.schema))).get()));
    return list.release();
  });
}

PyObject* call(PyObject*, PyObject* args) {
  return guarded("jit", [&] {
    TAEDA_CHECK_TYPE(PyTuple_GET_SIZE(args) > 0, "takes the name of a primitive and its arguments");
    std::string_view name = to_text(PyTuple_GET_ITEM(args, 0), "name");
    const jit::Primitive* primitive = jit::find_primitive(name);
    TAEDA_CHECK(primitive, "there is no primitive ", name);
    Schema schema = parse_schema(primitive->schema);
    Stack stack;
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(args); ++i) {
      size_t which = static_cast<size_t>(i) - 1;
      TypePtr type = which < schema.arguments.size() ? shown_type(schema.arguments[which].type) : nullptr;
      stack.push_back(to_program_value(PyTuple_GET_ITEM(args, i), type && !type->has_variables() ? type : nullptr));
    }
    try {
      primitive->run(stack, stack.size());
    } catch (const jit::Raised& raised) {
      set_raised(raised);
      throw PythonError();
    }
    return wrap_plain_results(stack);
  });
}

PyMethodDef g_functions[] = {
    {"primitive_schemas", schemas, METH_NOARGS, "primitive_schemas()\n--\n\nThe schemas of the language's functions."},
    {"call_primitive", call, METH_VARARGS, "call_primitive(name, *args)\n--\n\nCalls ``aten::add.int`` and the like."},
    {}};

}  // namespace

int init_jit_primitives(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
