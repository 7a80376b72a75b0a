// Loops over tensors, vectors of elements, namespaces, modules over several devices.
#include <ATen/DLConvertor.h>
#include <ATen/TensorIterator.h>
#include <ATen/cpu/vec/vec.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

#include "../test_main.h"

TEST(tensor_iterator) {
  torch::Tensor a = torch::arange(12, torch::kFloat).view({3, 4}), b = torch::arange(3, torch::kFloat).view({3, 1}),
                out;
  auto iter = at::TensorIteratorConfig().add_output(out).add_input(a).add_input(b).build();
  CHECK(iter.numel() == 12 && iter.ninputs() == 2 && iter.dtype() == torch::kFloat);
  at::native::cpu_kernel(iter, [](float x, float y) -> float { return x * y + 1; });
  CHECK(iter.output().equal(a * b + 1));

  torch::Tensor wide = torch::empty({4, 3}).t();  // in the order of the output's memory
  auto strided = at::TensorIterator::binary_op(wide, a.to(torch::kInt), a.flip(1));
  at::native::cpu_kernel(strided, [](float x, float y) -> float { return x - y; });
  CHECK(wide.equal(a - a.flip(1)) && wide.stride(0) == 1);

  torch::Tensor doubled;
  auto unary = at::TensorIterator::unary_op(doubled, a.t());
  at::native::cpu_kernel(unary, [](float x) -> float { return 2 * x; });
  CHECK(doubled.equal(a.t() * 2));
  CHECK(at::TensorIterator::unary_op(doubled, a.t()).ndim() >= 1);

  torch::Tensor big = torch::ones({300, 300}), sum = torch::zeros({300, 300});
  auto many = at::TensorIteratorConfig().add_output(sum).add_input(big).add_input(big.t()).build();
  at::native::cpu_kernel(many, [](float x, float y) -> float { return x + y; });
  CHECK(sum.sum().item<float>() == 2 * 90000);
  torch::Tensor wrong = torch::empty({2}, torch::kDouble);
  CHECK_ERROR(at::TensorIteratorConfig().add_output(wrong).add_input(a).build(), Runtime, "dtype");
  CHECK_ERROR(at::TensorIteratorConfig().add_output(torch::empty({2})).add_input(a).resize_outputs(false).build(),
              Runtime, "sizes");
  CHECK_ERROR(at::TensorIteratorConfig().add_output(torch::ones({3, 1}).expand({3, 4})).add_input(a).build(), Runtime,
              "share memory");
}

TEST(vectors) {
  using V = at::vec::Vectorized<float>;
  std::vector<float> x(V::size() * 2 + 5), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  at::vec::map<float>([](V v) { return (v * V(3) + V(1)).sqrt(); }, y.data(), x.data(), static_cast<int64_t>(x.size()));
  CHECK(y.back() == std::sqrt(3 * x.back() + 1));
  CHECK(at::vec::reduce_all<float>([](V a, V b) { return a + b; }, x.data(), static_cast<int64_t>(x.size())) ==
        static_cast<float>(x.size() * (x.size() - 1) / 2));
  V steps = V::arange(), chosen = V::blendv(V(0), V(1), steps > V(2.5f));
  CHECK(chosen[2] == 0 && chosen[3] == 1 && V::blend<2>(V(0), V(1))[1] == 1);
  CHECK(std::isnan(at::vec::maximum(V(NAN), V(1))[0]) && at::vec::clamp(steps, V(1), V(2))[0] == 1);
  CHECK(at::vec::fmadd(V(2), V(3), V(4))[5] == 10 && at::vec::Vectorized<c10::BFloat16>(4).sqrt()[0] == 2);
  CHECK(at::vec::fnmadd(V(2), V(3), V(4))[5] == -2 && at::vec::fnmsub(V(2), V(3), V(4))[5] == -10);
  constexpr int kSize = V::size();
  CHECK(steps.reduce_add() == kSize * (kSize - 1) / 2 && steps.reduce_max() == kSize - 1 &&
        at::vec::flip(steps)[1] == kSize - 2);
  CHECK(at::vec::vec_reduce_all<float>([](V& a, V& b) { return a + b; }, steps) == steps.reduce_add());
  CHECK(!steps.has_inf_nan() && V(INFINITY).has_inf_nan() && (steps / V(0)).has_inf_nan());
  auto [low, high] = at::vec::interleave2(steps, steps + V(100));
  CHECK(low[1] == 100 && low[2] == 1 && high[0] == kSize / 2 && high[kSize - 1] == kSize + 99);
  auto [first, second] = at::vec::deinterleave2(low, high);
  CHECK(first[kSize - 1] == kSize - 1 && second[kSize - 1] == kSize + 99);
  std::vector<c10::BFloat16> halves(2 * kSize, 1.5f);
  halves.back() = c10::BFloat16(c10::detail::round_to_nearest_even(-2), c10::BFloat16::from_bits());
  at::vec::load_fp32_from_bf16(halves.data(), low, high);
  CHECK(low.reduce_max() == c10::detail::f32_from_bits(0x3fc0) && high[0] == 1.5f && high[kSize - 1] == -2);
}

TEST(namespaces_and_numbers) {
  CHECK(torch::fft::irfft(torch::fft::rfft(torch::arange(4, torch::kFloat))).allclose(torch::arange(4, torch::kFloat)));
  CHECK(torch::linalg::det(torch::eye(3) * 2).item<float>() == 8);
  CHECK(torch::special::expit(torch::zeros(1)).item<float>() == 0.5f);
  CHECK((-torch::Scalar(2.5)).toDouble() == -2.5 && torch::tensor(3).dim() == 0 && at::tensor(2.5f).dim() == 1);
  CHECK(at::result_type(torch::ones(2), torch::ones({}, torch::kDouble)) == torch::kFloat);
  CHECK(at::result_type(torch::ones(2, torch::kInt), torch::ones({}, torch::kDouble)) == torch::kDouble);
  CHECK(at::can_cast(torch::kInt, torch::kFloat) && !at::can_cast(torch::kFloat, torch::kInt));
  torch::Tensor x = torch::arange(6, torch::kFloat).view({2, 3});
  CHECK(x.var().item<float>() == 3.5f && x.std().numel() == 1 && x.sum(1).equal(torch::tensor({3.f, 12.f})));
  // 0 is a dimension, not a truth value
  CHECK(x.var(0).numel() == 3 && x.std(1).numel() == 2 && x.std(false).numel() == 1 && torch::var(x, 0).numel() == 3);
  CHECK(std::get<1>(torch::var_mean(x, 0)).numel() == 3 && std::get<0>(at::std_mean(x, 1)).numel() == 2);
  CHECK(x.mean(0).equal(torch::tensor({1.5f, 2.5f, 3.5f})) && x.any().item<bool>() && !x.all().item<bool>());
  CHECK(x.clamp(1, 2).max().item<float>() == 2 &&
        torch::conv1d(x.view({1, 2, 3}), torch::ones({1, 2, 2})).numel() == 2);
  CHECK(!torch::Tensor().requires_grad() && !torch::Tensor().grad().defined());
  CHECK_ERROR(x.index({}), Runtime, "at least one position");
  CHECK_ERROR((x * c10::complex<double>(0, 1)).sum().set_requires_grad(true).backward(), Runtime, "real tensors only");
  CHECK(c10::str(torch::arange(4.).view({2, 1, 2})) ==
        "(1,.,.) = \n 0  1\n\n(2,.,.) = \n 2  3\n[ CPUFloatType{2,1,2} ]");
  CHECK(c10::str(x.options()).find("requires_grad=false (default)") != std::string::npos);
}

TEST(data_parallel_reaches_the_module) {
  torch::manual_seed(0);
  torch::nn::Linear linear(3, 2);
  torch::Tensor x = torch::randn({5, 3});
  std::vector<torch::Device> devices{torch::kCPU, torch::kCPU};
  torch::Tensor made = torch::nn::parallel::data_parallel(linear, x, devices);
  CHECK(made.allclose(linear(x)));
  made.sum().backward();
  torch::Tensor parallel = linear->weight.grad().clone();
  linear->zero_grad();
  linear(x).sum().backward();
  CHECK(parallel.allclose(linear->weight.grad()));
}

TEST(tensors_from_values_and_types) {
  const std::vector<double> values{1.5, 2.5};
  CHECK(at::tensor(values).dtype() == torch::kDouble && at::tensor(values, torch::kComplexDouble).is_complex());
  CHECK(at::tensor(c10::complex<float>(1, 2)).dtype() == torch::kComplexFloat && at::tensor(values).numel() == 2);
  CHECK(torch::tensor(values).dtype() == torch::kFloat &&
        torch::tensor({values, values}).sizes() == at::IntArrayRef{2, 2});
  CHECK(torch::tensor(at::ArrayRef<int>({1, 2})).dtype() == torch::kLong);
  CHECK(torch::tensor(std::vector<uint8_t>{1}).dtype() == torch::kByte);
  CHECK(torch::tensor(std::vector<bool>{true, false}).dtype() == torch::kBool);
  CHECK_ERROR(torch::tensor({c10::complex<float>(1, 2)}, torch::kFloat), Runtime, "complex numbers");
  CHECK(c10::str(torch::tensor({1.f / 3}).item(), " ", torch::Scalar(true), " ", torch::kLong, " ",
                 torch::tensor({1}).dtype()) == "0.333333 true Long long int");
  torch::Tensor other = torch::ones({2}, torch::kInt);
  CHECK(at::tensor(values).to(other.device(), other.dtype()).equal(torch::tensor({1, 2}, torch::kInt)));
  torch::autograd::InferenceMode inference;
  torch::autograd::AutoGradMode recorded(false);
  CHECK(torch::ones(1).is_inference());
  CHECK(torch::arange(4).index({torch::indexing::Slice({torch::indexing::None, 2})}).numel() == 2);
}

TEST(gradients_are_given_by_hand) {
  torch::Tensor plain = torch::ones({2});
  CHECK(!plain.grad().defined());
  plain.mutable_grad() = torch::full({2}, 3);
  CHECK(plain.grad().sum().item<float>() == 6 && !plain.requires_grad());
  CHECK_ERROR(torch::Tensor().mutable_grad(), Runtime, "undefined");
}

TEST(dlpack_both_ways) {
  torch::Tensor x = torch::arange(6, torch::kShort).view({2, 3}).t();
  DLManagedTensor* lent = at::toDLPack(x);
  CHECK(lent->dl_tensor.ndim == 2 && lent->dl_tensor.shape[0] == 3 && lent->dl_tensor.strides[1] == 3);
  torch::Tensor back = at::fromDLPack(lent);
  back[0][1] = 7;
  CHECK(x[0][1].item<int>() == 7 && back.dtype() == torch::kShort && at::getDLDataType(x).bits == 16);
  x.reset();
  CHECK(at::fromDLPackVersioned(at::toDLPackVersioned(back)).equal(back));
  lent = at::toDLPack(back);
  lent->dl_tensor.dtype.lanes = 4;
  CHECK_ERROR(at::fromDLPack(lent), Runtime, "4 lanes");
  lent->deleter(lent);  // what was refused is still ours
  lent = at::toDLPack(torch::empty({0, 3}, torch::kHalf).expand({2, 0, 3}));
  CHECK(at::fromDLPack(lent).sizes() == at::IntArrayRef{2, 0, 3});
  CHECK_ERROR(at::toDLPack(torch::eye(2).to_sparse()), Runtime, "another layout");
  CHECK_ERROR(at::toDLPack(torch::ones(2, torch::kComplexFloat).conj()), Runtime, "lazily conjugated");
  CHECK_ERROR(at::toDLPack(torch::Tensor()), Runtime, "undefined");
}

TEST(settings_of_the_process) {
  at::Context& context = at::globalContext();
  CHECK(!context.deterministicAlgorithms() && context.userEnabledMkldnn() && !context.benchmarkCuDNN());
  context.alertNotDeterministic("scatter");
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  CHECK(context.deterministicAlgorithms() && !context.deterministicAlgorithmsWarnOnly());
  CHECK_ERROR(context.alertNotDeterministic("scatter"), Runtime, "scatter does not give the same");
  context.setDeterministicAlgorithms(false);
  context.setBenchmarkCuDNN(true);
  CHECK(torch::globalContext().benchmarkCuDNN() && context.defaultGenerator(torch::kCPU).defined());
  at::DimVector sizes{2, 3};
  sizes.append(2, 4);
  CHECK(sizes.pop_back_val() == 4 && torch::ones(sizes).sizes() == at::IntArrayRef{2, 3, 4});
}

TEST(many_tensors_as_one) {
  std::vector<torch::Tensor> parts{torch::ones({2, 3}), torch::ones({0, 4}), torch::full({1}, 2)};
  torch::Tensor flat = torch::utils::flatten_dense_tensors(parts);
  CHECK(flat.numel() == 7 && flat[6].item<float>() == 2);
  auto again = torch::utils::unflatten_dense_tensors(flat, parts);
  CHECK(again.size() == 3 && again[0].equal(parts[0]) && again[1].sizes() == parts[1].sizes());
  CHECK(again[2].is_alias_of(flat) && !again[1].is_alias_of(flat));
}

struct Collected : c10::WarningHandler {
  std::vector<std::string> messages;
  bool deprecated = false;
  void process(const c10::Warning& warning) override {
    messages.push_back(warning.msg());
    deprecated = std::holds_alternative<c10::DeprecationWarning>(warning.type());
  }
};

TEST(warnings_are_taken_by_a_handler) {
  Collected collected;
  {
    c10::WarningUtils::WarningHandlerGuard here(&collected);
    TORCH_WARN("one ", 1);
    torch::ones({1, 0}).std();  // an op's own
    TORCH_WARN_DEPRECATION("old");
  }
  CHECK(c10::WarningUtils::get_warning_handler() != &collected);
  CHECK(collected.messages.size() == 3 && collected.messages[0] == "one 1" && collected.deprecated);
  CHECK(c10::Join(", ", std::vector<int>{1, 2, 3}) == "1, 2, 3" && c10::Join("-", collected.messages).size() > 6);
}

TEST(errors_of_libtorchs_interface) {
  try {
    throw c10::Error({__func__, __FILE__, __LINE__}, "broken");
  } catch (c10::Error& error) {
    error.add_context("while testing");
    CHECK(std::string(error.what_without_backtrace()) == "broken (while testing)" && error.msg() == "broken");
    CHECK(std::string(error.what()).starts_with("broken (while testing)\n(raised in "));
    try {
      try {
        throw;
      } catch (c10::Error& same) {
        TORCH_RETHROW(same, "once ", 2);
      }
    } catch (c10::Error& again) {
      CHECK(std::string(again.what_without_backtrace()) == "broken\n  while testing\n  once 2" &&
            again.context().size() == 2);
    }
  }
  auto checked = [](bool good) {
    TORCH_CHECK_INDEX(good, "out of ", 3)  // a semicolon is not needed
    return true;
  };
  CHECK_ERROR(checked(!checked(true)), Index, "test_aten.cpp");
  CHECK_ERROR(torch::ones({2}, torch::Device(torch::kXLA)), NotImplemented, "'xla'");
  CHECK(static_cast<int>(torch::kCUDA) < static_cast<int>(torch::DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES));
  torch::Tensor held = torch::ones({2});
  const auto& memory = held.storage().data_ptr();
  CHECK(memory && memory.get_context() && memory.get_deleter() && memory.device().is_cpu());
  CHECK(torch::ones({2}).to({torch::kCPU, 0}).device().is_cpu());
}
