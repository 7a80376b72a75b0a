// Ops, kernels and classes that a C++ program registers and calls; a device of one's own (examples/cpp/own_device.h).
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/torch.h>

#include <numeric>

#include "../../../examples/cpp/own_device.h"
#include "../test_main.h"

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

int64_t boxed_calls = 0;

torch::Tensor scale_cpu(const torch::Tensor& x, double by) { return x * by; }
torch::Tensor scale_meta(const torch::Tensor& x, double) { return torch::empty_like(x); }

struct Scale : torch::autograd::Function<Scale> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& x, double by) {
    ctx->saved_data["by"] = by;
    at::AutoDispatchBelowADInplaceOrView below;
    static auto op = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("cpptest::scale", "")
                         .typed<torch::Tensor(const torch::Tensor&, double)>();
    return op.call(x, by);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["by"].toDouble(), torch::Tensor()};
  }
};
torch::Tensor scale_autograd(const torch::Tensor& x, double by) { return Scale::apply(x, by); }

std::tuple<torch::Tensor, std::vector<int64_t>> describe(const torch::Tensor& x, std::optional<int64_t> dim,
                                                         c10::List<std::string> words) {
  return {dim ? x.sum(*dim) : x.sum(), {static_cast<int64_t>(words.size()), x.dim()}};
}
void negate(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++boxed_calls;
  CHECK(op.schema().arguments().size() == 1);
  torch::Tensor x = torch::jit::pop(*stack).toTensor();
  torch::jit::push(*stack, -x);
}
struct Tally : torch::CustomClassHolder {
  explicit Tally(int64_t start) : count(start) {}
  int64_t add(int64_t by) { return count += by; }
  void add_all(const at::IntArrayRef& many) { count = std::accumulate(many.begin(), many.end(), count); }
  int64_t count;
};

TORCH_LIBRARY(cpptest, m) {
  m.def("scale(Tensor x, float by=2.0) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("describe", &describe);
  m.def("negate(Tensor x) -> Tensor", torch::CppFunction::makeFromBoxedFunction<&negate>());
  m.def("sum_all(Tensor[] xs) -> Tensor", [](at::TensorList xs) {
    torch::Tensor total = torch::zeros({});
    for (const torch::Tensor& x : xs) total = total + x.sum();
    return total;
  });
  m.def("total(int[] of) -> int");
  m.impl("total", c10::DispatchKey::CompositeImplicitAutograd,
         [](const at::IntArrayRef& of) { return std::accumulate(of.begin(), of.end(), int64_t{0}); });
  m.class_<Tally>("Tally")
      .def(torch::init<int64_t>())
      .def("add", &Tally::add)
      .def("add_all", &Tally::add_all)
      .def_readonly("count", &Tally::count);
}
TORCH_LIBRARY_FRAGMENT(cpptest, m) {
  m.def("later(int n) -> int", [](int64_t n) { return n + 1; });
}
TORCH_LIBRARY_IMPL(cpptest, CPU, m) { m.impl("scale", TORCH_FN(scale_cpu)); }
TORCH_LIBRARY_IMPL(cpptest, Meta, m) { m.impl("scale", &scale_meta); }
TORCH_LIBRARY_IMPL(cpptest, Autograd, m) { m.impl("scale", &scale_autograd); }

template <class Signature>
auto typed(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

TEST(dispatcher_calls_typed_and_boxed) {
  auto scale = typed<torch::Tensor(const torch::Tensor&, double)>("cpptest::scale");
  torch::Tensor x = torch::ones(3, torch::requires_grad());
  torch::Tensor y = scale.call(x, 4);
  CHECK(y.grad_fn() && y.equal(torch::full({3}, 4.f)));
  y.sum().backward();
  CHECK(x.grad().equal(torch::full({3}, 4.f)));
  CHECK(scale.call(torch::ones(2, torch::kMeta), 3).is_meta());
  torch::jit::Stack stack = {torch::IValue(torch::ones(2)), torch::IValue(0.5)};
  scale.callBoxed(&stack);
  CHECK(stack.size() == 1 && stack[0].toTensor().equal(torch::full({2}, 0.5f)));
  CHECK(scale.schema().arguments()[1].name() == "by" && scale.hasKernelForDispatchKey(c10::DispatchKey::CPU));
  CHECK_ERROR(c10::Dispatcher::singleton().findSchemaOrThrow("cpptest::nothing", ""), Runtime, "cpptest::nothing");
  CHECK(!c10::Dispatcher::singleton().findSchema({"cpptest::scale", "other"}));
}

TEST(dispatcher_schemas_from_types) {
  auto op = typed<std::tuple<torch::Tensor, std::vector<int64_t>>(const torch::Tensor&, std::optional<int64_t>,
                                                                  c10::List<std::string>)>("cpptest::describe");
  c10::List<std::string> words;
  words.push_back("a");
  auto [sum, numbers] = op.call(torch::ones({2, 3}), 1, words);
  CHECK(sum.equal(torch::full({2}, 3.f)) && numbers == std::vector<int64_t>{1, 2});
  CHECK(typed<torch::Tensor(at::TensorList)>("cpptest::sum_all").call({torch::ones(2), torch::ones(3)}).item<int>() ==
        5);
  CHECK(typed<int64_t(int64_t)>("cpptest::later").call(4) == 5);
  CHECK(typed<torch::Tensor(const torch::Tensor&)>("cpptest::negate").call(torch::ones(1)).item<int>() == -1);
  CHECK(boxed_calls == 1);
}

TEST(dispatcher_classes) {
  auto total =
      c10::Dispatcher::singleton().findSchemaOrThrow("cpptest::total", "").typed<int64_t(const at::IntArrayRef&)>();
  CHECK(total.call(std::vector<int64_t>{1, 2, 3}) == 6);
  torch::IValue tally = torch::make_custom_class<Tally>(5);
  CHECK(tally.isCustomClass() && tally.toCustomClass<Tally>()->add(2) == 7);
}

TEST(dispatcher_libraries_come_and_go) {
  {
    auto m = MAKE_TORCH_LIBRARY(cpptest_gone);
    m.def("one() -> int", [] { return int64_t{1}; });
    CHECK(typed<int64_t()>("cpptest_gone::one").call() == 1);
  }
  CHECK(!c10::Dispatcher::singleton().findSchema({"cpptest_gone::one", ""}));
}

TEST(dispatcher_ops_without_a_derivative) {
  using Unary = torch::Tensor(const torch::Tensor&);
  auto m = MAKE_TORCH_LIBRARY(cpptest_plain);
  m.def("twice(Tensor x) -> Tensor");
  m.def("fixed(Tensor x) -> Tensor");
  m.def("fill_(Tensor(a!) x, Tensor by) -> Tensor(a!)");
  auto cpu = MAKE_TORCH_LIBRARY_IMPL(cpptest_plain, CPU), autograd = MAKE_TORCH_LIBRARY_IMPL(cpptest_plain, Autograd),
       writes = MAKE_TORCH_LIBRARY_IMPL(cpptest_plain, ADInplaceOrView);
  auto twice = [](const torch::Tensor& x) { return x.detach() * 2; };
  cpu.impl("twice", twice);
  cpu.impl("fixed", twice);
  cpu.impl("fill_", [](torch::Tensor& x, const torch::Tensor& by) -> torch::Tensor& { return x.copy_(by.detach()); });
  for (const char* name : {"fixed", "fill_"}) {
    autograd.impl(name, torch::autograd::autogradNotImplementedFallback());
    writes.impl(name, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
  torch::Tensor x = torch::ones({2}, torch::requires_grad());
  auto call = typed<Unary>("cpptest_plain::twice");
  torch::Tensor marked = call.call(x);
  CHECK(marked.requires_grad() && !call.call(x.detach()).requires_grad());
  (marked + x).sum().backward();
  CHECK(x.grad().equal(torch::ones({2})));
  torch::autograd::setAutogradFallbackMode(torch::autograd::AutogradFallbackMode::Nothing);
  CHECK(!call.call(x).requires_grad());
  torch::autograd::setAutogradFallbackMode(torch::autograd::AutogradFallbackMode::Error);
  CHECK_ERROR(call.call(x), Runtime, "cpptest_plain::twice has no kernel under Autograd");
  torch::autograd::setAutogradFallbackMode(torch::autograd::AutogradFallbackMode::Warn);

  CHECK_ERROR(typed<Unary>("cpptest_plain::fixed").call(x).sum().backward(), Runtime,
              "cpptest_plain::fixed has no derivative");
  auto fill = typed<torch::Tensor&(torch::Tensor&, const torch::Tensor&)>("cpptest_plain::fill_");
  torch::Tensor target = torch::zeros({2});
  fill.call(target, x);
  CHECK(target.requires_grad() && target._version() == 1 && target.equal(torch::ones({2})));
  CHECK_ERROR(fill.call(x, target), Runtime, "leaf");
}

TEST(generators_of_a_device) {
  const at::PrivateUse1HooksInterface plain;
  CHECK_ERROR(plain.getNewGenerator(), Runtime, "getNewGenerator()");
  CHECK_ERROR(plain.getPinnedMemoryAllocator(), NotImplemented, "getPinnedMemoryAllocator()");
  auto make = [](c10::DeviceIndex index) { return at::make_generator<toy::Generator>(index); };
  REGISTER_GENERATOR_PRIVATEUSE1(make)
  CHECK(plain.getNewGenerator(1).device().str() == "toy:1");
  CHECK_ERROR(at::_GeneratorRegister(make), Runtime, "already");
  CHECK_ERROR(at::RegisterPrivateUse1HooksInterface(new toy::Hooks), Runtime, "already");
  CHECK_ERROR(at::RegisterPrivateUse1HooksInterface(nullptr), Runtime, "null");
  const c10::Device second(torch::kPrivateUse1, 1);
  CHECK(at::globalContext().defaultGenerator(second).device() == second && at::isPrivateUse1HooksRegistered());
  CHECK(at::globalContext().getAcceleratorHooksInterface().deviceCount() == 2);
  CHECK_ERROR(at::globalContext().getAcceleratorHooksInterface(torch::kCUDA), Runtime, "cuda");
}

TEST(a_device_of_ones_own) {
  torch::Device toy(torch::kPrivateUse1);
  torch::Tensor x = torch::arange(6, torch::kFloat).view({2, 3}).to(toy);
  CHECK(x.device().str() == "toy:0" && x.is_privateuseone() && toy::live_blocks() > 0);
  const int64_t added = toy::calls("add"), fallen = toy::calls("fallback");
  CHECK((x + x).cpu().equal(torch::arange(6, torch::kFloat).view({2, 3}) * 2) && toy::calls("add") == added + 1);
  CHECK(x.exp().cpu().allclose(torch::arange(6, torch::kFloat).view({2, 3}).exp()) && toy::calls("fallback") > fallen);
  CHECK(x.t()[1].cpu().equal(torch::tensor({1.f, 4.f})));
  torch::Tensor w = torch::ones({3, 1}, torch::TensorOptions(toy)).requires_grad_();
  x.mm(w).sum().backward();
  CHECK(w.grad().device() == x.device() && w.grad().cpu().view({3}).equal(torch::tensor({3.f, 5.f, 7.f})));
  c10::DeviceGuard guard(c10::Device(torch::kPrivateUse1, 1));
  CHECK(toy::current_device() == 1);
  torch::nn::Linear linear(3, 2);
  linear->to(toy);
  torch::optim::SGD optimizer(linear->parameters(), torch::optim::SGDOptions(0.1));
  linear(x.to(c10::Device(torch::kPrivateUse1, 1))).sum().backward();
  optimizer.step();
  CHECK(linear->weight.device().str() == "toy:1" && linear->weight.grad().device().str() == "toy:1");
}

namespace {

// A class that only handles make, which is known by its type.
class Kept : public torch::CustomClassHolder {
 public:
  int64_t number() const { return number_; }
  static c10::intrusive_ptr<Kept> of(int64_t number) { return c10::make_intrusive<Kept>(number); }

 private:
  explicit Kept(int64_t number) : number_(number) {}
  friend class c10::intrusive_ptr<Kept>;
  int64_t number_;
};
struct Unknown : torch::CustomClassHolder {};
// Whose methods have the names of those that count references.
struct Handle : torch::CustomClassHolder {
  int64_t calls = 0;
  bool* gone;
  explicit Handle(bool* gone) : gone(gone) {}
  ~Handle() override { *gone = true; }
  void retain() { ++calls; }
  void release() { ++calls; }
  void retain_first() { ++calls; }
  void destroy() { ++calls; }
  int64_t use_count() { return ++calls; }
};

int64_t number_of(const c10::IValue& value, const std::string& word, int64_t more) {
  const c10::Type* kept = c10::getCustomClassType<c10::intrusive_ptr<Kept>>().get();
  TORCH_CHECK(value.type().get() == kept, "a Kept is wanted; got ", value.type()->str());
  return value.toCustomClass<Kept>()->number() + static_cast<int64_t>(word.size()) + more;
}

}  // namespace

TORCH_LIBRARY(cpptest_kept, m) {
  m.class_<Kept>("Kept").def_static("of", &Kept::of).def("number", &Kept::number);
  c10::FunctionSchema schema("number_of", "any",
                             {{"value", c10::AnyType::get()},
                              {"word", c10::getTypePtr<std::string>(), std::nullopt, "four"},
                              {"more", c10::IntType::get(), std::nullopt, 1, true}},
                             {{"", c10::IntType::get()}});
  schema.setAliasAnalysis(c10::AliasAnalysisKind::CONSERVATIVE);
  m.def(std::move(schema), number_of);
  m.def(torch::schema("same(Tensor x) -> Tensor", c10::AliasAnalysisKind::PURE_FUNCTION));
}

TEST(schemas_that_are_put_together) {
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow("cpptest_kept::number_of", "any");
  CHECK(c10::str(op.schema()) == "cpptest_kept::number_of.any(Any value, str word=\"four\", *, int more=1) -> int");
  torch::jit::Stack stack{Kept::of(3), std::string("six666"), 2};
  op.callBoxed(stack);
  CHECK(stack[0].toInt() == 11);
  torch::jit::Stack other{torch::ones(1), std::string(), 2};
  CHECK_ERROR(op.callBoxed(other), Runtime, "a Kept is wanted; got Tensor");
  CHECK_ERROR(c10::getCustomClassType<c10::intrusive_ptr<Unknown>>(), Runtime, "not registered");
  CHECK(c10::Dispatcher::singleton().findSchemaOrThrow("cpptest_kept::same", "").schema().arguments().size() == 1);
  CHECK(c10::Argument("x").type() == c10::TensorType::get() && !c10::Argument("x").default_value());
}

TEST(classes_with_methods_of_any_name) {
  bool gone = false;
  auto handle = c10::make_intrusive<Handle>(&gone);
  {
    c10::intrusive_ptr<Handle> other = handle;
    other->release();
    CHECK(handle.use_count() == 2 && handle->calls == 1);
  }
  CHECK(handle.unique() && !gone);
  handle.reset();
  CHECK(gone);
}
