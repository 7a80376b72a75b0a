// An extension of the stable C interface alone: values of every kind go through it and come back.
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/device.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch_v2.h>

#include <tuple>

using torch::headeronly::IntHeaderOnlyArrayRef, torch::headeronly::MemoryFormat, torch::headeronly::ScalarType;
using torch::stable::Tensor;

namespace {

Tensor scaled(const Tensor& x, double by) {
  Tensor result = torch::stable::empty_like(x);
  THO_DISPATCH_V2(x.scalar_type(), "scaled", AT_WRAP([&] {
                    const auto* from = x.const_data_ptr<scalar_t>();
                    auto* to = result.mutable_data_ptr<scalar_t>();
                    torch::stable::parallel_for(0, x.numel(), 1000, [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<scalar_t>(from[i] * by);
                    });
                  }),
                  AT_EXPAND(AT_FLOATING_TYPES), ScalarType::Half, ScalarType::BFloat16);
  return result;
}

std::tuple<Tensor, int64_t, std::string> described(Tensor x, std::vector<int64_t> sizes, std::string name,
                                                   std::optional<double> more, bool flag, std::optional<Tensor> other,
                                                   ScalarType dtype, torch::stable::Device device,
                                                   std::vector<Tensor> tensors, std::vector<std::string> words) {
  STD_TORCH_CHECK(x.device() == device && device.is_cpu(), "another device");
  int64_t total = 0;
  for (int64_t size : sizes) total += size;
  for (const Tensor& tensor : tensors) total += tensor.numel();
  if (other) total += other->dim();
  for (const std::string& word : words) name += "+" + word;
  name += more ? "+" + std::to_string(*more) : "";
  return {torch::stable::to(x, dtype), flag ? total : -total, name};
}

Tensor ops_of_all_kinds(Tensor x) {
  using namespace torch::stable;
  Tensor y = matmul(transpose(x, 0, 1), x);
  y = subtract(y, full({y.size(0), y.size(1)}, 1.0, x.scalar_type()), 2.0);
  y = unsqueeze(flatten(reshape(contiguous(y), {-1})), 0);
  y = pad(narrow(y, 1, 0, 3), {1, 0}, "constant", 7.0);
  Tensor sums = new_zeros(y, IntHeaderOnlyArrayRef());
  sum_out(sums, y, IntHeaderOnlyArrayRef({0, 1}));
  Tensor z = new_empty(y, {4});
  copy_(z, view(clone(y), {4}));
  fill_(select(z, 0, 1), 5.0);
  Tensor last = narrow(z, 0, 3, 1);
  zero_(last);
  return subtract(z, amax(y, 1), -1.0);
}

// The memory is given back by its deleter.
Tensor owned(int64_t n) {
  auto* memory = new float[static_cast<size_t>(n)];
  for (int64_t i = 0; i < n; ++i) memory[i] = 0.5f;
  return torch::stable::from_blob(memory, {n}, {1}, torch::stable::Device("cpu"), ScalarType::Float,
                                  [](void* data) { delete[] static_cast<float*>(data); });
}

void fails_inside(Tensor x) { torch::stable::narrow(x, 9, 0, 1); }
Tensor undefined_or(std::optional<Tensor> x) { return x ? *x : Tensor(); }

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(taeda_test_stable, CPU, m) { m.impl("scaled", TORCH_BOX(&scaled)); }
STABLE_TORCH_LIBRARY(taeda_test_stable, m) {
  m.def("scaled(Tensor x, float by=2.0) -> Tensor");
  m.def(
      "described(Tensor x, int[] sizes, str name, float? more, bool flag, Tensor? other, ScalarType dtype, Device "
      "device, Tensor[] tensors, str[] words) -> (Tensor, int, str)");
  m.def("ops_of_all_kinds(Tensor x) -> Tensor");
  m.def("owned(int n) -> Tensor");
  m.def("fails_inside(Tensor x) -> ()");
  m.def("undefined_or(Tensor? x) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(taeda_test_stable, CompositeExplicitAutograd, m) {
  m.impl("described", TORCH_BOX(&described));
  m.impl("ops_of_all_kinds", TORCH_BOX(&ops_of_all_kinds));
  m.impl("fails_inside", TORCH_BOX(&fails_inside));
  m.impl("undefined_or", TORCH_BOX(&undefined_or));
}
STABLE_TORCH_LIBRARY_IMPL(taeda_test_stable, BackendSelect, m) { m.impl("owned", TORCH_BOX(&owned)); }
