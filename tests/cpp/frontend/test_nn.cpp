// torch::nn: what modules register, containers, layers whose numbers are known or follow from others.
#include <torch/nn.h>

#include <sstream>

#include "../test_main.h"

using namespace torch::nn;
namespace F = torch::nn::functional;

namespace {

bool near(const torch::Tensor& a, const torch::Tensor& b, double tolerance = 1e-5) {
  return a.sizes() == b.sizes() && torch::allclose(a, b, tolerance, tolerance);
}
std::string printed(const Module& module) {
  std::ostringstream text;
  text << module;
  return text.str();
}

struct NetImpl : Cloneable<NetImpl> {
  NetImpl() { NetImpl::reset(); }
  void reset() override {
    first = register_module("first", Linear(3, 4));
    norm = register_module("norm", BatchNorm1d(4));
    scale = register_parameter("scale", torch::ones(1));
    steps = register_buffer("steps", torch::zeros(1, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) { return norm(first(x)) * scale; }
  Linear first{nullptr};
  BatchNorm1d norm{nullptr};
  torch::Tensor scale, steps;
};
TORCH_MODULE(Net);

struct DefaultsImpl : Module {
  torch::Tensor forward(torch::Tensor x, double by = 2, bool negative = false) { return negative ? -x * by : x * by; }
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2.0)}, {2, AnyValue(false)})
};
TORCH_MODULE(Defaults);

}  // namespace

TEST(nn_registration) {
  Net net;
  CHECK(net->parameters().size() == 5 && net->buffers().size() == 4);
  CHECK(net->named_parameters().keys() ==
        std::vector<std::string>{"scale", "first.weight", "first.bias", "norm.weight", "norm.bias"});
  CHECK(net->named_buffers().contains("norm.running_mean"));
  CHECK(net->named_modules("net").keys() == std::vector<std::string>{"net", "net.first", "net.norm"});
  CHECK(net->children().size() == 2 && net->named_children().contains("first"));
  CHECK(net->as<Net>() != nullptr && net->first->as<Linear>() != nullptr && net->first->as<Conv2d>() == nullptr);
  CHECK_ERROR(net->register_parameter("scale", torch::ones(1)), Runtime, "already defined");
  CHECK_ERROR(net->register_buffer("a.b", torch::ones(1)), Runtime, "dot");
  CHECK_ERROR(net->named_parameters()["nothing"], Runtime, "'nothing' is not defined");
  net->eval();
  CHECK(!net->is_training() && !net->norm->is_training());
  net->to(torch::kFloat64);
  CHECK(net->first->weight.dtype() == torch::kFloat64 && net->steps.dtype() == torch::kLong);
  CHECK(net->name().find("Net") != std::string::npos);
}

TEST(nn_clone) {
  torch::manual_seed(0);
  Net net;
  net->first->weight.mutable_grad() = torch::ones({4, 3});
  auto copy = std::dynamic_pointer_cast<NetImpl>(net->clone());
  CHECK(copy->first->weight.equal(net->first->weight) && !copy->first->weight.is_same(net->first->weight));
  {
    torch::NoGradGuard no_grad;
    copy->first->weight.fill_(3);
  }
  CHECK(!copy->first->weight.equal(net->first->weight));
  CHECK(copy->first.get() == copy->children()[0].get());
  Sequential sequence(Linear(2, 2), ReLU(), Net());
  auto cloned = std::dynamic_pointer_cast<SequentialImpl>(sequence->clone());
  CHECK(cloned->size() == 3 && cloned->parameters().size() == sequence->parameters().size());
  CHECK(!cloned->parameters()[0].is_same(sequence->parameters()[0]));
  struct Bare : Module {};
  CHECK_ERROR(Bare().clone(), Runtime, "Cloneable");
}

TEST(nn_containers) {
  torch::manual_seed(0);
  Sequential sequence({{"one", Linear(3, 4)}, {"act", Functional(torch::relu)}, {"two", Linear(4, 2)}});
  torch::Tensor x = torch::randn({5, 3});
  torch::Tensor by_hand = sequence->at<LinearImpl>(2).forward(torch::relu(sequence->at<LinearImpl>(0).forward(x)));
  CHECK(sequence->forward(x).equal(by_hand) && sequence->named_children().keys()[1] == "act");
  CHECK_ERROR(sequence->forward(5), Runtime, "argument 0 is of type at::Tensor; got one of type int");
  CHECK_ERROR(sequence->at<LinearImpl>(1), Runtime, "got a request for torch::nn::LinearImpl");
  CHECK_ERROR(Sequential()->forward(x), Runtime, "Sequential: it is empty");
  AnyModule any(Linear(3, 1));
  CHECK(any.forward(x).sizes() == torch::IntArrayRef({5, 1}) &&
        any.get<Linear>()->weight.is_same(any.ptr()->parameters()[0]));
  AnyModule defaults{Defaults()};
  CHECK(near(defaults.forward(x), x * 2) && near(defaults.forward(x, 3.0), x * 3) &&
        near(defaults.forward(x, 3.0, true), x * -3));
  CHECK_ERROR(defaults.forward(), Runtime, "takes 1 to 3 arguments; got 0");
  ModuleList list(Linear(1, 2), ReLU());
  list->insert(1, Tanh());
  CHECK(list->size() == 3 && list->ptr<TanhImpl>(1) && list->named_parameters().keys()[0] == "0.weight");
  ModuleDict dict;
  dict->insert("a", Linear(1, 1).ptr());
  dict->update(std::vector<std::pair<std::string, std::shared_ptr<Module>>>{{"b", ReLU().ptr()}, {"a", Tanh().ptr()}});
  CHECK(dict->keys() == std::vector<std::string>{"a", "b"} && dict->ptr<TanhImpl>("a") &&
        !dict->pop("b")->children().size());
  ParameterDict parameters;
  parameters->insert("w", torch::ones(3, torch::requires_grad()));
  CHECK(parameters->parameters().size() == 1 && parameters->contains("w"));
  ParameterList values(torch::ones(2), torch::zeros(3));
  CHECK(values->size() == 2 && values[1].equal(torch::zeros(3)));
  *values += *values;
  CHECK(values->size() == 4 && values[3].equal(torch::zeros(3)));
  torch::OrderedDict<std::string, int> numbers;
  CHECK_ERROR(numbers.front(), Runtime, "empty");
  numbers.insert("a", 1);
  CHECK(numbers.back().value() == 1);
  CHECK_ERROR(numbers[1], Runtime, "out of range for 1 items");
  ParameterDict some, other;
  some->insert("a", torch::ones(1));
  other->insert("b", torch::ones(1));
  CHECK_ERROR(some->update(*other), Runtime, "'b' is not defined");
}

TEST(nn_printing) {
  CHECK(printed(*Sequential(Conv2d(Conv2dOptions(1, 2, 3).padding(1).bias(false)), MaxPool2d(2))) ==
        "torch::nn::Sequential(\n"
        "  (0): torch::nn::Conv2d(1, 2, kernel_size=[3, 3], stride=[1, 1], padding=[1, 1], bias=false)\n"
        "  (1): torch::nn::MaxPool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1], "
        "ceil_mode=false)\n)");
  CHECK(printed(*Dropout(0.25)) == "torch::nn::Dropout(p=0.25, inplace=false)");
  CHECK(printed(*AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({torch::nullopt, 3}))) ==
        "torch::nn::AdaptiveAvgPool2d(output_size=[None, 3])");
}

// Initial values and results: recorded from PyTorch 2.13 with manual_seed(0).
TEST(nn_seeds_give_pytorchs_numbers) {
  torch::manual_seed(0);
  Linear linear(2, 2);
  CHECK(near(linear->weight, torch::tensor({{-0.0053, 0.3793}, {-0.5820, -0.5204}}), 1e-4));
  torch::manual_seed(0);
  CHECK(near(torch::randn(3), torch::tensor({1.5410, -0.2934, -2.1788}), 1e-4));
}

TEST(nn_words_of_options) {
  F::InterpolateFuncOptions options;
  CHECK(std::holds_alternative<torch::enumtype::kNearest>(options.mode()));
  F::InterpolateFuncOptions copy = options.mode(torch::kBicubic);
  options.mode() = torch::kArea;
  CHECK(torch::enumtype::get_enum_name(copy.mode()) == "kBicubic");
  CHECK(torch::enumtype::get_enum_name(options.mode()) == "kArea");
  CHECK(torch::enumtype::reduction_get_enum(MSELossOptions().reduction()) == at::Reduction::Mean);
  CHECK(torch::enumtype::reduction_get_enum(MSELossOptions(torch::kSum).reduction()) == at::Reduction::Sum);
  const Conv2dOptions none(1, 1, 3), two = Conv2dOptions(1, 1, 3).padding({2, 1});
  CHECK(std::get<torch::ExpandingArray<2>>(none.padding()) == torch::ExpandingArray<2>(0));
  CHECK(std::get<torch::ExpandingArray<2>>(two.padding()) == torch::ExpandingArray<2>({2, 1}));
  CHECK(std::holds_alternative<torch::enumtype::kZeros>(none.padding_mode()));
  auto drawn = [](auto... more) {
    torch::manual_seed(0);
    return init::kaiming_uniform_(torch::empty({3, 4}), more...);
  };
  CHECK(torch::equal(drawn(), drawn(0., torch::kFanIn, torch::kLeakyReLU)));
  CHECK(torch::equal(drawn(1.), drawn(1., torch::kFanIn)));
  CHECK(!torch::equal(drawn(), drawn(0., torch::kFanOut)));
}

TEST(nn_layers_follow_from_functions) {
  torch::manual_seed(1);
  torch::Tensor x = torch::randn({2, 4, 6, 6});
  Conv2d conv(Conv2dOptions(4, 6, {3, 2}).stride({2, 1}).padding({1, 0}).groups(2).dilation(1));
  CHECK(near(conv(x), torch::conv2d(x, conv->weight, conv->bias, {2, 1}, {1, 0}, 1, 2)));
  Conv2d same(Conv2dOptions(4, 4, 3).padding(torch::kSame));
  CHECK(same(x).sizes() == x.sizes());
  Conv2d reflect(Conv2dOptions(4, 4, 3).padding(1).padding_mode(torch::kReflect));
  torch::Tensor padded = F::pad(x, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReflect));
  CHECK(near(reflect(x), torch::conv2d(padded, reflect->weight, reflect->bias)));
  ConvTranspose2d up(ConvTranspose2dOptions(4, 3, 3).stride(2).padding(1));
  CHECK(up->forward(x, torch::IntArrayRef({12, 12})).size(-1) == 12 && up(x).size(-1) == 11);
  CHECK_ERROR(up->forward(x, torch::IntArrayRef({20, 20})), Runtime,
              "can become 11 to 12; got the output size [20, 20]");
  GroupNorm group(2, 4);
  CHECK(near(group(x).view({2, 2, -1}).mean(-1), torch::zeros({2, 2})));
  CHECK(near(LayerNorm(LayerNormOptions({6}))(x).mean(-1), torch::zeros({2, 4, 6})));
  CHECK(near(LocalResponseNorm(2)(x), torch::nn::CrossMapLRN2d(2)(x)));
  BatchNorm2d batch(4);
  batch(x);
  CHECK(near(batch->running_mean, x.mean({0, 2, 3}) * 0.1) && batch->num_batches_tracked.item<int64_t>() == 1);
  CHECK_ERROR(batch(x[0]), Runtime, "4 to 4 dimensions");
  MaxPool2d pool(2);
  auto [values, indices] = pool->forward_with_indices(x);
  CHECK(near(MaxUnpool2d(2)(values, indices).sum(), values.sum()));
  CHECK(near(LPPool2d(2, 2)(x), AvgPool2d(2)(x * x).mul(4).sqrt()));
  CHECK(near(AdaptiveAvgPool2d(1)(x).flatten(), x.mean({2, 3}).flatten()));
  CHECK(near(Upsample(UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kBilinear))(x).mean(),
             x.mean(), 1e-3));
  CHECK(near(PixelUnshuffle(2)(PixelShuffle(2)(x)), x));
  CHECK(near(Fold(FoldOptions({6, 6}, {2, 2}).stride(2))(Unfold(UnfoldOptions(2).stride(2))(x)), x));
  CHECK(near(ConstantPad2d(1, 2.0)(x).sum(), x.sum() + 2.0 * 2 * 4 * (64 - 36), 1e-3));
}

TEST(nn_activations_and_losses) {
  torch::manual_seed(2);
  torch::Tensor x = torch::randn({3, 4}), target = torch::tensor({0, 3, 1});
  CHECK(near(Softmax(1)(x).sum(1), torch::ones(3)) && near(Softmin(1)(x), Softmax(1)(-x)));
  CHECK(near(LogSoftmax(1)(x).exp(), F::softmax(x, 1)));
  CHECK(near(ELU()(x), torch::where(x > 0, x, torch::expm1(x))) &&
        near(GLU()(x), x.slice(1, 0, 2) * x.slice(1, 2).sigmoid()));
  CHECK(near(Softsign()(x), x / (1 + x.abs())) && near(Tanhshrink()(x), x - x.tanh()));
  torch::Tensor in_place = x.clone();
  ReLU(ReLUOptions(true))(in_place);
  CHECK(near(in_place, x.relu()) && near(PReLU()(x), torch::where(x > 0, x, x * 0.25)));
  CHECK(near(Threshold(0.1, 20)(x), torch::where(x > 0.1, x, torch::full_like(x, 20))));
  CHECK(near(CrossEntropyLoss()(x, target), NLLLoss()(LogSoftmax(1)(x), target)));
  torch::Tensor weight = torch::tensor({1.f, 2.f, 3.f, 4.f});
  CHECK(near(CrossEntropyLoss(CrossEntropyLossOptions().weight(weight).reduction(torch::kSum))(x, target),
             -(x.log_softmax(1).gather(1, target.unsqueeze(1)).squeeze(1) * weight.index_select(0, target)).sum()));
  torch::Tensor y = torch::randn({3, 4}), p = y.sigmoid();
  CHECK(near(MSELoss(torch::kSum)(x, y), (x - y).pow(2).sum()) && near(L1Loss()(x, y), (x - y).abs().mean()));
  CHECK(near(SmoothL1Loss(SmoothL1LossOptions().beta(0.5))(x, y),
             F::smooth_l1_loss(x, y, F::SmoothL1LossFuncOptions(), 0.5)));
  CHECK(near(BCEWithLogitsLoss()(x, p), BCELoss()(x.sigmoid(), p)));
  CHECK(near(KLDivLoss(torch::kBatchMean)(x.log_softmax(1), p), KLDivLoss(torch::kSum)(x.log_softmax(1), p) / 3));
  CHECK(near(TripletMarginLoss()(x, y, p), TripletMarginWithDistanceLoss()(x, y, p)));
  CHECK(near(MultiLabelSoftMarginLoss()(x, p), BCEWithLogitsLoss()(x, p)));
  CHECK(near(CosineEmbeddingLoss()(x, y, torch::ones(3)), (1 - CosineSimilarity()(x, y)).mean()));
  CHECK(F::gumbel_softmax(x, F::GumbelSoftmaxFuncOptions().hard(true)).sum(1).equal(torch::ones(3)));
  CHECK_ERROR(Dropout(1.5), Runtime, "from 0 to 1; got 1.5");
  CHECK(near(Dropout(0.4)->forward(torch::ones(10000)).mean(), torch::tensor(1.f), 0.05));
  CHECK_ERROR(Hardtanh(HardtanhOptions().min_val(1).max_val(1)), Runtime, "min_val is below max_val; got 1 and 1");
  CHECK(torch::binary_cross_entropy(torch::full({3, 1}, 0.5), torch::ones({3})).allclose(torch::tensor(std::log(2.))));
  CHECK_ERROR(
      F::ctc_loss(torch::ones({5, 1, 3}), torch::ones({1, 2}, torch::kLong), torch::tensor({5.}), torch::tensor({2})),
      Runtime, "lengths must be integers");
}

TEST(nn_embeddings) {
  torch::manual_seed(3);
  Embedding table(EmbeddingOptions(5, 3).padding_idx(-1));
  CHECK(table->weight[4].equal(torch::zeros(3)) && *table->options.padding_idx() == 4);
  torch::Tensor indices = torch::tensor({0, 2, 4});
  CHECK(table(indices).equal(table->weight.index_select(0, indices)));
  EmbeddingBag bag =
      EmbeddingBag::from_pretrained(table->weight.detach(), EmbeddingBagFromPretrainedOptions().mode(torch::kSum));
  CHECK(!bag->weight.requires_grad());
  CHECK(near(bag(indices, torch::tensor({0, 2})),
             torch::stack({table(indices).slice(0, 0, 2).sum(0), table(indices)[2]})));
  CHECK_ERROR(Embedding(EmbeddingOptions(5, 3).padding_idx(9)), Runtime, "padding_idx is one of 5 rows; got 9");
}

TEST(nn_recurrent_and_packed) {
  torch::manual_seed(4);
  torch::Tensor x = torch::randn({5, 2, 3});
  LSTM lstm(LSTMOptions(3, 4).num_layers(2).bidirectional(true));
  auto [output, state] = lstm(x);
  CHECK(output.sizes() == torch::IntArrayRef({5, 2, 8}) && std::get<0>(state).sizes() == torch::IntArrayRef({4, 2, 4}));
  CHECK(lstm->named_parameters().contains("weight_hh_l1_reverse") && lstm->all_weights().size() == 16);
  GRU gru(3, 4);
  GRUCell cell(3, 4);
  {
    torch::NoGradGuard no_grad;
    cell->weight_ih.copy_(gru->named_parameters()["weight_ih_l0"]);
    cell->weight_hh.copy_(gru->named_parameters()["weight_hh_l0"]);
    cell->bias_ih.copy_(gru->named_parameters()["bias_ih_l0"]);
    cell->bias_hh.copy_(gru->named_parameters()["bias_hh_l0"]);
  }
  torch::Tensor h = torch::zeros({2, 4});
  for (int64_t t = 0; t < 5; ++t) h = cell(x[t], h);
  CHECK(near(std::get<1>(gru(x))[0], h));
  auto packed = utils::rnn::pack_padded_sequence(x, torch::tensor({3, 5}), false, false);
  auto [packed_output, last] = gru->forward_with_packed_input(packed);
  auto [padded, lengths] = utils::rnn::pad_packed_sequence(packed_output);
  CHECK(lengths.equal(torch::tensor({3, 5})) && near(padded.select(1, 0)[2], last[0][0]));
  CHECK(near(padded.select(1, 1), std::get<0>(gru(x)).select(1, 1)));
  CHECK_ERROR(gru(torch::ones({2, 3})), Runtime, "3 dimensions");
  auto sequence = utils::rnn::pad_sequence({torch::ones({2, 1}), torch::ones({3, 1})}, true, -1);
  CHECK(sequence.sizes() == torch::IntArrayRef({2, 3, 1}) && sequence[0][2].item<float>() == -1);
  torch::Tensor one = torch::randn({3}), before = torch::randn({4});  // without a batch
  CHECK(cell(one, before).allclose(cell(one.unsqueeze(0), before.unsqueeze(0))[0]) && RNNCell(3, 4)(one).dim() == 1);
  CHECK(std::get<1>(LSTMCell(3, 4)(one)).sizes() == at::IntArrayRef{4});
}

TEST(nn_attention_and_transformers) {
  torch::manual_seed(5);
  torch::Tensor x = torch::randn({4, 2, 8});
  MultiheadAttention attention(MultiheadAttentionOptions(8, 2));
  auto [output, weights] = attention(x, x, x);
  CHECK(output.sizes() == x.sizes() && near(weights.sum(-1), torch::ones({2, 4})));
  torch::Tensor mask = Transformer::Impl::generate_square_subsequent_mask(4);
  auto [causal, seen] = attention(x, x, x, torch::Tensor(), true, mask);
  CHECK(near(seen.triu(1), torch::zeros_like(seen)) && near(causal[3], output[3]));
  Transformer transformer(TransformerOptions(8, 2, 1, 1).dim_feedforward(16).dropout(0));
  CHECK(transformer(x, x).sizes() == x.sizes());
  auto copy = std::dynamic_pointer_cast<TransformerImpl>(transformer->clone());
  CHECK(near(copy->forward(x, x), transformer(x, x)));
  TransformerEncoder encoder(
      TransformerEncoderOptions(TransformerEncoderLayerOptions(8, 2).activation(torch::kGELU), 2));
  encoder->eval();
  CHECK(encoder(x).sizes() == x.sizes() && encoder->layers->size() == 2);
}

TEST(nn_utils_and_init) {
  torch::manual_seed(6);
  Linear linear(3, 2);
  linear(torch::ones({1, 3})).sum().backward();
  double norm = utils::clip_grad_norm_(linear->parameters(), 0.5);
  CHECK(std::abs(norm - std::sqrt(8.0)) < 1e-5);
  CHECK(std::abs(utils::clip_grad_norm_(linear->parameters(), 100) - 0.5) < 1e-4);
  torch::Tensor flat = utils::parameters_to_vector(linear->parameters());
  utils::vector_to_parameters(flat * 2, linear->parameters());
  CHECK(near(utils::parameters_to_vector(linear->parameters()), flat * 2));
  torch::Tensor q = init::orthogonal_(torch::empty({3, 3}));
  CHECK(near(q.mm(q.t()), torch::eye(3), 1e-4));
  CHECK(init::sparse_(torch::empty({10, 4}), 0.5).eq(0).sum(0).equal(torch::full({4}, 5)));
  CHECK(init::dirac_(torch::empty({2, 2, 3}))[1][1].equal(torch::tensor({0.f, 1.f, 0.f})));
  CHECK(std::abs(init::calculate_gain(torch::kLeakyReLU, 0.2) - std::sqrt(2 / 1.04)) < 1e-12);
  AdaptiveLogSoftmaxWithLoss adaptive(AdaptiveLogSoftmaxWithLossOptions(8, 10, {4, 7}).div_value(2.));
  torch::Tensor x = torch::randn({6, 8}), target = torch::tensor({0, 3, 5, 9, 4, 6});
  ASMoutput out = adaptive(x, target);
  torch::Tensor all = adaptive->log_prob(x);
  CHECK(near(all.gather(1, target.unsqueeze(1)).squeeze(1), out.output) && near(all.exp().sum(1), torch::ones(6)));
  CHECK(adaptive->predict(x).equal(all.argmax(1)));
}
