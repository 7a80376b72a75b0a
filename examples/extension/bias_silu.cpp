// silu(x + bias) in one pass over memory, and its gradients in another: an op with kernels for the CPU and for shapes
// alone, and a derivative. See docs/extensions.md.
#include <torch/extension.h>

namespace {

template <class T>
T sigmoid(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

void check(const at::Tensor& x, const at::Tensor& bias) {
  TORCH_CHECK_VALUE(bias.dim() == 1 && x.dim() >= 1 && x.size(-1) == bias.size(0),
                    "bias_silu: bias must have one element for each of the last dimension of x; got shapes ", x.sizes(),
                    " and ", bias.sizes());
  TORCH_CHECK_TYPE(x.scalar_type() == bias.scalar_type(), "bias_silu: x is ", x.scalar_type(), " and bias ",
                   bias.scalar_type());
}

// Rows are cut by their number alone, so that results are the same with any number of threads.
constexpr int64_t kRows = 64;

at::Tensor forward_cpu(const at::Tensor& x, const at::Tensor& bias) {
  check(x, bias);
  at::Tensor from = x.contiguous(), b = bias.contiguous(), to = at::empty_like(from);
  const int64_t columns = b.numel(), rows = columns ? from.numel() / columns : 0;
  AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "bias_silu", [&] {
    const auto *in = from.data_ptr<scalar_t>(), *add = b.data_ptr<scalar_t>();
    auto* out = to.data_ptr<scalar_t>();
    at::parallel_for(0, rows, kRows, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          scalar_t z = in[r * columns + c] + add[c];
          out[r * columns + c] = z * sigmoid(z);
        }
    });
  });
  return to;
}

at::Tensor forward_meta(const at::Tensor& x, const at::Tensor& bias) {
  check(x, bias);
  return at::empty_like(x, at::MemoryFormat::Contiguous);
}

// d silu(z) / dz = s + z s (1 - s), where s = sigmoid(z).
at::Tensor backward_cpu(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& bias) {
  at::Tensor g = grad.contiguous(), from = x.contiguous(), b = bias.contiguous(), to = at::empty_like(from);
  const int64_t columns = b.numel(), rows = columns ? from.numel() / columns : 0;
  AT_DISPATCH_FLOATING_TYPES(from.scalar_type(), "bias_silu_backward", [&] {
    const auto *in = from.data_ptr<scalar_t>(), *add = b.data_ptr<scalar_t>(), *up = g.data_ptr<scalar_t>();
    auto* out = to.data_ptr<scalar_t>();
    at::parallel_for(0, rows, kRows, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t i = r * columns + c;
          scalar_t z = in[i] + add[c], s = sigmoid(z);
          out[i] = up[i] * (s + z * s * (1 - s));
        }
    });
  });
  return to;
}

at::Tensor call(const at::Tensor& x, const at::Tensor& bias) {
  static auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("example::bias_silu", "").typed<decltype(forward_cpu)>();
  return op.call(x, bias);
}

class BiasSilu : public torch::autograd::Function<BiasSilu> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& bias) {
    context->save_for_backward({x, bias});
    at::AutoDispatchBelowADInplaceOrView below;
    return call(x, bias);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    auto saved = context->get_saved_variables();
    at::Tensor grad = backward_cpu(grads[0], saved[0], saved[1]);
    std::vector<int64_t> rows(static_cast<size_t>(grad.dim() - 1));
    std::iota(rows.begin(), rows.end(), 0);
    return {grad, rows.empty() ? grad : grad.sum(rows)};
  }
};

at::Tensor with_gradient(const at::Tensor& x, const at::Tensor& bias) { return BiasSilu::apply(x, bias); }

}  // namespace

TORCH_LIBRARY_FRAGMENT(example, m) { m.def("bias_silu(Tensor x, Tensor bias) -> Tensor"); }
TORCH_LIBRARY_IMPL(example, CPU, m) { m.impl("bias_silu", forward_cpu); }
TORCH_LIBRARY_IMPL(example, Meta, m) { m.impl("bias_silu", forward_meta); }
TORCH_LIBRARY_IMPL(example, Autograd, m) { m.impl("bias_silu", with_gradient); }

// The module that Python imports; the op is torch.ops.example.bias_silu.
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.doc() = "A fused kernel with a gradient, and a class."; }
