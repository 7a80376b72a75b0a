// An extension as people write them: accessors, dispatch on dtypes, a parallel loop, a gradient, ops of its own.
// By the header of older extensions; load_inline has torch/extension.h.
#include <torch/torch.h>

namespace {

torch::Tensor add_scaled(const torch::Tensor& x, const torch::Tensor& y, double by) {
  TORCH_CHECK(x.device().is_cpu(), "x must lie on the CPU");
  TORCH_CHECK_INDEX(x.dim() == 2, "x must have 2 dimensions; it has ", x.dim());
  TORCH_CHECK_VALUE(x.sizes() == y.sizes(), "sizes differ: ", x.sizes(), " and ", y.sizes());
  auto out = torch::empty_like(x);
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "add_scaled", [&] {
    auto a = x.accessor<scalar_t, 2>();
    auto b = y.packed_accessor64<scalar_t, 2>();
    auto c = out.accessor<scalar_t, 2>();
    const auto factor = at::Scalar(by).to<scalar_t>();
    at::parallel_for(0, x.size(0), 1, [&](int64_t from, int64_t to) {
      for (auto i : c10::irange(from, to))
        for (int64_t j = 0; j < x.size(1); ++j) c[i][j] = a[i][j] + factor * b[i][j];
    });
  });
  return out;
}

// x * y with the gradient by hand; that of x is multiplied by a number that the context keeps.
struct Product : torch::autograd::Function<Product> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x, torch::Tensor y,
                               std::vector<int64_t> note) {
    ctx->save_for_backward({x, y});
    ctx->saved_data["note"] = note;
    return x * y;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list grads) {
    auto saved = ctx->get_saved_variables();
    double note = static_cast<double>(ctx->saved_data["note"].toIntVector()[0]);
    torch::Tensor grad_x = ctx->needs_input_grad(0) ? grads[0] * saved[1] * note : torch::Tensor();
    return {grad_x, grads[0] * saved[0], torch::Tensor()};
  }
};
torch::Tensor product(torch::Tensor x, torch::Tensor y, std::vector<int64_t> note) {
  return Product::apply(x, y, note);
}

struct AddOneInPlace : torch::autograd::Function<AddOneInPlace> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, torch::Tensor x) {
    x.add_(1);
    ctx->mark_dirty({x});
    torch::Tensor positions = torch::arange(x.numel());
    ctx->mark_non_differentiable({positions});
    return {x, positions};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list grads) {
    return {grads[0] * 3};
  }
};

int64_t sum_in_parts(int64_t n) {
  return at::parallel_reduce(
      0, n, 7, int64_t{0},
      [](int64_t from, int64_t to, int64_t start) {
        for (int64_t i = from; i < to; ++i) start += i;
        return start;
      },
      std::plus<int64_t>());
}

torch::Tensor indexed(torch::Tensor x) {
  using namespace torch::indexing;
  x.index_put_({Slice(1, None), 0}, 7);
  x.index_put_({0, "..."}, torch::full({1}, -1.0));
  return torch::cat({x.index({Slice(None, None, 2)}).flatten(), x.index({Ellipsis, Slice(-2)}).t().reshape({-1}),
                     x.index({torch::tensor({2, 0}), 1})});
}

torch::Tensor over_memory(int64_t n) {
  auto* values = new std::vector<float>(static_cast<size_t>(n), 2.5f);
  return torch::from_blob(values->data(), {n}, [values](void*) { delete values; }, torch::kFloat32);
}

std::vector<torch::Tensor> factories() {
  torch::manual_seed(3);
  auto options = torch::TensorOptions().dtype(torch::kFloat64).device(torch::kCPU).requires_grad(true);
  return {torch::randn({2, 3}),
          torch::zeros({2}, options),
          torch::tensor({{1, 2}, {3, 4}}),
          torch::tensor(2.5),
          torch::ones(3, torch::kInt32),
          torch::full({2, 2}, true),
          torch::tensor({1.5, 2.5}, torch::kHalf)};
}

}  // namespace

TORCH_LIBRARY(taeda_test_basic, m) {
  m.def("scale(Tensor x, float by=2., *, int[] sizes=[]) -> (Tensor, int)");
  m.def("product(Tensor x, Tensor y, int[] note) -> Tensor", &product);
  m.def("names", [](c10::Dict<std::string, at::Tensor> given, std::optional<std::string> last) {
    std::vector<std::string> names;
    for (const auto& entry : given) names.push_back(entry.key());
    if (last) names.push_back(*last);
    return names;
  });
}
std::tuple<at::Tensor, int64_t> scale(const at::Tensor& x, double by, at::IntArrayRef sizes) {
  return {x * by, static_cast<int64_t>(sizes.size())};
}
TORCH_LIBRARY_IMPL(taeda_test_basic, CPU, m) { m.impl("scale", TORCH_FN(scale)); }
TORCH_LIBRARY_IMPL(taeda_test_basic, Meta, m) {
  m.impl("scale", [](const at::Tensor& x, double, at::IntArrayRef sizes) {
    return std::make_tuple(at::empty_like(x), static_cast<int64_t>(sizes.size()));
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add_scaled", &add_scaled, "x + by * y", py::arg("x"), py::arg("y"), py::arg("by") = 1.0);
  m.def("product", &product);
  m.def("add_one_", [](torch::Tensor x) { return AddOneInPlace::apply(x); });
  m.def("sum_in_parts", &sum_in_parts);
  m.def("indexed", &indexed);
  m.def("over_memory", &over_memory);
  m.def("factories", &factories);
  m.def("echo", [](at::IntArrayRef sizes, std::optional<torch::Tensor> maybe, at::ScalarType type, at::Scalar number,
                   at::Device device, std::optional<at::Generator> generator) {
    return py::make_tuple(sizes, maybe, type, number, device, generator.has_value());
  });
  m.def("stream", [](c10::Stream given) { return given; });
  m.def("dispatched", [](torch::Tensor x, torch::Tensor y) {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow("aten::add", "Tensor")
        .typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)>()
        .call(x, y, 2);
  });
  m.def("warned", [] { TORCH_WARN("careful: ", 3); });
  m.def("warned_of_old", [] { TORCH_WARN_DEPRECATION("old: ", 3); });
  m.def("printed", [](torch::Tensor x) { return c10::str(x); });
  m.def("backward", [](torch::Tensor x) {
    x.register_hook([](torch::Tensor grad) { return grad * 10; });
    auto y = (x * x).sum();
    y.backward();
    auto other = x.detach().requires_grad_();
    auto grads = torch::autograd::grad({(2 * other).sum()}, {other, x}, {}, {}, false, true);
    return py::make_tuple(x.grad(), grads[0], grads[1].defined());
  });
}
