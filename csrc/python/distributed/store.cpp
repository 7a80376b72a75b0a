// taeda._C._distributed: stores as handles, over which taeda/distributed/_store.py writes the classes.
#include "taeda/distributed/store.h"
#include "python/distributed/handles.h"

namespace taeda::python {

namespace {

using namespace distributed;

struct StoreObject {
  PyObject_HEAD
  Ref<Store> store;
};
PyTypeObject g_type = static_type("taeda._C._distributed.StoreHandle", sizeof(StoreObject));

Store& store_of(PyObject* self) { return *reinterpret_cast<StoreObject*>(self)->store; }
PyObject* new_handle(Ref<Store> store) {
  PyObject* self = check(g_type.tp_alloc(&g_type, 0));
  new (&reinterpret_cast<StoreObject*>(self)->store) Ref<Store>(std::move(store));
  return self;
}
void deallocate(PyObject* self) {
  {
    NoGil unlocked;  // a server's thread is waited for
    reinterpret_cast<StoreObject*>(self)->store.~Ref();
  }
  Py_TYPE(self)->tp_free(self);
}

std::vector<std::string> to_strings(PyObject* list) {
  std::vector<std::string> strings;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (PyBytes_Check(item))
      strings.emplace_back(PyBytes_AS_STRING(item), static_cast<size_t>(PyBytes_GET_SIZE(item)));
    else
      strings.emplace_back(to_text(item, "key"));
  }
  return strings;
}
PyObject* to_byte_list(const std::vector<std::string>& strings) {
  Owned list(check(PyList_New(static_cast<Py_ssize_t>(strings.size()))));
  for (size_t i = 0; i < strings.size(); ++i)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                    check(PyBytes_FromStringAndSize(strings[i].data(), static_cast<Py_ssize_t>(strings[i].size()))));
  return list.release();
}

// A store that a program wrote in Python, as the library sees it: `run(op, keys, values, number, timeout in ms)` gives
// (values, number).
class PythonStore final : public Store {
 public:
  explicit PythonStore(PyObject* run) : run_(run) {}

  StoreReply run(const StoreRequest& request) override {
    WithGil gil;
    Owned keys(to_byte_list(request.keys)), values(to_byte_list(request.values));
    Owned result(python::check(PyObject_CallFunction(run_.object, "iOOLL", static_cast<int>(request.op), keys.get(),
                                                     values.get(), static_cast<long long>(request.number),
                                                     static_cast<long long>(request.timeout.count()))));
    PyObject* list;
    long long number;
    if (!PyArg_ParseTuple(result.get(), "O!L", &PyList_Type, &list, &number)) throw PythonError();
    return {to_strings(list), number};
  }
  Ref<Store> clone() override { return Ref<Store>(this); }
  std::string describe() const override { return "a store written in Python"; }

 private:
  HeldObject run_;
};

PyObject* run(PyObject* self, PyObject* args) {
  return guarded(nullptr, [&] {
    int op;
    PyObject *keys, *values;
    long long number, timeout;
    if (!PyArg_ParseTuple(args, "iO!O!LL", &op, &PyList_Type, &keys, &PyList_Type, &values, &number, &timeout))
      throw PythonError();
    StoreRequest request{static_cast<StoreOp>(op), to_strings(keys), to_strings(values), number, Milliseconds(timeout)};
    StoreReply reply;
    {
      NoGil unlocked;
      reply = store_of(self).run(request);
    }
    Owned results(to_byte_list(reply.values));
    return check(Py_BuildValue("OL", results.get(), static_cast<long long>(reply.number)));
  });
}
PyObject* clone(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] {
    Ref<Store> made;
    {
      NoGil unlocked;
      made = store_of(self).clone();
    }
    return new_handle(std::move(made));
  });
}
PyObject* describe(PyObject* self) {
  return guarded(nullptr, [&] { return check(PyUnicode_FromString(store_of(self).describe().c_str())); });
}

PyObject* hash_store(PyObject*, PyObject*) {
  return guarded(nullptr, [&] { return new_handle(make_hash_store()); });
}
PyObject* file_store(PyObject*, PyObject* args) {
  return guarded(nullptr, [&] {
    const char* path;
    long long workers;
    if (!PyArg_ParseTuple(args, "sL", &path, &workers)) throw PythonError();
    return new_handle(make_file_store(path, workers));
  });
}
PyObject* prefix_store(PyObject*, PyObject* args) {
  return guarded(nullptr, [&] {
    const char* prefix;
    PyObject* inner;
    if (!PyArg_ParseTuple(args, "sO!", &prefix, &g_type, &inner)) throw PythonError();
    return new_handle(make_prefix_store(prefix, reinterpret_cast<StoreObject*>(inner)->store));
  });
}
PyObject* python_store(PyObject*, PyObject* object) {
  return guarded(nullptr, [&] { return new_handle(Ref<Store>(new PythonStore(object))); });
}
PyObject* tcp_store(PyObject*, PyObject* args) {
  return guarded("distributed.TCPStore", [&] {
    const char* host;
    int port, is_server, waits, multi_tenant, listen_fd;
    long long workers, timeout;
    if (!PyArg_ParseTuple(args, "siLpppiL", &host, &port, &workers, &is_server, &waits, &multi_tenant, &listen_fd,
                          &timeout))
      throw PythonError();
    TcpStore made;
    {
      NoGil unlocked;
      made = make_tcp_store(
          {host, port, workers, is_server != 0, waits != 0, multi_tenant != 0, listen_fd, Milliseconds(timeout)});
    }
    Owned handle(new_handle(made.store));
    return check(Py_BuildValue("Oi", handle.get(), made.port));
  });
}

// Ctrl-C ends a wait.
void check_signals() {
  WithGil gil;
  check(PyErr_CheckSignals());
}

PyMethodDef g_methods[] = {
    {"run", run, METH_VARARGS, "run(op, keys, values, number, timeout in ms): (values, number)."},
    {"clone", clone, METH_NOARGS, "A handle whose calls do not wait for this one's."},
    {}};
PyMethodDef g_functions[] = {
    {"hash_store", hash_store, METH_NOARGS, "A store in memory."},
    {"file_store", file_store, METH_VARARGS, "file_store(path, workers): a store in a file."},
    {"prefix_store", prefix_store, METH_VARARGS, "prefix_store(prefix, store): a part of another store."},
    {"python_store", python_store, METH_O, "python_store(run): a store that a Python function answers for."},
    {"tcp_store", tcp_store, METH_VARARGS,
     "tcp_store(host, port, workers, is_server, wait_for_workers, multi_tenant, listen_fd, timeout in ms): (store, "
     "port)."},
    {}};

}  // namespace

Ref<Store> to_store(PyObject* handle) {
  TAEDA_CHECK_TYPE(Py_TYPE(handle) == &g_type, "a StoreHandle is wanted; got ", Py_TYPE(handle)->tp_name);
  return reinterpret_cast<StoreObject*>(handle)->store;
}

PyObject* store_handle(Ref<distributed::Store> store) { return new_handle(std::move(store)); }

Ref<distributed::Store> store_within(PyObject* store, int64_t& timeout) {
  if (!PyObject_HasAttrString(store, "_handle")) return nullptr;
  Owned handle(check(PyObject_CallMethod(store, "_handle", nullptr)));
  Owned limit(check(PyObject_GetAttrString(store, "timeout")));
  Owned seconds(check(PyObject_CallMethod(limit.get(), "total_seconds", nullptr)));
  timeout = static_cast<int64_t>(PyFloat_AsDouble(seconds.get()) * 1000);
  return to_store(handle.get());
}

int init_distributed(PyObject* module) {
  set_interruption_check(check_signals);
  g_type.tp_dealloc = deallocate;
  g_type.tp_repr = describe;
  g_type.tp_methods = g_methods;
  g_type.tp_doc = "A store as the library holds it.";
  PyObject* part = PyImport_AddModule("taeda._C._distributed");  // borrowed; sys.modules keeps it
  if (!part || PyModule_AddObjectRef(module, "_distributed", part) < 0 || add_type(part, g_type) < 0) return -1;
  return PyModule_AddFunctions(part, g_functions) < 0 ? -1 : init_groups(part);
}

}  // namespace taeda::python
