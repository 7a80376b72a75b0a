// What extensions ask of Python: casters, and bindings of modules of C++.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include <torch/csrc/utils/pybind.h>
#include <torch/detail/static.h>
#include <torch/nn/module.h>
#include <torch/types.h>

namespace torch::python {
namespace detail {

template <class M>
using PyModuleClass = py::class_<M, nn::Module, std::shared_ptr<M>>;

// An extension's own: extensions share no types, and those of Taeda are not pybind11's.
template <class T>
void bind_dict(py::module_& module, const char* name) {
  using Dict = OrderedDict<std::string, T>;
  using Item = typename Dict::Item;
  if (py::detail::get_type_info(typeid(Dict))) return;
  py::class_<Dict>(module, name, py::module_local())
      .def("items",
           [](const Dict& dict) {
             py::list items;
             for (const Item& item : dict) items.append(py::make_tuple(item.key(), item.value()));
             return items;
           })
      .def("keys", &Dict::keys)
      .def("values", &Dict::values)
      .def("__iter__", [](py::object self) { return py::iter(self.attr("items")()); })
      .def("__len__", &Dict::size)
      .def("__contains__", [](const Dict& dict, const std::string& key) { return dict.contains(key); })
      .def("__getitem__", [](const Dict& dict, const std::string& key) { return dict[key]; })
      .def("__getitem__", [](const Dict& dict, size_t index) { return dict[index].pair(); });
}

}  // namespace detail

// The methods that every module has. Its dictionaries are those of the module at the time of the call.
template <class M, class... Extra>
py::class_<M, Extra...> add_module_bindings(py::class_<M, Extra...> bound) {
  using namespace py::literals;
  return bound.def(
                  "train", [](M& self, bool mode) { self.train(mode); }, "mode"_a = true)
      .def("eval", [](M& self) { self.eval(); })
      .def("clone", [](M& self) { return self.clone(); })
      .def_property_readonly("training", [](M& self) { return self.is_training(); })
      .def("zero_grad", [](M& self) { self.zero_grad(); })
      .def_property_readonly("_parameters", [](M& self) { return self.named_parameters(false); })
      .def(
          "parameters", [](M& self, bool recurse) { return self.parameters(recurse); }, "recurse"_a = true)
      .def(
          "named_parameters", [](M& self, bool recurse) { return self.named_parameters(recurse); }, "recurse"_a = true)
      .def_property_readonly("_buffers", [](M& self) { return self.named_buffers(false); })
      .def(
          "buffers", [](M& self, bool recurse) { return self.buffers(recurse); }, "recurse"_a = true)
      .def(
          "named_buffers", [](M& self, bool recurse) { return self.named_buffers(recurse); }, "recurse"_a = true)
      .def_property_readonly("_modules", [](M& self) { return self.named_children(); })
      .def("modules", [](M& self) { return self.modules(); })
      .def(
          "named_modules",
          [](M& self, const py::object& /*memo*/, const std::string& prefix, bool /*remove_duplicate*/) {
            return self.named_modules(prefix);
          },
          "memo"_a = py::none(), "prefix"_a = std::string(), "remove_duplicate"_a = true)
      .def("children", [](M& self) { return self.children(); })
      .def("named_children", [](M& self) { return self.named_children(); })
      .def(
          "to", [](M& self, at::ScalarType dtype, bool non_blocking) { self.to(dtype, non_blocking); }, "dtype"_a,
          "non_blocking"_a = false)
      .def(
          "to", [](M& self, at::Device device, bool non_blocking) { self.to(device, non_blocking); }, "device"_a,
          "non_blocking"_a = false)
      .def(
          "to",
          [](M& self, at::Device device, at::ScalarType dtype, bool non_blocking) {
            self.to(device, dtype, non_blocking);
          },
          "device"_a, "dtype"_a, "non_blocking"_a = false)
      .def("cuda", [](M& self) { self.to(kCUDA); })
      .def("cpu", [](M& self) { self.to(kCPU); })
      .def("float", [](M& self) { self.to(kFloat32); })
      .def("double", [](M& self) { self.to(kFloat64); })
      .def("half", [](M& self) { self.to(kFloat16); })
      .def("__str__", [](M& self) { return self.name(); })
      .def("__repr__", [](M& self) { return self.name(); });
}

namespace detail {

// What bound modules share, once in an extension.
inline void bind_base(py::module_& module) {
  bind_dict<Tensor>(module, "OrderedTensorDict");
  bind_dict<std::shared_ptr<nn::Module>>(module, "OrderedModuleDict");
  if (!py::detail::get_type_info(typeid(nn::Module)))
    add_module_bindings(py::class_<nn::Module, std::shared_ptr<nn::Module>>(module, "Module", py::module_local()));
}

}  // namespace detail

// Binds a module of C++, and gives its class for further `def`s: `bind_module<Net>(m, "Net").def(py::init<int>())`.
// `m.Net` is a torch.nn.Module of Python that stands for one of C++; the bound class itself is `m.cpp.Net`.
template <class M, bool force_enable = false>
  requires(force_enable || !torch::detail::has_forward<M>::value)
detail::PyModuleClass<M> bind_module(py::module_ module, const char* name) {
  py::module_ cpp = module.def_submodule("cpp");
  detail::bind_base(cpp);
  auto bound = add_module_bindings(detail::PyModuleClass<M>(cpp, name));
  py::object base = py::module_::import("taeda.nn.cpp").attr("ModuleWrapper");
  py::dict members;
  members["__module__"] = module.attr("__name__");
  py::object made = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyType_Type))(
      name, py::make_tuple(base), members);
  made.attr("__init__") =
      py::cpp_function([base, bound](const py::object& self, const py::args& args,
                                     const py::kwargs& kwargs) { base.attr("__init__")(self, bound(*args, **kwargs)); },
                       py::is_method(made));
  module.attr(name) = made;
  return bound;
}
template <class M>
  requires torch::detail::has_forward<M>::value
detail::PyModuleClass<M> bind_module(py::module_ module, const char* name) {
  return bind_module<M, true>(module, name).def("forward", &M::forward).def("__call__", &M::forward);
}

}  // namespace torch::python
