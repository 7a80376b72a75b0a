// _C._Library: registration from Python. taeda/library.py is its public face.
#include "taeda/dispatch/library.h"

#include "python/op_objects.h"
#include "python/types.h"

namespace taeda::python {

namespace {

struct LibraryObject {
  PyObject_HEAD
  Library* library;  // null once destroyed
};
PyTypeObject g_type = static_type("taeda._C._Library", sizeof(LibraryObject));

Library& library_of(PyObject* self) {
  Library* library = reinterpret_cast<LibraryObject*>(self)->library;
  TAEDA_CHECK(library, "the library was destroyed");
  return *library;
}

Library::Kind kind_named(std::string_view name) {
  if (name == "DEF") return Library::Kind::Def;
  if (name == "FRAGMENT") return Library::Kind::Fragment;
  TAEDA_CHECK_VALUE(name == "IMPL", "the kind of a library is DEF, IMPL or FRAGMENT; got '", name, "'");
  return Library::Kind::Impl;
}

PyObject* new_library(PyTypeObject* type, PyObject* args, PyObject*) {
  const char *ns, *kind, *where;
  if (!PyArg_ParseTuple(args, "sss", &ns, &kind, &where)) return nullptr;
  return guarded("library.Library", [&] {
    auto library = std::make_unique<Library>(ns, kind_named(kind), where);
    PyObject* self = check(type->tp_alloc(type, 0));
    reinterpret_cast<LibraryObject*>(self)->library = library.release();
    return self;
  });
}

PyObject* destroy(PyObject* self, PyObject*) {
  return guarded("library.Library._destroy", [&] {
    delete std::exchange(reinterpret_cast<LibraryObject*>(self)->library, nullptr);
    return Py_NewRef(Py_None);
  });
}

void deallocate(PyObject* self) {
  Owned(destroy(self, nullptr));
  Py_TYPE(self)->tp_free(self);
}

PyObject* define(PyObject* self, PyObject* args) {
  const char *schema, *file;
  int line;
  if (!PyArg_ParseTuple(args, "ssi", &schema, &file, &line)) return nullptr;
  return guarded("library.define", [&] {
    return PyUnicode_FromString(library_of(self).def(schema, file, line).qualified_name().c_str());
  });
}

std::shared_ptr<Kernel> make_kernel(PyObject* function, bool with_keys, const char* where) {
  if (function != Py_None) return make_python_kernel(function, with_keys, where);
  auto kernel = std::make_shared<Kernel>();
  kernel->fallthrough = true;
  kernel->where = where;
  return kernel;
}

// A function of None lets calls fall through to the next layer.
PyObject* impl(PyObject* self, PyObject* args) {
  const char *op, *key, *where;
  PyObject* function;
  int with_keys, replace;
  if (!PyArg_ParseTuple(args, "ssOpsp", &op, &key, &function, &with_keys, &where, &replace)) return nullptr;
  return guarded("library.impl", [&] {
    library_of(self).impl(op, parse_dispatch_key(key), make_kernel(function, with_keys, where), replace);
    return Py_NewRef(Py_None);
  });
}

PyObject* fallback(PyObject* self, PyObject* args) {
  const char *key, *where;
  PyObject* function;
  int with_keys;
  if (!PyArg_ParseTuple(args, "sOps", &key, &function, &with_keys, &where)) return nullptr;
  return guarded("library.fallback", [&] {
    int slot = parse_dispatch_key(key);
    std::shared_ptr<Kernel> kernel = make_kernel(function, with_keys, where);
    if (function != Py_None) {
      // It serves many ops, so it is told which one.
      kernel->boxed = [held = make_ref<HeldObject>(function), with_keys](const Op& called, KeySet keys, Stack& stack) {
        WithGil locked;
        Owned object(op_object(called));
        PythonArguments arguments = to_python_arguments(called, stack, object.get());
        if (with_keys) {
          Owned first(check(PyTuple_New(1)));
          PyTuple_SET_ITEM(first.get(), 0, check(wrap(keys)));
          arguments.positional = Owned(check(PySequence_Concat(first.get(), arguments.positional.get())));
        }
        Owned result = call_python(
            [&] { return PyObject_Call(held->object, arguments.positional.get(), arguments.keywords.get()); });
        put_results(called, result.get(), stack);
      };
    }
    library_of(self).fallback(slot, std::move(kernel));
    return Py_NewRef(Py_None);
  });
}

PyMethodDef g_methods[] = {{"define", define, METH_VARARGS, nullptr},
                           {"impl", impl, METH_VARARGS, nullptr},
                           {"fallback", fallback, METH_VARARGS, nullptr},
                           {"destroy", destroy, METH_NOARGS, nullptr},
                           {}};

PyObject* check_key(PyObject*, PyObject* key) {
  return guarded("library", [&] {
    return PyUnicode_FromString(dispatch_key_name(parse_dispatch_key(to_text(key, "dispatch_key"))).c_str());
  });
}
PyMethodDef g_functions[] = {{"_parse_dispatch_key", check_key, METH_O, nullptr}, {}};

}  // namespace

int init_python_library(PyObject* module) {
  g_type.tp_new = new_library;
  g_type.tp_dealloc = deallocate;
  g_type.tp_methods = g_methods;
  g_type.tp_doc = "Registrations that last as long as this object.";
  return add_type(module, g_type) < 0 ? -1 : PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
