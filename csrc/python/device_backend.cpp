// Devices that a program brings: memory given out by a Python object, on one of the PrivateUse backends.
#include "python/op_objects.h"
#include "python/types.h"
#include "taeda/core/allocator.h"

namespace taeda::python {

namespace {

// The object's methods, all called with the GIL held:
//   allocate(nbytes, index) -> (address, owner): memory that lives as long as `owner`, which is kept until it is free
//   copy(to, source, nbytes): between two of its addresses
//   read(address, into), write(address, data): memoryviews of host memory; absent if the host may use the addresses
//   current_device() -> int: which of several is meant by a device without an index; 0 if absent
class PythonAllocator final : public Allocator {
 public:
  explicit PythonAllocator(PyObject* device) : device_(make_ref<HeldObject>(device)) {
    for (const char* name : {"allocate", "copy"})
      TAEDA_CHECK_TYPE(PyObject_HasAttrString(device, name), "a device needs the method ", name, "(); got ",
                       Py_TYPE(device)->tp_name);
    addressable_ = !PyObject_HasAttrString(device, "read");
    TAEDA_CHECK_TYPE(addressable_ == !PyObject_HasAttrString(device, "write"), "read() and write() go together");
  }

  DataPtr allocate(size_t bytes, Device device, void*) override {
    WithGil locked;
    if (device.index < 0) device.index = current();
    Owned block(check(PyObject_CallMethod(device_->object, "allocate", "ni", static_cast<Py_ssize_t>(bytes),
                                          static_cast<int>(device.index))));
    TAEDA_CHECK_TYPE(PyTuple_Check(block.get()) && PyTuple_GET_SIZE(block.get()) == 2 &&
                         PyLong_Check(PyTuple_GET_ITEM(block.get(), 0)),
                     "allocate() must return (address, owner)");
    void* address = PyLong_AsVoidPtr(PyTuple_GET_ITEM(block.get(), 0));
    if (!address && PyErr_Occurred()) throw PythonError();
    return {address, Py_NewRef(PyTuple_GET_ITEM(block.get(), 1)), python_hooks.decref, device};
  }

  void copy(void* to, const void* from, size_t bytes) override {
    WithGil locked;
    Owned target(check(PyLong_FromVoidPtr(to))), source(check(PyLong_FromVoidPtr(const_cast<void*>(from))));
    Owned(check(PyObject_CallMethod(device_->object, "copy", "OOn", target.get(), source.get(),
                                    static_cast<Py_ssize_t>(bytes))));
  }

  bool is_host_addressable() const override { return addressable_; }
  void read(void* host, const void* block, size_t bytes) override { move("read", block, host, bytes, PyBUF_WRITE); }
  void write(void* block, const void* host, size_t bytes) override {
    move("write", block, const_cast<void*>(host), bytes, PyBUF_READ);
  }

 private:
  int8_t current() const {
    if (!PyObject_HasAttrString(device_->object, "current_device")) return 0;
    Owned index(check(PyObject_CallMethod(device_->object, "current_device", nullptr)));
    int64_t number = to_int(index.get(), "the result of current_device()");
    TAEDA_CHECK(number >= 0 && number < 128, "a device index is from 0 to 127; current_device() gave ", number);
    return static_cast<int8_t>(number);
  }
  void move(const char* method, const void* block, void* host, size_t bytes, int access) {
    WithGil locked;
    Owned address(check(PyLong_FromVoidPtr(const_cast<void*>(block))));
    Owned view(check(PyMemoryView_FromMemory(static_cast<char*>(host), static_cast<Py_ssize_t>(bytes), access)));
    Owned(check(PyObject_CallMethod(device_->object, method, "OO", address.get(), view.get())));
    // The memory is the caller's: a view that Python kept must not reach it any more.
    Owned(check(PyObject_CallMethod(view.get(), "release", nullptr)));
  }

  Ref<HeldObject> device_;
  bool addressable_;
};

PyObject* register_device(PyObject*, PyObject* args) {
  const char* name;
  PyObject* device;
  if (!PyArg_ParseTuple(args, "sO", &name, &device)) return nullptr;
  return guarded("_register_device", [&] {
    DeviceType type = parse_device(name).type;
    TAEDA_CHECK(type >= DeviceType::PrivateUse1, "'", name,
                "' is a device of Taeda's own; name one with utils.rename_privateuse1_backend first");
    // Never freed: memory of a replaced allocator may still be alive.
    set_allocator(type, new PythonAllocator(device));
    return Py_NewRef(Py_None);
  });
}

PyObject* privateuse_name(PyObject*, PyObject* args) {
  int slot = 1;
  if (!PyArg_ParseTuple(args, "|i", &slot)) return nullptr;
  return guarded("_get_privateuse_backend_name", [&] {
    TAEDA_CHECK(slot >= 1 && slot <= 3, "a backend of one's own has slot 1, 2 or 3; got ", slot);
    return PyUnicode_FromString(device_type_name(privateuse(slot)).c_str());
  });
}

PyMethodDef g_functions[] = {
    {"_register_device", register_device, METH_VARARGS,
     "_register_device(name, device)\n--\n\nMemory of the device type ``name`` comes from ``device``; "
     "docs/add-a-backend.md "
     "lists its methods."},
    {"_get_privateuse1_backend_name", privateuse_name, METH_VARARGS, "The name that a PrivateUse backend goes by."},
    {}};

}  // namespace

int init_device_backend(PyObject* module) { return PyModule_AddFunctions(module, g_functions); }

}  // namespace taeda::python
