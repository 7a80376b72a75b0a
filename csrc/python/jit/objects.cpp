// _C._jit.Object: an object of a compiled class as Python holds it.
#include "jit/code.h"
#include "jit/dtype_numbers.h"
#include "python/convert_value.h"
#include "python/items.h"
#include "python/jit/parts.h"
#include "python/type_objects.h"
#include "python/types.h"

namespace taeda::python {

namespace {

struct ObjectObject {
  PyObject_HEAD
  Ref<Instance> instance;
  PyObject* kept;  // what must stay for the object's methods to stay
};
PyTypeObject g_type = static_type("taeda._C._jit.Object", sizeof(ObjectObject));
PyObject* g_face = nullptr;     // makes what programs get of an Object
PyObject* g_unknown = nullptr;  // finds what else Python asks an Object for, by name

Instance& instance_of(PyObject* self) { return *reinterpret_cast<ObjectObject*>(self)->instance; }

PyObject* handle(Ref<Instance> instance) {
  PyObject* self = check(g_type.tp_alloc(&g_type, 0));
  new (&reinterpret_cast<ObjectObject*>(self)->instance) Ref<Instance>(std::move(instance));
  return self;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_CLEAR(reinterpret_cast<ObjectObject*>(self)->kept);
  const auto& slots = instance_of(self).slots;
  {
    // What an extension made may wait for threads of its own, which may want the GIL.
    NoGil unlocked(!slots.empty() && slots[0].tag() == Value::Tag::Object);
    reinterpret_cast<ObjectObject*>(self)->instance.~Ref();
  }
  Py_TYPE(self)->tp_free(self);
}
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<ObjectObject*>(self)->kept);
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<ObjectObject*>(self)->kept);
  return 0;
}

// Object(type): with no attribute set as yet.
PyObject* make(PyTypeObject*, PyObject* args, PyObject*) {
  PyObject* type;
  if (!PyArg_ParseTuple(args, "O", &type)) return nullptr;
  return guarded("jit.Object", [&] {
    TypePtr wanted = to_type(type, "type");
    TAEDA_CHECK_TYPE(wanted->is(TypeKind::Class), "takes the type of a class; got ", wanted->annotation());
    return handle(make_ref<Instance>(static_cast<const ClassType*>(wanted)));
  });
}

PyObject* type(PyObject* self, PyObject*) {
  return guarded("jit.Object", [&] { return wrap(static_cast<TypePtr>(instance_of(self).type)); });
}

// A class may have got attributes since the object was made.
Value& slot(Instance& instance, PyObject* name) {
  size_t at = instance.type->attribute_slot(to_text(name, "name"));
  if (at >= instance.slots.size()) instance.slots.resize(instance.type->attributes().size());
  return instance.slots[at];
}

PyObject* get(PyObject* self, PyObject* name) {
  return guarded("jit.Object", [&] { return wrap(slot(instance_of(self), name)); });
}

PyObject* set(PyObject* self, PyObject* args) {
  PyObject *name, *given;
  if (!PyArg_ParseTuple(args, "OO", &name, &given)) return nullptr;
  return guarded("jit.Object", [&] {
    Instance& instance = instance_of(self);
    Value& place = slot(instance, name);
    const Attribute& attribute = instance.type->attributes()[instance.type->attribute_slot(to_text(name, "name"))];
    Value value;
    if (read_loosely(given, attribute.type, value))
      jit::to_program(value);
    else
      value = to_program_value(given, attribute.type);
    // Whether an object serves an interface is asked where the program is compiled.
    TAEDA_CHECK(attribute.type->is(TypeKind::Interface) || type_of(value)->is_subtype_of(attribute.type),
                "the attribute '", attribute.name, "' of ", instance.type->name(), " is a ",
                attribute.type->annotation(), "; got ", Py_TYPE(given)->tp_name);
    place = std::move(value);
    return Py_NewRef(Py_None);
  });
}

PyObject* keep(PyObject* self, PyObject* kept) {
  Py_XSETREF(reinterpret_cast<ObjectObject*>(self)->kept, Py_NewRef(kept));
  Py_RETURN_NONE;
}

PyObject* has(PyObject* self, PyObject* name) {
  return guarded("jit.Object", [&] {
    return PyBool_FromLong(instance_of(self).type->find_attribute(to_text(name, "name")).has_value());
  });
}

PyObject* same(PyObject* self, PyObject* other, int operation) {
  if (!PyObject_TypeCheck(other, &g_type) || (operation != Py_EQ && operation != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((&instance_of(self) == &instance_of(other)) == (operation == Py_EQ));
}
Py_hash_t hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(&instance_of(self)) >> 4); }

// call_method(name, *args): a method that the class has in C++ or as code.
PyObject* call_method(PyObject* self, PyObject* args) {
  return guarded(nullptr, [&] {
    TAEDA_CHECK_TYPE(PyTuple_GET_SIZE(args) > 0, "takes the name of a method");
    Instance& instance = instance_of(self);
    std::string name(to_text(PyTuple_GET_ITEM(args, 0), "name"));
    const Method* method = instance.type->find_method(name);
    TAEDA_CHECK_TYPE(method && method->run, instance.type->name(), " has no method '", name, "'");
    Stack stack{Ref<Instance>(&instance)};
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(args); ++i) {
      size_t which = static_cast<size_t>(i);
      bool known = method->schema && which < method->schema->arguments.size();
      stack.push_back(to_program_value(PyTuple_GET_ITEM(args, i),
                                       known ? shown_type(method->schema->arguments[which].type) : nullptr));
    }
    run_program([&] { method->run(stack); });
    return stack.empty() ? Py_NewRef(Py_None) : wrap(stack.back());
  });
}

const ClassType& class_of(PyObject* type) {
  TypePtr wanted = to_type(type, "type");
  TAEDA_CHECK_TYPE(wanted->is(TypeKind::Class), "takes the type of a class; got ", wanted->annotation());
  return static_cast<const ClassType&>(*wanted);
}

// find_method(type, name): (is_static, ((argument, (default,) or ()), ...)) of a method in C++; None if there is none.
PyObject* find_method(PyObject*, PyObject* args) {
  PyObject *type, *name;
  if (!PyArg_ParseTuple(args, "OO", &type, &name)) return nullptr;
  return guarded("jit.find_method", [&]() -> PyObject* {
    const Method* method = class_of(type).find_method(to_text(name, "name"));
    if (!method || !method->run || !method->schema) return Py_NewRef(Py_None);
    const auto& arguments = method->schema->arguments;
    const size_t first = method->is_static ? 0 : 1;
    Owned shown(check(PyTuple_New(static_cast<Py_ssize_t>(arguments.size() - first))));
    for (size_t i = first; i < arguments.size(); ++i) {
      Owned fallback(check(arguments[i].default_text ? PyTuple_Pack(1, Owned(wrap(arguments[i].default_value)).get())
                                                     : PyTuple_New(0)));
      PyTuple_SET_ITEM(shown.get(), static_cast<Py_ssize_t>(i - first),
                       check(Py_BuildValue("sO", arguments[i].name.c_str(), fallback.get())));
    }
    return check(Py_BuildValue("OO", method->is_static ? Py_True : Py_False, shown.get()));
  });
}

// call_static(type, name, *args): a static method in C++.
PyObject* call_static(PyObject*, PyObject* args) {
  return guarded("jit.call_static", [&] {
    TAEDA_CHECK_TYPE(PyTuple_GET_SIZE(args) > 1, "takes a type and the name of a method");
    const ClassType& type = class_of(PyTuple_GET_ITEM(args, 0));
    std::string name(to_text(PyTuple_GET_ITEM(args, 1), "name"));
    const Method* method = type.find_method(name);
    TAEDA_CHECK_TYPE(method && method->run && method->is_static, type.name(), " has no static method '", name, "'");
    Stack stack;
    for (Py_ssize_t i = 2; i < PyTuple_GET_SIZE(args); ++i) {
      size_t which = static_cast<size_t>(i - 2);
      bool known = method->schema && which < method->schema->arguments.size();
      stack.push_back(to_program_value(PyTuple_GET_ITEM(args, i),
                                       known ? shown_type(method->schema->arguments[which].type) : nullptr));
    }
    run_program([&] { method->run(stack); });
    return stack.empty() ? Py_NewRef(Py_None) : wrap(stack.back());
  });
}

PyObject* get_name(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !g_unknown || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_CallFunctionObjArgs(g_unknown, self, name, nullptr);
}

PyObject* set_unknown(PyObject*, PyObject* function) {
  Py_XSETREF(g_unknown, Py_NewRef(function));
  Py_RETURN_NONE;
}

PyObject* set_face(PyObject*, PyObject* function) {
  Py_XSETREF(g_face, Py_NewRef(function));
  Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {
    {"type", type, METH_NOARGS, "type()\n--\n\nIts class."},
    {"getattr", get, METH_O, "getattr(name)\n--\n\nThe value of an attribute."},
    {"setattr", set, METH_VARARGS, "setattr(name, value)\n--\n\nSets an attribute to a value of its type."},
    {"hasattr", has, METH_O, "hasattr(name)\n--\n\nWhether the class has the attribute."},
    {"_keep", keep, METH_O, "_keep(anything)\n--\n\nHolds what the object's methods need."},
    {"call_method", call_method, METH_VARARGS, "call_method(name, *args)\n--\n\nCalls a method."},
    {}};
PyMethodDef g_functions[] = {
    {"find_method", find_method, METH_VARARGS,
     "find_method(type, name)\n--\n\nWhether a method in C++ is static, and its arguments with their defaults."},
    {"call_static", call_static, METH_VARARGS, "call_static(type, name, *args)\n--\n\nCalls a static method in C++."},
    {"set_object_face", set_face, METH_O,
     "set_object_face(function)\n--\n\nWhat turns an Object into what programs get; `_c` of that is the Object."},
    {"set_object_names", set_unknown, METH_O,
     "set_object_names(function)\n--\n\nWhat finds names that an Object has not itself: of object and name."},
    {}};

}  // namespace

PyObject* wrap_instance(Ref<Instance> instance) {
  Owned object(handle(std::move(instance)));
  if (!g_face || g_face == Py_None) return object.release();
  return check(PyObject_CallOneArg(g_face, object.get()));
}

Owned native_of(PyObject* object, PyTypeObject& type) {
  if (PyObject_TypeCheck(object, &type)) return Owned::borrow(object);
  Owned inner(PyObject_GetAttrString(object, "_c"));
  if (!inner) PyErr_Clear();
  return inner && PyObject_TypeCheck(inner.get(), &type) ? std::move(inner) : Owned();
}

bool read_instance(PyObject* object, TypePtr type, Value& value) {
  Owned native = native_of(object, g_type);
  if (!native) return false;
  Instance& instance = instance_of(native.get());
  if (type && !static_cast<TypePtr>(instance.type)->is_subtype_of(type)) return false;
  value = Ref<Instance>(&instance);
  return true;
}

int init_jit_objects(PyObject* module) {
  g_type.tp_new = make;
  g_type.tp_dealloc = deallocate;
  g_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  g_type.tp_traverse = traverse;
  g_type.tp_clear = clear;
  g_type.tp_methods = g_methods;
  g_type.tp_getattro = get_name;
  g_type.tp_richcompare = same;
  g_type.tp_hash = hash;
  g_type.tp_doc = "Object(type)\n--\n\nAn object of a compiled class.";
  return add_type(module, g_type) < 0 ? -1 : PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
