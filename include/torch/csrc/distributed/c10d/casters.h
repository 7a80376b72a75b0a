// pybind11's casters for stores, backends, groups and work. Included by ProcessGroup.hpp or
// torch/csrc/utils/pybind.h, whichever comes second.
#pragma once
#include <torch/csrc/distributed/c10d/boxed.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace c10d::detail {

// What stands for objects of C++ in Python: taeda/distributed/_cpp.py.
inline py::object python_side(const char* name) { return py::module_::import("taeda.distributed._cpp").attr(name); }

// The C++ object within a Python one; null if there is none of that type.
template <class T>
c10::intrusive_ptr<T> native_of(const py::object& native) {
  ::taeda::Value value;
  boxed(c10::intrusive_ptr<T>());  // knows the class
  if (!torch::detail::python().read_value(native.ptr(), c10::detail::custom_type(typeid(T)), value)) return nullptr;
  return value.is_none() ? nullptr : c10::detail::from_value<c10::intrusive_ptr<T>>(value);
}

inline c10::intrusive_ptr<Backend> backend_of(py::handle source) {
  py::object native = python_side("native_of")(source);
  if (native.is_none()) return nullptr;
  if (auto engine = torch::detail::python().to_engine(native.ptr()))
    return c10::make_intrusive<EngineBackend>(std::move(engine));
  return native_of<Backend>(native);
}

// A group of C++ as it is; one of Python's with its store, its name and its backends.
inline c10::intrusive_ptr<ProcessGroup> group_of(py::handle source);

}  // namespace c10d::detail

namespace pybind11::detail {

// More constrained than the caster of whatever classes pybind11 was told of, which has the same condition.
template <class T>
  requires std::is_base_of_v<c10d::Store, T>
class type_caster<c10::intrusive_ptr<T>, enable_if_t<!is_shared_ptr<c10::intrusive_ptr<T>>::value>> {
 public:
  PYBIND11_TYPE_CASTER(c10::intrusive_ptr<T>, const_name("Store"));
  bool load(handle source, bool) {
    int64_t timeout = 0;
    auto native = torch::detail::python().to_store(source.ptr(), timeout);
    if (!native) return false;
    if constexpr (std::is_base_of_v<T, c10d::NativeStore>)
      value = c10::make_intrusive<c10d::NativeStore>(std::move(native), std::chrono::milliseconds(timeout));
    return value.defined();
  }
  static handle cast(const c10::intrusive_ptr<T>& made, return_value_policy, handle) {
    if (!made) return none().release();
    object native = reinterpret_steal<object>(torch::detail::python().wrap_store(c10d::to_native(made)));
    if (!native) throw error_already_set();
    return c10d::detail::python_side("store")(native, made->getTimeout().count()).release();
  }
};

#define TAEDA_CASTER(Base, shown, LOAD)                                                                 \
  template <class T>                                                                                    \
    requires std::is_base_of_v<Base, T>                                                                 \
  class type_caster<c10::intrusive_ptr<T>, enable_if_t<!is_shared_ptr<c10::intrusive_ptr<T>>::value>> { \
   public:                                                                                              \
    PYBIND11_TYPE_CASTER(c10::intrusive_ptr<T>, const_name(shown));                                     \
    bool load(handle source, bool) {                                                                    \
      if (source.is_none()) return true;                                                                \
      c10::intrusive_ptr<Base> found = LOAD;                                                            \
      if (found) value = c10::dynamic_intrusive_pointer_cast<T>(found);                                 \
      return value.defined();                                                                           \
    }                                                                                                   \
    static handle cast(const c10::intrusive_ptr<T>& made, return_value_policy, handle) {                \
      c10::IValue boxed = c10d::detail::boxed(c10::intrusive_ptr<Base>(made));                          \
      object native = reinterpret_steal<object>(torch::detail::python().wrap_value(boxed));             \
      if (!native) throw error_already_set();                                                           \
      return c10d::detail::python_side("wrapped")(shown, native).release();                             \
    }                                                                                                   \
  };
TAEDA_CASTER(c10d::Backend, "Backend", c10d::detail::backend_of(source))
TAEDA_CASTER(c10d::ProcessGroup, "ProcessGroup", c10d::detail::group_of(source))
TAEDA_CASTER(c10d::Work, "Work", c10d::detail::native_of<c10d::Work>(c10d::detail::python_side("native_of")(source)))
#undef TAEDA_CASTER

// What a backend that was registered with extended_api is made with.
template <>
struct type_caster<c10d::DistributedBackendOptions> {
  PYBIND11_TYPE_CASTER(c10d::DistributedBackendOptions, const_name("DistributedBackendOptions"));
  bool load(handle source, bool) {
    if (!hasattr(source, "group_rank")) return false;
    value.store = source.attr("store").cast<c10::intrusive_ptr<c10d::Store>>();
    value.group_rank = source.attr("group_rank").cast<int>();
    value.group_size = source.attr("group_size").cast<int>();
    value.timeout = std::chrono::duration<float>(source.attr("timeout").attr("total_seconds")().cast<float>());
    value.group_id = source.attr("group_id").cast<std::string>();
    value.global_ranks_in_group = source.attr("global_ranks_in_group").cast<std::vector<int64_t>>();
    return true;
  }
};

}  // namespace pybind11::detail

namespace c10d::detail {

inline c10::intrusive_ptr<ProcessGroup> group_of(py::handle source) {
  py::object native = python_side("native_of")(source);
  if (!native.is_none())
    if (auto group = native_of<ProcessGroup>(native)) return group;
  auto [rank, size, name, store, parts] =
      python_side("parts_of")(source)
          .cast<std::tuple<int, int, std::string, py::object, std::vector<std::tuple<at::Device, int, py::object>>>>();
  c10::intrusive_ptr<Store> met;
  if (!store.is_none()) met = store.cast<c10::intrusive_ptr<Store>>();
  auto group = c10::make_intrusive<ProcessGroup>(met, rank, size);
  for (const auto& [device, kind, backend] : parts) {
    auto found = backend_of(backend);
    if (!found) return nullptr;
    group->setBackend(device.type(), static_cast<ProcessGroup::BackendType>(kind), found);
  }
  group->setGroupName(name);
  return group;
}

}  // namespace c10d::detail
