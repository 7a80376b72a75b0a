// taeda._C._distributed: process groups and their work as handles, over which taeda/distributed/_engine.py writes
// classes.
#include "python/distributed/handles.h"

namespace taeda::python {

namespace {

using namespace distributed;

struct GroupObject {
  PyObject_HEAD
  Ref<ProcessGroup> group;
};
struct WorkObject {
  PyObject_HEAD
  Ref<Work> work;
};
PyTypeObject g_group_type = static_type("taeda._C._distributed.GroupHandle", sizeof(GroupObject));
PyTypeObject g_work_type = static_type("taeda._C._distributed.WorkHandle", sizeof(WorkObject));

ProcessGroup& group_of(PyObject* self) { return *reinterpret_cast<GroupObject*>(self)->group; }
Work& work_of(PyObject* self) { return *reinterpret_cast<WorkObject*>(self)->work; }

PyObject* new_group(Ref<ProcessGroup> group) {
  PyObject* self = check(g_group_type.tp_alloc(&g_group_type, 0));
  new (&reinterpret_cast<GroupObject*>(self)->group) Ref<ProcessGroup>(std::move(group));
  return self;
}
void deallocate_group(PyObject* self) {
  {
    NoGil unlocked;  // the group's thread is waited for
    reinterpret_cast<GroupObject*>(self)->group.~Ref();
  }
  Py_TYPE(self)->tp_free(self);
}
PyObject* new_work(Ref<Work> work) {
  PyObject* self = check(g_work_type.tp_alloc(&g_work_type, 0));
  new (&reinterpret_cast<WorkObject*>(self)->work) Ref<Work>(std::move(work));
  return self;
}
void deallocate_work(PyObject* self) {
  reinterpret_cast<WorkObject*>(self)->work.~Ref();
  Py_TYPE(self)->tp_free(self);
}

std::vector<Tensor> to_tensors(PyObject* list) {
  TAEDA_CHECK_TYPE(PyList_Check(list), "a list of tensors is wanted; got ", Py_TYPE(list)->tp_name);
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    TAEDA_CHECK_TYPE(is_tensor(item), "a list of tensors is wanted; it holds ", Py_TYPE(item)->tp_name);
    tensors.push_back(unwrap(item));
  }
  return tensors;
}

constexpr Py_ssize_t kTaskParts = 6;
Task to_task(PyObject* const* parts) {
  auto number = [](PyObject* object, const char* name) { return static_cast<int>(to_int(object, name)); };
  Task task{static_cast<Collective>(number(parts[0], "what")), to_tensors(parts[1]), to_tensors(parts[2])};
  task.reduction = static_cast<ReduceKind>(number(parts[3], "reduction"));
  task.root = number(parts[4], "root");
  int64_t tag = to_int(parts[5], "tag");
  TAEDA_CHECK_VALUE(tag >= 0 && tag <= INT32_MAX, "a tag is wanted from 0 to ", int64_t{INT32_MAX}, "; got ", tag);
  task.tag = static_cast<int>(tag);
  return task;
}

PyObject* submit_tasks(PyObject* self, std::vector<Task> tasks, PyObject* timeout, PyObject* async) {
  Milliseconds limit(to_int(timeout, "timeout"));
  bool later = to_flag(async, false);
  Ref<Work> work;
  {
    NoGil unlocked;
    work = group_of(self).submit(std::move(tasks), limit, later);
  }
  return new_work(std::move(work));
}

PyObject* submit(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded(nullptr, [&] {
    TAEDA_CHECK_TYPE(count == kTaskParts + 2, "submit takes ", int64_t{kTaskParts + 2}, " arguments");
    std::vector<Task> tasks;
    tasks.push_back(to_task(args));
    return submit_tasks(self, std::move(tasks), args[kTaskParts], args[kTaskParts + 1]);
  });
}
PyObject* submit_many(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded(nullptr, [&] {
    TAEDA_CHECK_TYPE(count == 3 && PyList_Check(args[0]), "submit_many takes a list, a timeout and a flag");
    std::vector<Task> tasks;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[0]); ++i) {
      PyObject* item = PyList_GET_ITEM(args[0], i);
      TAEDA_CHECK_TYPE(PyTuple_Check(item) && PyTuple_GET_SIZE(item) == kTaskParts, "a task is a tuple");
      tasks.push_back(to_task(&PyTuple_GET_ITEM(item, 0)));
    }
    return submit_tasks(self, std::move(tasks), args[1], args[2]);
  });
}
PyObject* rank(PyObject* self, PyObject*) { return PyLong_FromLong(group_of(self).rank()); }
PyObject* size(PyObject* self, PyObject*) { return PyLong_FromLong(group_of(self).size()); }
PyObject* abort(PyObject* self, PyObject* reason) {
  return guarded(nullptr, [&] {
    std::string text(to_text(reason, "reason"));
    {
      NoGil unlocked;
      group_of(self).abort(text);
    }
    return Py_NewRef(Py_None);
  });
}
PyObject* shutdown(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] {
    {
      NoGil unlocked;
      group_of(self).shutdown();
    }
    return Py_NewRef(Py_None);
  });
}

PyObject* wait(PyObject* self, PyObject* timeout) {
  return guarded(nullptr, [&] {
    Milliseconds limit(to_int(timeout, "timeout"));
    {
      NoGil unlocked;
      work_of(self).wait(limit);
    }
    return Py_NewRef(Py_True);
  });
}
PyObject* is_completed(PyObject* self, PyObject*) {
  return guarded(nullptr, [&] { return PyBool_FromLong(work_of(self).is_completed()); });
}
PyObject* error(PyObject* self, PyObject*) {
  return guarded(nullptr, [&]() -> PyObject* {
    std::exception_ptr what = work_of(self).error();
    if (!what) return Py_NewRef(Py_None);
    try {
      std::rethrow_exception(what);
    } catch (...) {
      translate_exception(nullptr);
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return value;
  });
}
PyObject* then(PyObject* self, PyObject* callback) {
  return guarded(nullptr, [&] {
    auto held = std::make_shared<HeldObject>(callback);
    auto run = [held] {
      WithGil gil;
      Owned result(PyObject_CallNoArgs(held->object));
      if (!result) PyErr_WriteUnraisable(held->object);
    };
    {
      NoGil unlocked;
      work_of(self).then(std::move(run));
    }
    return Py_NewRef(Py_None);
  });
}
PyObject* source_rank(PyObject* self, PyObject*) {
  return guarded("distributed.Work.source_rank", [&] { return PyLong_FromLong(work_of(self).source_rank()); });
}

PyObject* process_group(PyObject*, PyObject* args) {
  return guarded("distributed", [&] {
    PyObject* store;
    int own, all;
    long long timeout;
    const char* library;
    if (!PyArg_ParseTuple(args, "OiiLs", &store, &own, &all, &timeout, &library)) throw PythonError();
    Ref<Store> place = to_store(store);
    Ref<ProcessGroup> made;
    {
      NoGil unlocked;
      made = make_process_group(std::move(place), own, all, Milliseconds(timeout), library);
    }
    return new_group(std::move(made));
  });
}
PyObject* thread_group(PyObject*, PyObject* args) {
  return guarded("distributed", [&] {
    const char* key;
    int own, all;
    if (!PyArg_ParseTuple(args, "sii", &key, &own, &all)) throw PythonError();
    return new_group(make_thread_group(key, own, all));
  });
}
PyObject* find_mpi_library(PyObject*, PyObject* folders) {
  return guarded(nullptr, [&] {
    TAEDA_CHECK_TYPE(PyList_Check(folders), "a list of folders is wanted; got ", Py_TYPE(folders)->tp_name);
    std::vector<std::string> places;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(folders); ++i)
      places.emplace_back(to_text(PyList_GET_ITEM(folders, i), "folders"));
    return check(PyUnicode_DecodeFSDefault(find_mpi(std::move(places)).c_str()));
  });
}
template <void (*end)()>
PyObject* farewell(PyObject*, PyObject*) {
  return guarded(nullptr, [&] {
    {
      NoGil unlocked;
      end();
    }
    return Py_NewRef(Py_None);
  });
}
PyObject* transport(PyObject*, PyObject*) {
  return guarded(nullptr, [&] { return check(PyUnicode_FromString(transport_description().c_str())); });
}
PyObject* started_by(PyObject*, PyObject*) {
  StartedBy found = started_by_mpi();
  return Py_BuildValue("ii", found.rank, found.size);
}

PyMethodDef g_group_methods[] = {
    {"submit", as_method(submit), METH_FASTCALL,
     "submit(what, inputs, outputs, reduction, root, tag, timeout in ms, async): a WorkHandle."},
    {"submit_many", as_method(submit_many), METH_FASTCALL,
     "submit_many(tuples of submit's first six, timeout in ms, async): one WorkHandle."},
    {"rank", rank, METH_NOARGS, "This process's number in the group."},
    {"size", size, METH_NOARGS, "How many ranks there are."},
    {"abort", abort, METH_O, "abort(reason): ends all work with an error."},
    {"shutdown", shutdown, METH_NOARGS, "Waits for all work, and takes no more."},
    {}};
PyMethodDef g_work_methods[] = {
    {"wait", wait, METH_O, "wait(timeout in ms, or 0): True when it is done, or raises what went wrong."},
    {"is_completed", is_completed, METH_NOARGS, "Whether it is done."},
    {"error", error, METH_NOARGS, "What went wrong, or None."},
    {"then", then, METH_O, "then(callback): calls it when this is done."},
    {"source_rank", source_rank, METH_NOARGS, "Whom a receive came from."},
    {}};
PyMethodDef g_functions[] = {
    {"process_group", process_group, METH_VARARGS,
     "process_group(store, rank, size, timeout in ms, path of MPI): a group of processes that meet at a store."},
    {"thread_group", thread_group, METH_VARARGS, "thread_group(key, rank, size): a group of threads."},
    {"leave_processes", farewell<leave_processes>, METH_NOARGS, "Tells the others that this process ends in order."},
    {"end_processes", farewell<end_processes>, METH_NOARGS, "The same at the end of the process."},
    {"find_mpi", find_mpi_library, METH_O,
     "find_mpi(list of folders): the path of the MPI library; empty without one."},
    {"transport", transport, METH_NOARGS, "What moves the bytes, by its own name; empty if nothing does yet."},
    {"started_by_mpi", started_by, METH_NOARGS, "(rank, size) that a starter of MPI programs gave; -1 without."},
    {}};

}  // namespace

Ref<ProcessGroup> group_within(PyObject* handle) {
  return Py_TYPE(handle) == &g_group_type ? reinterpret_cast<GroupObject*>(handle)->group : nullptr;
}

int init_groups(PyObject* module) {
  g_group_type.tp_dealloc = deallocate_group;
  g_group_type.tp_methods = g_group_methods;
  g_group_type.tp_doc = "A process group as the library holds it.";
  g_work_type.tp_dealloc = deallocate_work;
  g_work_type.tp_methods = g_work_methods;
  g_work_type.tp_doc = "Work of a process group as the library holds it.";
  if (add_type(module, g_group_type) < 0 || add_type(module, g_work_type) < 0) return -1;
  return PyModule_AddFunctions(module, g_functions);
}

}  // namespace taeda::python
