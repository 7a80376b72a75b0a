#include "python/symbols.h"

#include "python/exceptions.h"
#include "python/items.h"
#include "python/op_objects.h"

namespace taeda::python {

int size_recorders = 0;

namespace {

thread_local PyObject* recorder = nullptr;
PyObject* g_symbol = nullptr;  // the base of the three classes; null until they are first asked for

// A recorder may look at sizes itself.
struct Pause {
  PyObject* paused = std::exchange(recorder, nullptr);
  ~Pause() { recorder = paused; }
};

PyObject* set_recorder(PyObject*, PyObject* wanted) {
  PyObject* former = recorder ? recorder : Py_NewRef(Py_None);
  size_recorders -= recorder != nullptr;
  recorder = wanted == Py_None ? nullptr : Py_NewRef(wanted);
  size_recorders += recorder != nullptr;
  return former;
}

PyObject* set_symbol_class(PyObject*, PyObject* cls) {
  Py_XSETREF(g_symbol, Py_NewRef(cls));
  Py_RETURN_NONE;
}

PyMethodDef g_functions[] = {
    {"_set_size_recorder", set_recorder, METH_O, "Sets this thread's recorder; gives the one before, or None."},
    {"_set_symbol_class", set_symbol_class, METH_O, nullptr},
    {}};

}  // namespace

PyObject* recorded_size(const Tensor& tensor, const char* what, int64_t dim, int64_t value) {
  if (!recorder) return check(PyLong_FromLongLong(value));  // another thread records
  Owned object(check(wrap(tensor))), place(dim < 0 ? Py_NewRef(Py_None) : check(PyLong_FromLongLong(dim)));
  Owned kept = Owned::borrow(recorder);
  Pause pause;
  return check(
      PyObject_CallMethod(kept.get(), "read", "OsOL", object.get(), what, place.get(), static_cast<long long>(value)));
}

Owned recorded_number(PyObject* tensor) {
  if (!recorder) return Owned();
  Owned kept = Owned::borrow(recorder);
  Pause pause;
  Owned symbol(check(PyObject_CallMethod(kept.get(), "int_of", "O", tensor)));
  return symbol.get() == Py_None ? Owned() : std::move(symbol);
}

void tell_detached(PyObject* tensor) {
  if (!recorder) return;
  Owned kept = Owned::borrow(recorder);
  Pause pause;
  Owned(check(PyObject_CallMethod(kept.get(), "detached", "O", tensor)));
}

bool is_symbol(PyObject* object) {
  return g_symbol && PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(g_symbol));
}

Owned symbol_value(PyObject* object) {
  Owned node(check(PyObject_GetAttrString(object, "node")));
  return Owned(check(PyObject_GetAttrString(node.get(), "hint")));
}

Owned fixed_symbol(PyObject* object) {
  Owned value = symbol_value(object);
  if (PyBool_Check(value.get())) return Owned(check(PyBool_FromLong(PyObject_IsTrue(object))));
  return Owned(check(PyFloat_Check(value.get()) ? PyNumber_Float(object) : PyNumber_Index(object)));
}

void GivenSymbols::look(const char* parameter, PyObject* object, int64_t index, bool takes_ints) {
  if (!recorder) return;
  auto add = [&](PyObject* item, int64_t place) {
    Owned symbol = is_symbol(item) ? Owned::borrow(item) : Owned();
    if (takes_ints && is_tensor(item)) symbol = recorded_number(item);
    if (symbol) found_.push_back({parameter, place, std::move(symbol)});
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) return add(object, index);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) add(Owned(item_at(object, i)).get(), i);
}

void GivenSymbols::tell_recorder(const Op& op) const {
  if (!recorder) return;
  Owned object(op_object(op)), list(check(PyList_New(0)));
  for (const Given& given : found_) {
    Owned index(given.index < 0 ? Py_NewRef(Py_None) : check(PyLong_FromLongLong(given.index)));
    Owned item(check(Py_BuildValue("sOO", given.parameter, index.get(), given.symbol.get())));
    check(PyList_Append(list.get(), item.get()));
  }
  Owned kept = Owned::borrow(recorder);
  Pause pause;
  Owned(check(PyObject_CallMethod(kept.get(), "given", "OO", object.get(), list.get())));
}

int init_symbols(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
