// The small tools that extensions take from ATen and c10.
#include <ATen/ATen.h>
#include <ATen/Config.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/NumericUtils.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <ATen/ceil_div.h>
#include <ATen/core/Array.h>
#include <ATen/core/MT19937RNGEngine.h>
#include <ATen/cpu/vec/functional.h>
#include <ATen/div_rtn.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/CallOnce.h>
#include <c10/util/Flags.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/MathConstants.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/Registry.h>
#include <c10/util/Synchronized.h>
#include <c10/util/Unroll.h>
#include <c10/util/accumulate.h>
#include <c10/util/bit_cast.h>
#include <c10/util/copysign.h>
#include <c10/util/env.h>
#include <c10/util/hash.h>
#include <c10/util/overloaded.h>
#include <c10/util/safe_numerics.h>
#include <c10/util/strides.h>
#include <c10/util/tempfile.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <thread>
#include <variant>

#include "../test_main.h"

C10_DEFINE_int(test_steps, 3, "how many");
C10_DEFINE_bool(test_loud, false, "whether to tell");
C10_DEFINE_string(test_name, "none", "what it is called");

TEST(flags_of_a_program) {
  std::vector<std::string> words{"program", "--test_steps=7", "in.txt", "--test_loud", "--test_name", "a b"};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  char** arguments = argv.data();
  CHECK(c10::ParseCommandLineFlags(&argc, &arguments) && c10::CommandLineFlagsHasBeenParsed());
  CHECK(FLAGS_test_steps == 7 && FLAGS_test_loud && FLAGS_test_name == "a b");
  CHECK(argc == 2 && std::string(arguments[1]) == "in.txt");
  for (std::string wrong : {"--test_steps=many", "--test_steps", "--unknown=1"}) {
    std::string name = "program";
    char* two[] = {name.data(), wrong.data()};
    char** at = two;
    int count = 2;
    CHECK(!c10::ParseCommandLineFlags(&count, &at) && FLAGS_test_steps == 7);
  }
}

// Whether a std::runtime_error that is no error of an op's was raised.
template <class F>
bool refused(const F& f) {
  try {
    f();
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

struct Shape {
  virtual ~Shape() = default;
  virtual int sides() const = 0;
};
C10_DECLARE_REGISTRY(TestShapes, Shape, int);
C10_DEFINE_REGISTRY(TestShapes, Shape, int);
struct Polygon : Shape {
  explicit Polygon(int n) : n(n) {}
  int sides() const override { return n; }
  int n;
};
C10_REGISTER_CLASS(TestShapes, polygon, Polygon);

TEST(classes_by_name) {
  CHECK(TestShapes()->Has("polygon") && TestShapes()->Create("polygon", 5)->sides() == 5);
  CHECK(!TestShapes()->Create("circle", 1) && TestShapes()->Keys().size() == 1);
  CHECK(refused([] { TestShapes()->Register("polygon", RegistererTestShapes::DefaultCreator<Polygon>); }));
}

TEST(numbers) {
  CHECK(c10::pi<double> == 3.141592653589793 && c10::pi<float> == 3.14159274f);
  CHECK(at::ceil_div(7, 3) == 3 && at::round_up(7, 3) == 9 && div_rtn(-7, 3) == -3 && div_rtn(7, 3) == 2);
  CHECK(at::_isnan(std::nan("")) && !at::_isnan(1) && at::_isinf(c10::Half(INFINITY)) && !at::_isinf(1e300));
  CHECK(at::_isnan(c10::BFloat16(NAN)) && at::exp(c10::Half(0.f)) == c10::Half(1.f));
  CHECK(c10::copysign(2.0, -0.0) == -2 && c10::copysign(c10::Half(2.f), c10::Half(-1.f)) == c10::Half(-2.f));
  CHECK(c10::bit_cast<uint32_t>(1.f) == 0x3f800000);
  int64_t product = 0;
  CHECK(c10::mul_overflows(INT64_MAX, int64_t{2}, &product) && !c10::add_overflows(int64_t{1}, int64_t{2}, &product));
  uint64_t size = 1;
  CHECK(!c10::safe_multiplies_u64(std::vector<int64_t>{INT64_MAX, INT64_MAX, 0}, &size) && size == 0);
  CHECK(c10::safe_multiplies_u64(std::vector<int64_t>{INT64_MAX, 4}, &size));
  CHECK((c10::contiguous_strides({2, 0, 3}) == c10::DimVector{3, 3, 1}));
  at::mt19937 engine(5489);
  CHECK(engine() == 3499211612u);
  at::detail::Array<int, 3> three({1, 2, 3});
  CHECK(three[2] == 3 && three.size() == 3);
}

TEST(tools_of_the_language) {
  CHECK(c10::get_hash(1, std::string("a")) == c10::get_hash(1, std::string("a")));
  CHECK(c10::get_hash(std::vector<int>{1, 2}) != c10::get_hash(std::vector<int>{2, 1}));
  CHECK((c10::hash<std::tuple<int, at::ScalarType>>()({1, at::kFloat}) !=
         c10::hash<std::tuple<int, at::ScalarType>>()({1, at::kLong})));
  std::variant<int, std::string> either = std::string("word");
  CHECK(std::visit(c10::overloaded([](int) { return 1; }, [](const std::string&) { return 2; }), either) == 2);
  int sum = 0;
  c10::ForcedUnroll<4>()([&](auto i) { sum += i; });
  auto add = [&](int x) { return sum + x; };
  c10::function_ref<int(int)> call = add;
  CHECK(sum == 6 && call(4) == 10 && !c10::function_ref<int(int)>());
  c10::Synchronized<int> count(3);
  CHECK(count.withLock([](int& value) { return ++value; }) == 4);
  c10::once_flag once;
  for (int i = 0; i < 2; ++i) c10::call_once(once, [&] { ++sum; });
  CHECK(sum == 7);
  c10::utils::set_env("TAEDA_TEST_ENV", "1");
  CHECK(c10::utils::check_env("TAEDA_TEST_ENV") == true && !c10::utils::get_env("TAEDA_TEST_NO_ENV"));
  void* memory = c10::alloc_cpu(100);
  CHECK(reinterpret_cast<uintptr_t>(memory) % c10::gAlignment == 0 && !c10::alloc_cpu(0));
  c10::free_cpu(memory);
}

TEST(memory_that_overlaps) {
  at::Tensor x = at::arange(12, at::kFloat).view({3, 4});
  CHECK(at::has_internal_overlap(x) == at::MemOverlap::No);
  CHECK(at::has_internal_overlap(x[0].expand({3, 4})) == at::MemOverlap::Yes);
  CHECK(at::has_internal_overlap(x.as_strided({3, 3}, {2, 1})) == at::MemOverlap::TooHard);
  CHECK(at::get_overlap_status(x[0], x[0]) == at::MemOverlapStatus::Full);
  CHECK(at::get_overlap_status(x[0], x[1]) == at::MemOverlapStatus::No);
  CHECK(at::get_overlap_status(x[0], x.view({12}).slice(0, 2, 6)) == at::MemOverlapStatus::Partial);
  CHECK(at::get_overlap_status(x, at::ones({3, 4})) == at::MemOverlapStatus::No);
  CHECK_ERROR(at::assert_no_internal_overlap(x[0].expand({3, 4})), Runtime, "clone it");
  CHECK_ERROR(at::assert_no_overlap(x, x), Runtime, "share memory");
  at::assert_no_partial_overlap(x, x);
  CHECK(at::detail::empty_cpu({2, 3}, at::kInt).sizes() == at::IntArrayRef({2, 3}));
}

TEST(autocast_from_kernels) {
  using namespace at::autocast;
  const auto cpu = c10::DeviceType::CPU;
  at::Tensor weight = at::ones({2}).requires_grad_(), whole = at::ones({2}, at::kInt);
  CHECK(!is_autocast_enabled(cpu) && get_autocast_dtype(cpu) == at::kBFloat16);
  set_autocast_enabled(cpu, true);
  CHECK(at::mm(at::ones({2, 2}), at::ones({2, 2})).scalar_type() == at::kBFloat16);
  at::Tensor low = cached_cast(at::kBFloat16, weight, cpu);
  CHECK(low.scalar_type() == at::kBFloat16 && cached_cast(at::kBFloat16, weight, cpu).is_same(low));
  CHECK(cached_cast(at::kBFloat16, whole, cpu).is_same(whole) && cached_cast(at::kBFloat16, weight).is_same(weight));
  CHECK(cached_cast(at::kFloat, std::vector<at::Tensor>{low}, cpu)[0].scalar_type() == at::kFloat);
  CHECK(!cached_cast(at::kFloat, std::optional<at::Tensor>(), cpu) && cached_cast(at::kFloat, 3, cpu) == 3);
  set_autocast_enabled(cpu, false);
  clear_cache();
}

TEST(states_of_threads) {
  at::NoGradGuard guard;
  at::autocast::set_autocast_enabled(at::kCPU, true);
  auto state = [] { return std::pair(at::GradMode::is_enabled(), at::autocast::is_autocast_enabled(at::kCPU)); };
  std::pair<bool, bool> inside, changed, after;
  auto asks = at::wrapPropagateTLSState([&] { inside = state(); });
  at::ThreadLocalState with_grad;
  with_grad.set_grad_mode(true);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  std::thread([&] {
    asks();
    {
      at::ThreadLocalStateGuard scope(with_grad);
      changed = state();
    }
    after = state();
  }).join();
  CHECK(inside == std::pair(false, true));
  CHECK(changed == std::pair(true, true));
  CHECK(after == std::pair(true, false));
}

TEST(vectors_over_arrays) {
  using Vec = at::vec::Vectorized<float>;
  std::vector<float> a(37), out(37);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  auto add = [](Vec x, Vec y) { return x + y; };
  CHECK(at::vec::map_reduce_all<float>([](Vec x) { return x * x; }, add, a.data(), 37) == 16206);
  CHECK(at::vec::map2_reduce_all<float>([](Vec x, Vec y) { return x * y; }, add, a.data(), a.data(), 5) == 30);
  CHECK(at::vec::map3_reduce_all<float>([](Vec x, Vec y, Vec z) { return x + y - z; }, add, a.data(), a.data(),
                                        a.data(), 37) == 666);
  at::vec::map3<float>([](Vec x, Vec y, Vec z) { return x + y + z; }, out.data(), a.data(), a.data(), a.data(), 37);
  CHECK(out[36] == 108);
  at::vec::map4<float>([](Vec x, Vec y, Vec z, Vec w) { return x + y + z * w; }, out.data(), a.data(), a.data(),
                       a.data(), a.data(), 37);
  CHECK(out[36] == 1368);
}

TEST(types_of_values) {
  using namespace c10;
  ListTypePtr list = ListType::create(OptionalType::ofTensor());
  CHECK(list->str() == "Tensor?[]" && list->repr_str() == "List[Optional[Tensor]]");
  CHECK(list->getElementType()->expect<OptionalType>()->getElementType() == TensorType::get());
  CHECK(list == ListType::create(OptionalType::create(TensorType::get())) && *list != *ListType::ofInts());
  TypePtr plain = list;
  CHECK(plain->cast<ListType>() == list && !plain->cast<DictType>() && plain->kind() == TypeKind::ListType);
  CHECK_ERROR(plain->expect<DictType>(), Runtime, "a DictType is wanted; got List");
  CHECK(IntType::get()->isSubtypeOf(*NumberType::get()) && !NumberType::get()->isSubtypeOf(IntType::get()));
  TupleTypePtr tuple = TupleType::create({IntType::get(), DictType::create(StringType::get(), FloatType::get())});
  CHECK(tuple->elements().size() == 2 && tuple->containedType(1)->cast<DictType>()->getKeyType() == StringType::get());
  CHECK(tuple->str() == "(int, Dict(str, float))");
  IValue value(std::vector<int64_t>{1, 2});
  switch (value.type()->kind()) {
    case TypeKind::ListType:
      break;
    default:
      CHECK(false);
  }
  CHECK(*value.type() == *getTypePtr<std::vector<int64_t>>() && typeKindToString(value.type()->kind()) == "ListType");
  CHECK(unifyTypes(IntType::get(), NoneType::get()).value() == OptionalType::create(IntType::get()));
  auto schema = torch::jit::parseSchema("mine::f(Tensor[] xs, int n=1) -> Tensor");
  CHECK(schema.arguments()[0].type()->expect<ListType>()->getElementType() == TensorType::get());
}

TEST(checks_that_tell_both_values) {
  int three = 3, *none = nullptr;
  TORCH_CHECK_EQ(three, 3) << "never made";
  TORCH_CHECK_LE(3, three);
  if (three == 3)
    TORCH_CHECK_NE(three, 4);
  else
    three = 0;
  TORCH_DCHECK_LT(three, 4);
  CHECK_ERROR([&] { TORCH_CHECK_GT(three, 5) << "too few"; }(), Runtime, "three > 5 fails for 3 and 5. too few");
  CHECK_ERROR(TORCH_CHECK_NOTNULL(none), Runtime, "'none' must not be null");
  CHECK(*TORCH_CHECK_NOTNULL(&three) == 3);
  CHECK_ERROR(C10_THROW_ERROR(ValueError, std::string("odd ") + "one"), Value, "odd one");
  CHECK_ERROR(throw c10::IndexError("out of it", nullptr), Index, "out of it");
  std::ostringstream out;
  out << std::vector<int>{1, 2} << std::set<int>{3} << std::map<std::string, int>{{"a", 1}} << std::vector<int>(101, 0);
  CHECK(out.str().starts_with("1 23(a, 1)0 0") && out.str().ends_with("0 0 ...") && out.str().size() == 10 + 199 + 4);
  CHECK_ERROR([&] { TORCH_CHECK_ARG(three == 4, 2, "four is wanted"); }(), Runtime, "invalid argument 2: four");
}

TEST(what_pytorchs_own_tests_ask) {
  at::Tensor x = at::arange(6, at::kFloat), window = at::empty({0}, at::kFloat);
  window.set_(x.storage(), 1, {2, 2}, {2, 1});
  CHECK(window.equal(at::tensor({1.f, 2.f, 3.f, 4.f}).view({2, 2})) && window.is_alias_of(x));
  CHECK(window.set_(x.storage()).equal(x));
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), 8, c10::GetCPUAllocator()->allocate(8), c10::GetCPUAllocator(), true);
  CHECK(storage->nbytes() == 8 && storage->resizable());
  CHECK(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), 4, c10::GetCPUAllocator(), false)
            ->nbytes() == 4);
  const at::OptionalDeviceGuard guard(device_of(x));
  CHECK(!at::device_of(at::Tensor()) && !at::device_of(std::vector<at::Tensor>()) && at::device_of({x, x})->is_cpu());
  CHECK(at::device_of(std::optional(x)) == x.device());
  CHECK(x.m([](const at::Tensor& t, int64_t power) { return t.pow(power); }, 2).equal(x * x));
  CHECK(at::Scalar(2).equal(std::complex<double>(2)) &&
        !at::Scalar(std::complex<double>(2, 1)).equal(std::complex<float>(2)));
  at::Generator generator = at::detail::createCPUGenerator(3);
  {
    std::lock_guard<std::mutex> lock(generator.unsafeGetGeneratorImpl()->mutex_);
    CHECK(generator.current_seed() == 3);
  }
  c10::OperatorName name{"relu", ""};
  CHECK(!name.getNamespace() && name.setNamespaceIfNotSet("aten") && *name.getNamespace() == "aten");
  CHECK(c10::numelements_between_dim(2, 1, std::vector<int64_t>{2, 3, 4}) == 3);
  CHECK(c10::IValue(3).hash().toInt() == c10::IValue(3.0).hash().toInt());
  std::string folder;
  {
    c10::TempDir made = c10::make_tempdir();
    folder = made.name;
    CHECK(access(folder.c_str(), F_OK) == 0);
  }
  CHECK(access(folder.c_str(), F_OK) != 0);
  CHECK(c10::is_privateuse1_backend_registered() == (c10::get_privateuse1_backend() != "privateuseone"));
}

TEST(what_is_refused_as_in_pytorch) {
  CHECK(refused([] { at::Scalar(100000).toHalf(); }) && refused([] { at::Scalar(NAN).toInt(); }));
  CHECK(at::Scalar(65504).toHalf() == 65504 && std::isnan(at::Scalar(NAN).toBFloat16()));
  CHECK(!at::Scalar(true).equal(1.0) && at::Scalar(true).equal(true) && !at::Scalar(true).equal(1));
  at::Tensor x = at::arange(3, at::kFloat);
  CHECK_ERROR(x[at::Scalar(1.5)], Index, "1.5");
  CHECK_ERROR(x[at::scalar_tensor(1.5, at::kDouble)], Index, "Double");
  CHECK_ERROR(x.index({at::scalar_tensor(1.5, at::kFloat), "..."}), Index, "Float");
}

TEST(what_was_moved_from_stays) {
  c10::Dict<std::string, int64_t> dict, same = std::move(dict);
  dict.insert("a", 1);
  CHECK(same.at("a") == 1 && same.is(dict));
  c10::List<int64_t> list({1}), other = std::move(list);
  list.push_back(2);
  CHECK(other.size() == 2);
}

TEST(functions_of_half_types) {
  using namespace c10::complex_literals;
  static_assert(std::is_same_v<decltype(at::vec::Vectorized<c10::Half>(1).exp()[0]), c10::Half&>);
  CHECK(std::exp(c10::BFloat16(1)) == c10::BFloat16(std::exp(1.f)) && std::isinf(c10::Half(INFINITY)));
  CHECK(std::abs(std::arg(c10::polar(2., 1.)) - 1) < 1e-12 && 2_id == std::complex<double>(0, 2));
}

TEST(memory_formats_that_sizes_of_one_leave_open) {
  at::Tensor x = at::rand({4, 4, 1, 1});
  for (auto format : {at::MemoryFormat::ChannelsLast, at::MemoryFormat::Contiguous})
    CHECK(x.resize_({4, 4, 1, 1}, format).suggest_memory_format() == format);
}

TEST(lines_by_severity) {
  std::ostringstream lines;
  std::streambuf* before = std::cerr.rdbuf(lines.rdbuf());
  const int least = std::exchange(FLAGS_caffe2_log_level, GLOG_WARNING);
  LOG(INFO) << "not shown";
  VLOG(1) << "not shown";
  if (least > GLOG_FATAL)
    LOG(ERROR) << "not reached";
  else
    LOG_IF(ERROR, least == least) << "shown " << 1;
  FLAGS_caffe2_log_level = -1;
  VLOG(1) << "shown " << 2;
  VLOG(2) << "not shown";
  FLAGS_caffe2_log_level = least;
  pid_t child = fork();
  if (child == 0) LOG_IF(FATAL, child == 0) << "ends the process";
  std::cerr.rdbuf(before);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  const std::string said = lines.str();
  CHECK(said.starts_with("[E") && said.find("test_util.cpp:") < said.find("] shown 1\n[I"));
  CHECK(said.ends_with("] shown 2\n") && said.find("not") == std::string::npos);
}

TEST(checks_of_caffe2) {
  CAFFE_ENFORCE(true, "never made");
  CHECK_ERROR([] { CAFFE_ENFORCE_EQ(1 + 1, 3, "odd ", 1); }(), Runtime, "1 + 1 == 3 fails for 2 and 3. odd 1");
  CHECK_ERROR(CAFFE_THROW("odd ", 2), Runtime, "odd 2");
}

TEST(dispatch_over_quantised_elements) {
  at::Tensor x = at::quantize_per_tensor(at::tensor({1.f, 2.f}), 0.5, 3, at::kQInt8);
  int64_t size = 0, zero = 0;
  AT_DISPATCH_QINT_TYPES(x.scalar_type(), "size", [&] {
    size = sizeof(scalar_t);
    zero = static_cast<underlying_t>(x.data_ptr<scalar_t>()[1].val_);
  });
  CHECK(size == 1 && zero == 7);
  CHECK_ERROR(AT_DISPATCH_QINT_TYPES(at::kFloat, "size", [&] { size = 0; }), NotImplemented, "size");
}

namespace {
namespace lists = c10::guts::typelist;
using lists::typelist;
using Three = typelist<int, float, char>;
template <class T>
using Pointer = T*;
template <class A, class B>
constexpr bool same = std::is_same_v<A, B>;
static_assert(lists::size<Three>::value == 3 && lists::count_if<std::is_integral, Three>::value == 2);
static_assert(lists::contains<Three, float>::value && !lists::contains<Three, double>::value);
static_assert(lists::all<std::is_arithmetic, Three>::value &&
              lists::find_if<Three, std::is_floating_point>::value == 1);
static_assert(!lists::true_for_any_type<std::is_pointer, Three>::value && same<lists::last_t<Three>, char>);
static_assert(same<lists::filter_t<std::is_integral, Three>, typelist<int, char>>);
static_assert(same<lists::map_t<Pointer, Three>, typelist<int*, float*, char*>>);
static_assert(same<lists::reverse_t<Three>, typelist<char, float, int>> &&
              same<lists::reverse_t<typelist<>>, typelist<>>);
static_assert(same<lists::take_t<Three, 2>, typelist<int, float>> &&
              same<lists::drop_t<Three, 1>, typelist<float, char>>);
static_assert(same<lists::drop_if_nonempty_t<typelist<>, 1>, typelist<>> && same<lists::concat_t<>, typelist<>>);
static_assert(same<lists::concat_t<Three, typelist<>, typelist<bool>>, typelist<int, float, char, bool>>);
static_assert(same<lists::head_with_default_t<bool, typelist<>>, bool> && same<lists::element_t<1, Three>, float>);
static_assert(same<lists::from_tuple_t<lists::to_tuple_t<Three>>, Three>);
static_assert(c10::guts::is_type_condition<std::is_integral>::value && c10::guts::is_hashable<std::string>::value);
static_assert(!c10::guts::is_hashable<std::vector<int>>::value && c10::guts::is_function_type<int(int)>::value);
static_assert(c10::guts::is_instantiation_of<std::vector, std::vector<int>>::value);
}  // namespace

TEST(what_functions_take_and_parts_of_tuples) {
  using namespace c10::guts;
  auto plain = [](int, float) -> double { return 1; };
  auto bound = [&](int) { return plain; };
  using Traits = infer_function_traits_t<decltype(plain)>;
  static_assert(same<Traits::return_type, double> && same<Traits::parameter_types, lists::typelist<int, float>>);
  static_assert(Traits::number_of_parameters == 2 &&
                same<infer_function_traits_t<int (*)(char)>::func_type, int(char)>);
  static_assert(same<make_function_traits_t<int, Three>::func_type, int(int, float, char)>);
  static_assert(is_stateless_lambda<decltype(plain)>::value && !is_stateless_lambda<decltype(bound)>::value);
  static_assert(is_functor<decltype(bound)>::value && !is_functor<int>::value);
  const auto parts = std::make_tuple(1, 2.5f, 'c');
  using Tuple = std::tuple<int, float, char>;
  CHECK(tuple_take<Tuple, -1>(parts) == std::make_tuple('c') &&
        tuple_take<Tuple, 2>(parts) == std::make_tuple(1, 2.5f));
  CHECK(tuple_slice<Tuple, 1, 1>(parts) == std::make_tuple(2.5f));
  auto owners = std::make_tuple(std::make_unique<int>(3), 4);
  auto numbers = tuple_map(std::move(owners), [](auto each) {
    if constexpr (std::is_integral_v<decltype(each)>)
      return each + 1;
    else
      return *each;
  });
  CHECK(numbers == std::make_tuple(3, 5));
  auto sizes = lists::map_types_to_values<Three>([](auto type) { return sizeof(typename decltype(type)::type); });
  CHECK(sizes == std::make_tuple(sizeof(int), sizeof(float), sizeof(char)));
  CHECK(::detail::scalar_type(at::kInt) == at::kInt && ::detail::scalar_type(at::ones({1}).dtype()) == at::kFloat);
}
