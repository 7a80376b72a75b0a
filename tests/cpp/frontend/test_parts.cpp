// Names of dimensions, and the parts of libtorch that programs reach into.
#include <torch/csrc/utils/variadic.h>
#include <torch/torch.h>

#include <future>

#include "../test_main.h"

namespace F = torch::nn::functional;

TEST(symbols_are_their_text) {
  c10::Symbol add = c10::Symbol::fromQualString("aten::add");
  CHECK(add == c10::Symbol::aten("add") && add.is_aten() && add != c10::Symbol::attr("add"));
  CHECK(std::string(add.toUnqualString()) == "add" && add.domainString() == "aten");
  CHECK(add.ns() == c10::Symbol::fromQualString("namespaces::aten") && std::hash<c10::Symbol>()(add) != 0);
  CHECK_ERROR(c10::Symbol::fromQualString("add"), Value, "namespace");
}

TEST(names_of_dimensions) {
  auto name = [](const char* text) { return at::Dimname::fromSymbol(c10::Symbol::dimname(text)); };
  at::Dimname a = name("A"), b = name("B"), any = at::Dimname::wildcard();
  CHECK(a.matches(any) && !a.matches(b) && *any.unify(b) == b && !a.unify(b) && any.type() == at::NameType::WILDCARD);
  CHECK_ERROR(name("1st"), Value, "identifier");
  torch::Tensor x = torch::arange(8.).reshape({2, 4}).requires_grad_();
  CHECK(!x.has_names() && x.names().size() == 2 && x.names()[0].isWildcard());
  torch::Tensor named = x.refine_names({a, b});
  CHECK(named.has_names() && named.names()[1] == b && !x.has_names() && !(named * 2).has_names());
  CHECK(!named.rename(std::nullopt).has_names() && named.rename(at::DimnameList{b, any}).names()[0] == b);
  CHECK_ERROR(named.refine_names({b, a}), Runtime, "rename()");
  CHECK_ERROR(x.refine_names({a}), Value, "got 1 names for a tensor of 2 dimensions");
  CHECK_ERROR(x.refine_names({a, a}), Value, "two dimensions");

  torch::nn::Unflatten unflatten(torch::nn::UnflattenOptions("B", {{"B1", 2}, {"B2", 2}}));
  torch::Tensor split = unflatten(named);
  CHECK(split.sizes() == at::IntArrayRef({2, 2, 2}) && split.names()[0] == a && split.names()[2] == name("B2"));
  split.sum().backward();
  CHECK(x.grad().equal(torch::ones({2, 4})));
  CHECK_ERROR(unflatten(x), Runtime, "no dimension 'B'");
  CHECK(c10::str(unflatten) == R"(torch::nn::Unflatten(dim="B", unflattened_size={{"B1", 2}, {"B2", 2}}))");
}

TEST(how_a_view_came_to_be) {
  using torch::autograd::CreationMeta;
  auto creation = [](const torch::Tensor& t) {
    auto* meta = static_cast<torch::autograd::DifferentiableViewMeta*>(t.unsafeGetTensorImpl()->autograd_meta());
    CHECK(meta->has_bw_view());
    return meta->get_creation_meta();
  };
  torch::Tensor base = torch::ones({4}, torch::requires_grad()).clone();
  CHECK(creation(base.view({2, 2})) == CreationMeta::DEFAULT);
  CHECK(creation(base.unbind()[0]) == CreationMeta::MULTI_OUTPUT_NODE);
  torch::NoGradGuard guard;
  CHECK(creation(base.view({2, 2})) == CreationMeta::NO_GRAD_MODE);
}

TEST(questions_about_types_of_modules) {
  struct Plain : torch::nn::Module {};
  using namespace torch::detail;
  CHECK(has_forward<torch::nn::LinearImpl>::value && !has_forward<Plain>::value && is_module<Plain>::value);
  CHECK(!is_module<int>::value && std::is_void_v<return_type_of_forward_t<Plain>>);
  CHECK(std::is_same_v<return_type_of_forward_t<torch::nn::LinearImpl, torch::Tensor>, torch::Tensor>);
  CHECK(check_not_lvalue_references<int, const int&>() && !check_not_lvalue_references<int&>());
  std::vector<int> seen;
  torch::apply([&](int i) { seen.push_back(i); }, 1, 2, 3);
  CHECK(seen == std::vector<int>({1, 2, 3}));
  std::vector<torch::Tensor> two(2);
  CHECK(torch::count_tensors(two[0], std::optional<torch::Tensor>(), torch::TensorList(two)) == 3);
}

TEST(parts_of_the_loader) {
  using namespace torch::data::detail;
  using namespace std::chrono_literals;
  Queue<int> queue;
  auto waiting = std::async(std::launch::async, [&] { return queue.pop(); });
  queue.push(1);
  CHECK(waiting.get() == 1);
  queue.push(2);
  CHECK(queue.clear() == 1);
  CHECK_ERROR(queue.pop(1ms), Runtime, "within the timeout of 1 ms");

  DataShuttle<int, int> shuttle;
  CHECK(!shuttle.pop_result());
  shuttle.push_job(1);
  shuttle.push_job(2);
  shuttle.push_result(shuttle.pop_job());
  CHECK(shuttle.in_flight_jobs() == 2 && shuttle.pop_result() == 1);
  shuttle.drain();
  CHECK(shuttle.in_flight_jobs() == 0);

  struct Numbered {
    size_t sequence_number;
  };
  sequencers::OrderedSequencer<Numbered> ordered(3);
  size_t given = 0, order[] = {2, 0, 1};
  for (size_t i = 0; i < 3; ++i) CHECK(ordered.next([&] { return Numbered{order[given++]}; })->sequence_number == i);
  CHECK(!sequencers::NoSequencer<int>().next([] { return std::nullopt; }));
}

TEST(dropout_and_resizing_by_their_parts) {
  torch::Tensor x = torch::ones({8, 8});
  CHECK(F::detail::alpha_dropout(x, 0.5, false, false).equal(x));
  CHECK(F::detail::dropout(x, 1., true, true).sum().item<float>() == 0 && x.sum().item<float>() == 0);
  CHECK_ERROR(F::detail::dropout2d(x, 2., true, false), Runtime, "from 0 to 1; got 2");
  torch::Tensor image = torch::arange(16.).reshape({1, 1, 4, 4});
  torch::Tensor half = at::native::_upsample_nearest_exact2d(image, std::vector<int64_t>{2, 2}, std::nullopt);
  CHECK(half.equal(
      F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{2, 2}).mode(torch::kNearestExact))));
}

TEST(layers_that_cannot_be) {
  using namespace torch::nn;
  CHECK_ERROR(AdaptiveLogSoftmaxWithLoss(AdaptiveLogSoftmaxWithLossOptions(8, 9, {4}).div_value(0)), Runtime,
              "div_value");
  torch::Tensor x = torch::ones({1, 1, 2}), none;
  F::MultiheadAttentionForwardFuncOptions options(2, 1, torch::ones({6, 2}), torch::ones(6), x, x, false, 0.,
                                                  torch::ones({2, 2}), none);
  CHECK_ERROR(F::multi_head_attention_forward(x, x, x, options.static_k(x)), Runtime, "static_k");
}

TEST(archives_of_what_is_lazily_conjugated) {
  torch::Tensor x = torch::randn({3}, torch::kComplexFloat), back;
  for (const torch::Tensor& lazy : {torch::conj(x), torch::_neg_view(x), torch::conj(torch::_neg_view(x))}) {
    std::stringstream stream;
    torch::save(lazy, stream);
    torch::load(back, stream);
    CHECK(back.equal(lazy) && !back.is_conj() && !back.is_neg());
  }
}
