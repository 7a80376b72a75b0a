// A module of C++ that Python uses as one of its own, and one without `forward`.
#include <torch/extension.h>

namespace {

struct Net : torch::nn::Module {
  Net(int64_t in, int64_t out) : linear(register_module("linear", torch::nn::Linear(in, out))) {
    shift = register_parameter("shift", torch::zeros({out}));
    calls = register_buffer("calls", torch::zeros({}, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) {
    if (is_training()) calls.add_(1);
    return linear->forward(x) + shift;
  }
  void add_parameter(const std::string& name, torch::Tensor value) { register_parameter(name, value); }

  torch::nn::Linear linear;
  torch::Tensor shift, calls;
};

struct Scale : torch::nn::Module {
  Scale() { register_parameter("by", torch::full({1}, 2.0)); }
  torch::Tensor apply(torch::Tensor x) { return x * parameters()[0]; }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  torch::python::bind_module<Net>(m, "Net")
      .def(py::init<int64_t, int64_t>(), py::arg("inputs"), py::arg("out"))
      .def("add_parameter", &Net::add_parameter);
  torch::python::bind_module<Scale>(m, "Scale").def(py::init<>()).def("apply_to", &Scale::apply);
}
