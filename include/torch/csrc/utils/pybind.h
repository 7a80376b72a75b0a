// pybind11's casters for tensors and what describes them, and the older functions between tensors and Python objects.
#pragma once
#if !__has_include(<pybind11/pybind11.h>)
#error "bindings of C++ for Python take pybind11, which is not installed: pip install 'taeda[cpp]'"
#endif
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <c10/core/DeviceGuard.h>
#include <torch/detail/python_table.h>
#include <torch/types.h>

namespace py = pybind11;

namespace torch::detail {

// Asked of Taeda's module once.
inline const PythonTable& python() {
  static const PythonTable* table = [] {
    py::module_::import("taeda");
    auto* found = static_cast<const PythonTable*>(PyCapsule_Import(kPythonTable, 0));
    if (!found) throw py::error_already_set();
    return found;
  }();
  return *table;
}

// An error of Taeda's becomes the Python exception that its kind names, in this extension alone.
struct ErrorTranslator {
  ErrorTranslator() {
    py::register_local_exception_translator([](std::exception_ptr pointer) {
      try {
        if (pointer) std::rethrow_exception(pointer);
      } catch (const ::taeda::Error&) {
        python().translate_exception();
      }
    });
  }
};
// Not inline: the loader would take one for all extensions of a process, and each has a list of its own.
static const ErrorTranslator error_translator;

}  // namespace torch::detail

// --- between tensors and Python objects; the GIL is held
inline bool THPVariable_Check(PyObject* object) { return torch::detail::python().is_tensor(object); }
inline bool THPVariable_CheckExact(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == torch::detail::python().tensor_class();
}
inline PyObject* THPVariable_Wrap(const at::Tensor& tensor) { return torch::detail::python().wrap_tensor(tensor); }
inline const at::Tensor& THPVariable_Unpack(PyObject* object) {
  return static_cast<const at::Tensor&>(*torch::detail::python().unwrap(object));
}
inline bool THPDtype_Check(PyObject* object) { return torch::detail::python().is_dtype(object); }
inline bool THPDevice_Check(PyObject* object) { return torch::detail::python().is_device(object); }
inline bool THPGenerator_Check(PyObject* object) { return torch::detail::python().is_generator(object); }

namespace pybind11::detail {

#define TAEDA_CASTER(T, shown, accepts, READ, WRITE)                 \
  template <>                                                        \
  struct type_caster<T> {                                            \
    PYBIND11_TYPE_CASTER(T, const_name(shown));                      \
    bool load(handle source, bool) {                                 \
      const auto& python = torch::detail::python();                  \
      if (!source || !(accepts)) return false;                       \
      value = READ;                                                  \
      return true;                                                   \
    }                                                                \
    static handle cast(const T& made, return_value_policy, handle) { \
      const auto& python = torch::detail::python();                  \
      PyObject* object = WRITE;                                      \
      if (!object) throw error_already_set();                        \
      return object;                                                 \
    }                                                                \
  };
TAEDA_CASTER(at::Tensor, "torch.Tensor", python.is_tensor(source.ptr()), *python.unwrap(source.ptr()),
             python.wrap_tensor(made))
TAEDA_CASTER(at::ScalarType, "torch.dtype", python.is_dtype(source.ptr()),
             c10::to_scalar_type(python.to_dtype(source.ptr())), python.wrap_value(c10::to_dtype(made)))
TAEDA_CASTER(at::Layout, "torch.layout", python.is_layout(source.ptr()), python.to_layout(source.ptr()),
             python.wrap_value(made))
TAEDA_CASTER(at::MemoryFormat, "torch.memory_format", python.is_memory_format(source.ptr()),
             python.to_memory_format(source.ptr()), python.wrap_value(made))
TAEDA_CASTER(at::Generator, "torch.Generator", python.is_generator(source.ptr()), python.to_generator(source.ptr()),
             python.wrap_value(made.ref()))
TAEDA_CASTER(at::Storage, "torch.UntypedStorage", python.is_storage(source.ptr()), python.to_storage(source.ptr()),
             python.wrap_storage(made))
TAEDA_CASTER(at::Device, "torch.device", python.is_device(source.ptr()) || PyUnicode_Check(source.ptr()),
             python.to_device(source.ptr()), python.wrap_value(static_cast<const ::taeda::Device&>(made)))
#undef TAEDA_CASTER

template <>
struct type_caster<c10::Scalar> {
  PYBIND11_TYPE_CASTER(c10::Scalar, const_name("Number"));
  bool load(handle source, bool) {
    ::taeda::Scalar number;
    if (!source || !torch::detail::python().read_number(source.ptr(), number)) return false;
    value = number;
    return true;
  }
  static handle cast(const c10::Scalar& made, return_value_policy, handle) {
    return torch::detail::python().wrap_value(static_cast<const ::taeda::Scalar&>(made));
  }
};

// torch.Stream, which is a class of Python's.
template <>
struct type_caster<c10::Stream> {
  PYBIND11_TYPE_CASTER(c10::Stream, const_name("torch.Stream"));
  // Where nothing was read yet.
  type_caster() : value(c10::Stream::DEFAULT, c10::Device(c10::kCPU)) {}
  bool load(handle source, bool) {
    object stream = stream_class();
    if (!source || PyObject_IsInstance(source.ptr(), stream.ptr()) != 1) return false;
    object device = attribute(source, "device"), id = attribute(source, "stream_id");
    value =
        c10::Stream(c10::Stream::UNSAFE, torch::detail::python().to_device(device.ptr()), PyLong_AsLongLong(id.ptr()));
    return true;
  }
  static handle cast(const c10::Stream& made, return_value_policy, handle) {
    PyObject* device = torch::detail::python().wrap_value(static_cast<const ::taeda::Device&>(made.device()));
    object given = reinterpret_steal<object>(device);
    return checked(PyObject_CallOneArg(stream_class().ptr(), given.ptr())).release();
  }

 private:
  static object checked(PyObject* made) {
    if (!made) throw error_already_set();
    return reinterpret_steal<object>(made);
  }
  static object attribute(handle of, const char* name) { return checked(PyObject_GetAttrString(of.ptr(), name)); }
  static object stream_class() { return attribute(module_::import("taeda"), "Stream"); }
};

// Lists of whole numbers, one for all of them; numbers of NumPy and tensors of one element are numbers, too.
template <>
struct type_caster<c10::IntArrayRef> {
  PYBIND11_TYPE_CASTER(c10::IntArrayRef, const_name("List[int]"));
  bool load(handle source, bool) {
    if (!source) return false;
    items_.clear();
    if (PyIndex_Check(source.ptr()) && !PySequence_Check(source.ptr())) return add(source.ptr()) && finish();
    if (!PyTuple_Check(source.ptr()) && !PyList_Check(source.ptr())) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(source.ptr()); ++i)
      if (!add(PySequence_Fast_GET_ITEM(source.ptr(), i))) return false;
    return finish();
  }
  static handle cast(c10::IntArrayRef made, return_value_policy, handle) {
    list items(made.size());
    for (size_t i = 0; i < made.size(); ++i)
      PyList_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(made[i]));
    return items.release();
  }

 private:
  bool add(PyObject* item) {
    object number = reinterpret_steal<object>(PyNumber_Index(item));
    int64_t made = number ? PyLong_AsLongLong(number.ptr()) : -1;
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    items_.push_back(made);
    return true;
  }
  bool finish() {
    value = items_;
    return true;
  }
  std::vector<int64_t> items_;
};

template <>
struct type_caster<c10::SymInt> {
  PYBIND11_TYPE_CASTER(c10::SymInt, const_name("int"));
  bool load(handle source, bool convert) {
    make_caster<int64_t> number;
    if (!number.load(source, convert)) return false;
    value = cast_op<int64_t>(number);
    return true;
  }
  static handle cast(const c10::SymInt& made, return_value_policy, handle) { return PyLong_FromLongLong(made); }
};

// Values of any type, and lists and dicts of the core's.
template <class T>
struct value_caster {
  PYBIND11_TYPE_CASTER(T, const_name("object"));
  bool load(handle source, bool) {
    ::taeda::Value read;
    if (!source || !torch::detail::python().read_value(source.ptr(), c10::detail::type_of<T>(), read)) return false;
    value = c10::detail::from_value<T>(read);
    return true;
  }
  static handle cast(const T& made, return_value_policy, handle) {
    return torch::detail::python().wrap_value(c10::detail::to_value<T>(made));
  }
};
template <>
struct type_caster<c10::IValue> : value_caster<c10::IValue> {};
template <class T>
struct type_caster<c10::List<T>> : value_caster<c10::List<T>> {};
template <class K, class V>
struct type_caster<c10::Dict<K, V>> : value_caster<c10::Dict<K, V>> {};

}  // namespace pybind11::detail

// intrusive_ptr holds what pybind11 gives it: classes bound with it keep one count.
PYBIND11_DECLARE_HOLDER_TYPE(T, c10::intrusive_ptr<T>, true);

// Process groups have casters of their own, where both are included.
#define TAEDA_WITH_PYBIND
#ifdef TAEDA_WITH_PROCESS_GROUPS
#include <torch/csrc/distributed/c10d/casters.h>
#endif
