// _C._jit.load and what it gives: functions of programs, called from Python.
#include "jit/code.h"
#include "jit/dtype_numbers.h"
#include "python/convert_value.h"
#include "python/items.h"
#include "python/jit/parts.h"
#include "python/type_objects.h"
#include "python/types.h"
#include "taeda/dispatch/schema.h"

namespace taeda::python {

namespace {

struct FunctionObject {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Ref<const jit::Unit> unit;
  const jit::Function* function;
  std::vector<TypePtr>* types;    // of the arguments, as callers see them
  std::vector<PyObject*>* names;  // interned
};
PyTypeObject g_type = static_type("taeda._C._jit.Function", sizeof(FunctionObject));

FunctionObject& as_function(PyObject* self) { return *reinterpret_cast<FunctionObject*>(self); }

[[noreturn]] void wrong_argument(const jit::Function& function, size_t i, PyObject* object) {
  if (PyErr_Occurred()) throw PythonError();
  const SchemaArgument& argument = function.schema.arguments[i];
  TAEDA_FAIL(Runtime, function.schema.name, "() takes a ", argument.type->annotation(), " for '", argument.name,
             "'; got ", Py_TYPE(object)->tp_name, "\n  ", schema_text(function.schema));
}

// One argument by its type. Tensors come most often.
Value read_argument(FunctionObject& self, size_t i, PyObject* object) {
  TypePtr type = (*self.types)[i];
  if (is_tensor(object) && type->is(TypeKind::Tensor)) return unwrap(object);
  Value value;
  if (!read_loosely(object, type, value)) {
    if (type->is(TypeKind::Int) || type->is(TypeKind::Optional)) value = to_value(object);
    bool is_number = value.tag() >= Value::Tag::DType && value.tag() <= Value::Tag::MemoryFormat &&
                     value.tag() != Value::Tag::Device;
    if (!is_number) wrong_argument(*self.function, i, object);
    jit::to_program(value);
  }
  return value;
}

size_t argument_named(FunctionObject& self, PyObject* name) {
  for (size_t i = 0; i < self.names->size(); ++i)
    if ((*self.names)[i] == name) return i;
  for (size_t i = 0; i < self.names->size(); ++i) {
    int same = PyObject_RichCompareBool((*self.names)[i], name, Py_EQ);
    check(same);
    if (same) return i;
  }
  TAEDA_FAIL(Runtime, self.function->schema.name, "() has no argument '", to_text(name, "name"), "'\n  ",
             schema_text(self.function->schema));
}

Stack read_arguments(FunctionObject& self, PyObject* const* args, size_t positional, PyObject* keywords) {
  const Schema& schema = self.function->schema;
  size_t count = schema.arguments.size();
  TAEDA_CHECK(positional <= count, schema.name, "() takes ", count, " arguments; got ", positional, "\n  ",
              schema_text(schema));
  std::vector<PyObject*> given(count, nullptr);
  std::copy(args, args + positional, given.begin());
  for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i) {
    size_t which = argument_named(self, PyTuple_GET_ITEM(keywords, i));
    TAEDA_CHECK(!given[which], schema.name, "() got two values for '", schema.arguments[which].name, "'");
    given[which] = args[positional + static_cast<size_t>(i)];
  }
  Stack stack;
  stack.reserve(count + 1);
  for (size_t i = 0; i < count; ++i) {
    if (given[i]) {
      stack.push_back(read_argument(self, i, given[i]));
      continue;
    }
    const SchemaArgument& argument = schema.arguments[i];
    TAEDA_CHECK(argument.default_text, schema.name, "() is missing the argument '", argument.name, "'\n  ",
                schema_text(schema));
    // A list or dict that is a default is another one in each call.
    bool is_shared = argument.default_value.is_list() || argument.default_value.tag() == Value::Tag::Dict;
    stack.push_back(is_shared ? copied(argument.default_value) : argument.default_value);
  }
  return stack;
}

PyObject* call(PyObject* object, PyObject* const* args, size_t flags, PyObject* keywords) {
  FunctionObject& self = as_function(object);
  return guarded(nullptr, [&] {
    Stack stack = read_arguments(self, args, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords);
    run_program([&] { self.function->run(stack); });
    return wrap(stack.back());
  });
}

void deallocate(PyObject* object) {
  FunctionObject& self = as_function(object);
  for (PyObject* name : *self.names) Py_DECREF(name);
  delete self.names;
  delete self.types;
  self.unit.~Ref();
  Py_TYPE(object)->tp_free(object);
}

PyObject* name(PyObject* self, void*) { return PyUnicode_FromString(as_function(self).function->name.c_str()); }
PyObject* schema(PyObject* self, void*) {
  return guarded("schema",
                 [&] { return PyUnicode_FromString(schema_text(as_function(self).function->schema).c_str()); });
}
PyGetSetDef g_getset[] = {{"name", name, nullptr, "Its name with those of the modules around it.", nullptr},
                          {"schema", schema, nullptr, "What it takes and gives.", nullptr},
                          {}};

PyObject* wrap_function(Ref<const jit::Unit> unit, const jit::Function& function) {
  PyObject* object = check(g_type.tp_alloc(&g_type, 0));
  FunctionObject& self = as_function(object);
  new (&self.unit) Ref<const jit::Unit>(std::move(unit));
  self.function = &function;
  self.vectorcall = call;
  self.types = new std::vector<TypePtr>;
  self.names = new std::vector<PyObject*>;
  Owned held(object);
  for (const SchemaArgument& argument : function.schema.arguments) {
    self.types->push_back(shown_type(argument.type));
    self.names->push_back(check(PyUnicode_InternFromString(argument.name.c_str())));
  }
  return held.release();
}

// load(text, constants, functions): (functions by name). `functions` are those of earlier programs that it calls.
PyObject* load(PyObject*, PyObject* args) {
  const char* text;
  Py_ssize_t size;
  PyObject *constants, *others;
  if (!PyArg_ParseTuple(args, "s#O!O!", &text, &size, &PyList_Type, &constants, &PyList_Type, &others)) return nullptr;
  return guarded("jit.load", [&] {
    std::vector<Value> values;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(constants); ++i) {
      values.push_back(to_value(PyList_GET_ITEM(constants, i)));
      jit::to_program(values.back());
    }
    std::vector<Ref<const jit::Unit>> needed;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(others); ++i) {
      PyObject* other = PyList_GET_ITEM(others, i);
      TAEDA_CHECK_TYPE(PyObject_TypeCheck(other, &g_type), "takes functions of programs");
      const Ref<const jit::Unit>& unit = as_function(other).unit;
      if (std::ranges::find(needed, unit) == needed.end()) needed.push_back(unit);
    }
    Ref<jit::Unit> unit = jit::assemble({text, static_cast<size_t>(size)}, values, std::move(needed));
    Owned made(check(PyDict_New()));
    for (const jit::Function& function : unit->functions()) {
      Owned object(wrap_function(unit, function));
      check(PyDict_SetItemString(made.get(), function.name.c_str(), object.get()));
    }
    return made.release();
  });
}

PyMethodDef g_functions[] = {
    {"load", load, METH_VARARGS, "load(text, constants, functions)\n--\n\nThe functions of a program, by name."}, {}};

}  // namespace

int init_jit_functions(PyObject* module) {
  g_type.tp_dealloc = deallocate;
  g_type.tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  g_type.tp_call = PyVectorcall_Call;
  g_type.tp_vectorcall_offset = offsetof(FunctionObject, vectorcall);
  g_type.tp_getset = g_getset;
  g_type.tp_doc = "A function of a program.";
  return add_type(module, g_type) < 0 ? -1 : PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
