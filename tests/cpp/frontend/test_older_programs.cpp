// What older programs and kernels ask of tensors, options and boxed values.
#include <ATen/TensorUtils.h>
#include <ATen/cpu/vec/vec.h>
#include <ATen/ops/linalg_norm.h>
#include <c10/util/MaybeOwned.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <condition_variable>

#include "../test_main.h"

TEST(type_of_a_tensor) {
  at::Tensor x = at::ones({2}, at::kInt);
  CHECK(!x.type().is_cuda() && x.type().scalarType() == at::kInt && x.type().backend() == at::Backend::CPU);
  CHECK(x.type().toString() == "CPUIntType" && x.toString() == "CPUIntType" &&
        at::Tensor().toString() == "UndefinedType");
  CHECK(&x.type() == &at::CPU(at::kInt) && x.type() != at::CUDA(at::kInt) &&
        x.type().toScalarType(at::kFloat) == at::CPU(at::kFloat));
  CHECK(at::zeros({3}, x.type()).scalar_type() == at::kInt && at::ones({1}).to(x.type()).scalar_type() == at::kInt);
  CHECK(x.to_sparse().type().toString() == "SparseCPUIntType" && x.to_sparse().type().is_sparse());
  CHECK(c10::layout_from_backend(at::Backend::SparseCsrCPU) == at::kSparseCsr);
  CHECK(c10::backendToDeviceType(at::Backend::QuantizedCPU) == at::kCPU);
  CHECK_ERROR(at::Tensor().type(), Runtime, "undefined");
}

TEST(options_that_require_grad_are_for_torch) {
  const auto options = at::TensorOptions(at::kDouble).requires_grad(true);
  CHECK(torch::empty({2}, options).requires_grad() && torch::ones_like(at::ones({2}), options).requires_grad());
  CHECK_ERROR(at::empty({2}, options), Runtime, "requires_grad_()");
  CHECK_ERROR(at::ones({2}).to(options), Runtime, "requires_grad_()");
  CHECK_ERROR(at::empty_like(at::ones({2}), options), Runtime, "requires_grad_()");
  CHECK(at::ones({2}).to(options.requires_grad(false)).scalar_type() == at::kDouble);
  CHECK(options.type_equal(at::TensorOptions(at::kDouble)) && !options.type_equal(at::kFloat));
}

TEST(tensors_that_may_be_absent) {
  std::optional<at::Tensor> none, some = at::ones({2, 3});
  CHECK(!at::borrow_from_optional_tensor(none)->defined() && at::borrow_from_optional_tensor(some)->is_same(*some));
  c10::MaybeOwned<at::Tensor> same = some->expect_contiguous();
  CHECK(same.unsafeIsBorrowed() && same->is_same(*some));
  at::Tensor turned = some->t();
  c10::MaybeOwned<at::Tensor> copy = turned.expect_contiguous();
  CHECK(!copy.unsafeIsBorrowed() && copy->is_contiguous() && (*copy).sizes() == turned.sizes());
  at::Tensor x = at::ones({1});
  CHECK(x.is_uniquely_owned() && x.sym_nbytes() == 4);
  at::Tensor again = at::Tensor::wrap_tensor_impl(x.unsafeReleaseIntrusivePtr());
  CHECK(!x.defined() && again.is_uniquely_owned());
}

TEST(operators_by_pythons_names) {
  at::Tensor x = at::tensor({6, 5}), mask = at::tensor({3, 3});
  CHECK(at::equal(x.__and__(mask), at::tensor({2, 1})) && at::equal(x.__or__(1), at::tensor({7, 5})));
  CHECK(at::equal(x.__lshift__(1), at::tensor({12, 10})) && at::equal(x.__ixor__(mask), at::tensor({5, 6})));
}

TEST(states_of_generators) {
  at::Generator generator = at::detail::createCPUGenerator(3);
  at::Tensor state = generator.get_state();
  CHECK(state.scalar_type() == at::kByte && state.numel() == 5056);
  at::Tensor first = at::rand({4}, generator);
  generator.set_state(state);
  CHECK(at::equal(first, at::rand({4}, generator)));
  CHECK_ERROR(generator.set_state(at::ones({4})), Runtime, "takes bytes");
}

TEST(bytes_of_a_storage) {
  at::Tensor x = at::ones({4});
  c10::Storage storage = x.storage();
  const void* before = storage.data();
  c10::DataPtr old = storage.set_data_ptr(c10::GetCPUAllocator()->allocate(16));
  CHECK(old.get() == before && storage.data() != before && storage.allocator() == c10::GetCPUAllocator());
  storage.set_nbytes(8);
  CHECK(storage.nbytes() == 8);
}

TEST(values_copied_with_all_they_hold) {
  at::Tensor x = at::ones({2});
  c10::List<at::Tensor> tensors({x, x});
  c10::Dict<std::string, std::string> words;
  CHECK(words.insert(std::string_view("a"), "b").second && !words.insert("a", "c").second && words.at("a") == "b");
  CHECK(!words.insert_or_assign("a", std::string_view("d")).second && words.at("a") == "d");
  auto [place, is_new] = words.insert("one", "1");
  CHECK(is_new && place->key() == "one" && words.insert("one", "2").second == false && words.at("one") == "1");
  CHECK(!words.insert_or_assign("one", "3").second && words.find("one")->value() == "3" &&
        words.find("no") == words.end());
  CHECK(words == words.copy() && c10::IValue(words.value()).toGenericDict().size() == words.size());
  auto first = words.begin();
  CHECK(first++ == words.begin() && first != words.begin());
  const size_t before = words.size();
  words.erase(words.find("one"));
  CHECK(words.size() == before - 1 && !words.contains("one"));
  c10::Dict<std::string, c10::List<at::Tensor>> dict;
  dict.insert("xs", tensors);
  dict.insert("same", tensors);
  c10::IValue copy = c10::IValue(std::tuple(dict, x, 3)).deepcopy();
  auto parts = copy.toTupleRef().elements();
  auto other = c10::impl::toTypedDict<std::string, c10::List<at::Tensor>>(parts[0].toGenericDict());
  x.zero_();
  CHECK(other.at("xs").get(0).sum().item<float>() == 2 && parts[2].toInt() == 3);
  CHECK(other.at("xs").is(other.at("same")) && other.at("xs").get(0).is_same(other.at("xs").get(1)));
  CHECK(parts[1].toTensor().is_same(other.at("xs").get(0)));
  CHECK(c10::IValue("word").toString()->string() == "word" && c10::IValue(3).isSameIdentity(3));
  CHECK(c10::IValue::hash("word") == c10::IValue::hash(std::string("word")));
  auto again = dict.copy();
  again.erase("same");
  CHECK(dict.size() == 2 && again.size() == 1 && !again.is(dict));
  tensors.emplace(0, at::zeros({1}));
  CHECK(tensors.size() == 3 && tensors.get(0).numel() == 1);
}

TEST(elements_of_lists_as_values) {
  c10::List<at::Tensor> tensors({at::ones({2}), at::ones({3})});
  tensors.push_back(tensors.get(0).detach());
  c10::IValue first = tensors[0].get();
  CHECK(first.isTensor() && first.isAliasOf(tensors[2].get()) && !first.isAliasOf(tensors[1].get()));
  c10::IValue::CompIdentityIValues same;
  CHECK(same(first, tensors[0].get()) && !same(first, tensors[2].get()));
}

TEST(sizes_as_symints) {
  std::vector<c10::SymInt> sizes{2, 3};
  at::Tensor x = at::empty_symint(sizes, at::kInt);
  CHECK(x.sizes() == at::IntArrayRef({2, 3}) && x.view_symint({3, -1}).size(1) == 2);
  CHECK(x.narrow_symint(1, c10::SymInt(1), 2).size(1) == 2 && x.new_zeros_symint(x.sym_sizes()).numel() == 6);
  CHECK(at::expand_symint(at::ones({1, 3}), sizes).sizes() == x.sizes());
  CHECK(at::pad_symint(x, {1, 1}).size(1) == 5);
}

TEST(dimensions_and_accumulators) {
  CHECK(at::maybe_wrap_dim(-1, 3) == 2 && c10::maybe_wrap_dim(0, 0) == 0 &&
        at::maybe_wrap_dim(-2, at::ones({1, 1})) == 0);
  CHECK_ERROR(at::maybe_wrap_dim(3, 3), Index, "");
  CHECK_ERROR(at::maybe_wrap_dim(0, 0, false), Index, "has none");
  std::vector<int64_t> dims{-1, 0};
  at::maybe_wrap_dims(dims, 3);
  CHECK(dims == std::vector<int64_t>({2, 0}));
  static_assert(std::is_same_v<at::acc_type<float, false>, double> && std::is_same_v<at::acc_type<float, true>, float>);
  static_assert(std::is_same_v<at::acc_type<at::Half, false>, float> &&
                std::is_same_v<at::acc_type<int, true>, int64_t>);
  static_assert(std::is_same_v<at::acc_type<c10::complex<float>, false>, c10::complex<double>>);
  CHECK(at::toAccumulateType(at::kBFloat16, false) == at::kFloat && at::toAccumulateType(at::kBool, true) == at::kBool);
  CHECK(at::toAccumulateType(at::kComplexFloat, false) == at::kComplexDouble);
  CHECK(at::native::ensure_nonempty_size(at::ones({}), 0) == 1 && at::native::relu(-at::ones({1})).item<float>() == 0);
}

TEST(settings_of_executors) {
  torch::jit::FusionStrategy none{{torch::jit::FusionBehavior::STATIC, 0}};
  torch::jit::FusionStrategy before = torch::jit::setFusionStrategy(none);
  CHECK(torch::jit::setFusionStrategy(before) == none);
  torch::jit::getProfilingMode() = false;
  CHECK(!torch::jit::getProfilingMode() && torch::jit::getExecutorMode() && !torch::jit::tracer::isTracing());
  torch::jit::getProfilingMode() = true;
  CHECK(torch::jit::pickle_load(torch::jit::pickle_save(3)).toInt() == 3);
}

TEST(empty_of_a_sparse_layout) {
  at::Tensor x = at::empty({2, 3}, at::TensorOptions(at::kDouble).layout(at::kSparse));
  CHECK(x.is_sparse() && x._nnz() == 0 && x.scalar_type() == at::kDouble && x.sizes() == at::IntArrayRef({2, 3}));
}

TEST(symbolic_sizes_are_numbers) {
  c10::SymInt n = at::ones({2, 3}).sym_stride(0);
  CHECK(n == 3 && n.max(4) == 4 && n.min(2) == 2 && n.sym_eq(3) && n.sym_le(3) && !n.sym_gt(3));
}

TEST(more_of_vectors) {
  using Vec = at::vec::Vectorized<float>;
  CHECK(Vec(-2.5f).frac()[0] == -0.5f && Vec(1.f).atan2(Vec(1.f))[3] == std::atan2(1.f, 1.f));
  at::vec::Vectorized<at::BFloat16> halves = at::vec::convert_float_bfloat16(Vec(1.5f), Vec(2.f));
  auto [low, high] = at::vec::convert_bfloat16_float(halves);
  CHECK(low[15] == 1.5f && high[0] == 2.f && std::get<1>(at::vec::convert_to_float(halves))[3] == 2.f);
  CHECK(Vec(7.f).fmod(Vec(4.f))[1] == 3 && Vec(3.f).hypot(Vec(4.f))[0] == 5 && Vec(2.f).copysign(Vec(-1.f))[2] == -2);
}

TEST(memory_formats_that_strides_tell) {
  const auto last = at::MemoryFormat::ChannelsLast;
  for (auto sizes : {std::vector<int64_t>{2, 3, 4, 5}, {2, 1, 4, 5}, {2, 3, 1, 1}}) {
    CHECK(at::empty(sizes).suggest_memory_format() == at::MemoryFormat::Contiguous);
    CHECK(at::empty(sizes, at::TensorOptions(), last).suggest_memory_format() == last);
  }
  CHECK(at::empty({1, 1, 1, 1}, at::TensorOptions(), last).suggest_memory_format() == at::MemoryFormat::Contiguous);
  CHECK(at::empty({2, 3, 4, 5, 6}, at::TensorOptions(), at::MemoryFormat::ChannelsLast3d).suggest_memory_format() ==
        at::MemoryFormat::ChannelsLast3d);
  CHECK(at::empty({2, 3}).suggest_memory_format() == at::MemoryFormat::Contiguous);
}

TEST(devices_that_are_names_alone) {
  const c10::DeviceType types[] = {torch::kHIP,
                                   torch::kFPGA,
                                   torch::kMAIA,
                                   torch::kXLA,
                                   torch::kVulkan,
                                   torch::kMetal,
                                   torch::kHPU,
                                   torch::kVE,
                                   torch::kLazy,
                                   torch::kIPU,
                                   torch::kMTIA,
                                   c10::DeviceType::OPENGL,
                                   c10::DeviceType::OPENCL,
                                   c10::DeviceType::IDEEP};
  for (c10::DeviceType type : types) {
    const torch::Device device(type, 1);
    CHECK(device.str() == c10::DeviceTypeName(type, true) + ":1" && !c10::impl::hasDeviceGuardImpl(type));
    CHECK(c10::DispatchKeySet(::taeda::KeySet(type)).empty());
    if (type != torch::kMetal) CHECK(torch::Device(device.str()) == device);
    if (type == torch::kMTIA) continue;  // whose kind of error is that of CUDA
    CHECK_ERROR(torch::empty({0}, device), NotImplemented, c10::DeviceTypeName(type, true));
    CHECK_ERROR(torch::ones({2}).to(device), NotImplemented, c10::DeviceTypeName(type, true));
  }
  CHECK(c10::DeviceTypeName(torch::kMAIA) == "MAIA");
  CHECK_ERROR(torch::Device("metal"), Runtime, "metal");
}

TEST(checks_of_arguments_by_backend_and_layout) {
  const at::Tensor x = at::ones({2});
  at::checkBackend("f", x, at::Backend::CPU);
  at::checkBackend("f", {x, x}, at::Backend::CPU);
  CHECK_ERROR(at::checkBackend("f", x, at::Backend::CUDA), Runtime, "f: a tensor on cuda");
  CHECK_ERROR(at::checkBackend("f", x, at::Backend::SparseCPU), Runtime, "layout");
  CHECK_ERROR(at::checkDeviceType("f", {x, x}, at::kMeta), Runtime, "f: a tensor on meta");
  CHECK(at::maybe_data_ptr(x) == x.data_ptr() && !at::maybe_data_ptr(at::Tensor()));
}

TEST(writes_to_a_tensor_are_counted) {
  at::Tensor x = at::ones({2});
  const auto before = x.unsafeGetTensorImpl()->version_counter().current_version();
  x.add_(1);
  CHECK(x.unsafeGetTensorImpl()->version_counter().current_version() == before + 1);
  c10::InferenceMode guard;
  CHECK_ERROR(at::ones({2}).unsafeGetTensorImpl()->version_counter().current_version(), Runtime, "inference mode");
}

TEST(functions_on_threads_that_may_wait) {
  CHECK(at::get_num_interop_threads() >= 1);
  at::set_num_interop_threads(2);
  CHECK(at::get_num_interop_threads() == 2);
  CHECK_ERROR(at::set_num_interop_threads(3), Runtime, "once");
  CHECK_ERROR(at::set_num_interop_threads(0), Runtime, "positive");
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0, quiet = 0;
  const torch::NoGradGuard no_grad;
  at::launch([] { throw std::runtime_error("is told, and ends nothing"); });
  for (int i = 0; i < 50; ++i)
    at::launch([&] {
      std::lock_guard lock(mutex);
      quiet += !torch::GradMode::is_enabled();
      if (++done == 50) changed.notify_one();
    });
  std::unique_lock lock(mutex);
  CHECK(changed.wait_for(lock, std::chrono::seconds(60), [&] { return done == 50; }) && quiet == 50);
}
