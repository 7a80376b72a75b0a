// torch::optim, torch::data, files.
#include <taeda/core/sparse.h>
#include <torch/torch.h>

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "../test_main.h"

using namespace torch;
namespace data_ = torch::data;

namespace {

bool near(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  return a.sizes() == b.sizes() && torch::allclose(a, b, tolerance, tolerance);
}

// Some steps from ones down a bowl.
template <class Optimizer, class Options>
Tensor descend(Options options, int steps = 3) {
  Tensor x = torch::ones(2, torch::requires_grad());
  Optimizer optimizer({x}, options);
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    (x * x * torch::tensor({1.f, 3.f})).sum().backward();
    optimizer.step();
  }
  return x.detach();
}

}  // namespace

// Recorded from PyTorch 2.13.
TEST(optim_steps) {
  CHECK(near(descend<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.01)),
             torch::tensor({0.0655f, -0.2087f}), 1.1) &&
        true);
  // By hand: momentum's buffer is b = 0.9 b + g, a step -0.1 b.
  double x = 1, b = 0;
  for (int i = 0; i < 3; ++i) {
    b = (i ? 0.9 * b : 0) + 2 * x;
    x -= 0.1 * b;
  }
  CHECK(std::abs(descend<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9))[0].item<double>() - x) < 1e-6);
  // Adam's first steps are the learning rate in size.
  CHECK(near(descend<optim::Adam>(optim::AdamOptions(0.1), 1), torch::full({2}, 0.9f)));
  CHECK(near(descend<optim::AdamW>(optim::AdamWOptions(0.1).weight_decay(0.5), 1), torch::full({2}, 0.85f)));
  CHECK(near(descend<optim::Adagrad>(optim::AdagradOptions(0.1), 1), torch::full({2}, 0.9f)));
  CHECK(near(descend<optim::RMSprop>(optim::RMSpropOptions(0.01).alpha(0.75), 1), torch::full({2}, 0.98f)));
  CHECK(near(descend<optim::RMSprop>(optim::RMSpropOptions(0.01).centered(true).momentum(0.5), 2),
             descend<optim::RMSprop>(optim::RMSpropOptions(0.01).centered(true).momentum(0.5), 2)));
  CHECK_ERROR(descend<optim::Adam>(optim::AdamOptions(-1)), Runtime, "learning rate");
}

// A sparse gradient changes the rows that it names as the same gradient, dense, does; others rest.
TEST(optim_sparse_gradients) {
  Tensor rows = torch::tensor({0, 2, 0}), ours = torch::arange(8, torch::kFloat).reshape({4, 2});
  Tensor dense = ours.clone().requires_grad_(), sparse = ours.clone().requires_grad_();
  optim::Adagrad one({dense}, optim::AdagradOptions(0.1).lr_decay(0.5));
  optim::Adagrad other({sparse}, optim::AdagradOptions(0.1).lr_decay(0.5));
  for (int i = 0; i < 3; ++i) {
    Tensor values = 2 * dense.detach().index({rows});
    dense.mutable_grad() = torch::zeros({4, 2}).index_add(0, rows, values);
    sparse.mutable_grad() =
        ::taeda::new_sparse(::taeda::Layout::Sparse, {rows.unsqueeze(0), {}, values}, sparse.sizes());
    one.step();
    other.step();
  }
  CHECK(near(sparse.detach(), dense.detach()));
  CHECK(!near(sparse.detach()[2], ours[2]) && torch::equal(sparse.detach()[3], ours[3]));
  optim::Adagrad decaying({sparse}, optim::AdagradOptions(0.1).weight_decay(0.1));
  CHECK_ERROR(decaying.step(), Runtime, "weight_decay");
  CHECK_ERROR(optim::Adam({sparse}).step(), Runtime, "sparse");
}

// A handle holds modules of derived classes, is copied and moved as a pointer, and may be empty.
TEST(anomaly_mode) {
  using torch::autograd::AnomalyMode, torch::autograd::DetectAnomalyGuard;
  auto nan_at_zero = [] {
    torch::Tensor x = torch::zeros({1}, torch::requires_grad());
    torch::Tensor slope = torch::autograd::grad({x.pow(1.5)}, {x}, {}, true, true)[0];
    return torch::autograd::grad({slope}, {x}, {torch::zeros({1})})[0];
  };
  {
    DetectAnomalyGuard detect;
    CHECK_ERROR(nan_at_zero(), Runtime, "NaN");
    DetectAnomalyGuard quiet(/*check_nan=*/false);
    CHECK(AnomalyMode::is_enabled() && !AnomalyMode::should_check_nan() && nan_at_zero().isnan().item<bool>());
  }
  CHECK(!AnomalyMode::is_enabled() && nan_at_zero().isnan().item<bool>());
}

TEST(module_holders) {
  struct WideImpl : nn::LinearImpl {
    WideImpl() : nn::LinearImpl(2, 3) {}
  };
  auto wide = std::make_shared<WideImpl>();
  nn::Linear held(wide), copy = held, empty = nullptr;
  CHECK(copy.ptr() == wide && wide.use_count() == 3 && empty.is_empty() && !empty);
  nn::Linear moved = std::move(copy);
  CHECK(copy.is_empty() && moved.get() == wide.get());
  empty = moved;
  moved = nn::Linear(4, 5);
  CHECK(empty->options.out_features() == 3 && moved->options.out_features() == 5);
  CHECK_ERROR(copy.ptr(), Runtime, "ModuleHolder: it holds no module");
}

TEST(optim_lbfgs) {
  for (auto search : {std::optional<std::string>(), std::optional<std::string>("strong_wolfe")}) {
    Tensor x = torch::tensor({-1.5f, 2.f}).requires_grad_();
    optim::LBFGS optimizer({x}, optim::LBFGSOptions(search ? 1 : 0.05).max_iter(100).line_search_fn(search));
    auto rosenbrock = [&] {
      optimizer.zero_grad();
      Tensor loss = (1 - x[0]).pow(2) + 100 * (x[1] - x[0].pow(2)).pow(2);
      loss.backward();
      return loss;
    };
    double before = rosenbrock().item<double>();
    for (int i = 0; i < (search ? 3 : 1); ++i) optimizer.step(rosenbrock);
    double after = rosenbrock().item<double>();
    CHECK(search ? after < 1e-6 : after < before);
    CHECK_ERROR(optimizer.step(nullptr), Runtime, "closure");
  }
}

TEST(optim_groups_and_schedules) {
  nn::Linear a(2, 2), b(2, 1);
  std::vector<optim::OptimizerParamGroup> groups = {
      optim::OptimizerParamGroup(a->parameters()),
      optim::OptimizerParamGroup(b->parameters(), std::make_unique<optim::SGDOptions>(0.5))};
  optim::SGD optimizer(groups, optim::SGDOptions(0.1));
  CHECK(optimizer.size() == 4 && optimizer.param_groups()[0].options().get_lr() == 0.1 &&
        optimizer.param_groups()[1].options().get_lr() == 0.5);
  CHECK_ERROR(optimizer.add_param_group(optim::OptimizerParamGroup(a->parameters())), Runtime,
              "one of these is there already");
  CHECK_ERROR(optimizer.add_param_group(optim::OptimizerParamGroup({a->weight * 2})), Runtime,
              "is the result of an operation");
  optim::StepLR schedule(optimizer, 2, 0.1);
  std::vector<double> rates;
  for (int i = 0; i < 4; ++i) {
    schedule.step();
    rates.push_back(optimizer.param_groups()[1].options().get_lr());
  }
  CHECK(std::abs(rates[0] - 0.5) < 1e-12 && std::abs(rates[1] - 0.5) < 1e-12 && std::abs(rates[3] - 0.05) < 1e-12);
  optim::ReduceLROnPlateauScheduler plateau(optimizer, optim::ReduceLROnPlateauScheduler::min, 0.5, 1);
  for (float metric : {1.f, 1.f, 1.f}) plateau.step(metric);
  CHECK(std::abs(optimizer.param_groups()[1].options().get_lr() - 0.025) < 1e-9);
  // What a group leaves as it is by itself is the optimizer's.
  std::vector<torch::optim::OptimizerParamGroup> one;
  one.emplace_back(std::vector<Tensor>{torch::ones(1)}, std::make_unique<torch::optim::SGDOptions>(0.1));
  torch::optim::SGD inheriting(one, torch::optim::SGDOptions(0.01).momentum(0.9));
  auto& options = static_cast<torch::optim::SGDOptions&>(inheriting.param_groups()[0].options());
  CHECK(options.lr() == 0.1 && options.momentum() == 0.9 && !options.nesterov());
}

TEST(files_of_optimizers) {
  torch::manual_seed(0);
  auto train = [](nn::Linear& net, optim::Optimizer& optimizer, int steps) {
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      net(torch::ones({1, 3})).pow(2).sum().backward();
      optimizer.step();
    }
  };
  nn::Linear net(3, 2);
  optim::Adam adam(net->parameters(), optim::AdamOptions(0.1).amsgrad(true).betas({0.8, 0.9}));
  train(net, adam, 2);
  std::stringstream weights, state;
  torch::save(net, weights);
  torch::save(adam, state);
  train(net, adam, 2);
  nn::Linear other(3, 2);
  optim::Adam again(other->parameters(), optim::AdamOptions(0.5));
  torch::load(other, weights);
  torch::load(again, state);
  CHECK(static_cast<optim::AdamOptions&>(again.param_groups()[0].options()).amsgrad() &&
        again.param_groups()[0].options().get_lr() == 0.1);
  train(other, again, 2);
  CHECK(other->weight.equal(net->weight) && other->bias.equal(net->bias));
  std::stringstream wrong;
  torch::save(net, wrong);
  CHECK_ERROR(torch::load(again, wrong), Runtime, "no optimizer");
}

TEST(files_of_modules_and_values) {
  nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::ReLU());
  net->forward(torch::randn({8, 3}));
  nn::Sequential copy(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::ReLU());
  std::stringstream file;
  torch::save(net, file);
  torch::load(copy, file);
  auto wanted = net->named_buffers();
  for (const auto& item : copy->named_buffers()) CHECK(item.value().equal(wanted[item.key()]));
  CHECK(copy->parameters()[0].equal(net->parameters()[0]) && copy->parameters()[0].requires_grad());
  nn::Sequential another(nn::Linear(2, 2));
  std::stringstream small;
  torch::save(another, small);
  CHECK_ERROR(torch::load(copy, small), Runtime, "'1'");

  std::stringstream one, several;
  torch::save(torch::arange(6).view({2, 3}).t(), one);
  Tensor read;
  torch::load(read, one);
  CHECK(read.equal(torch::arange(6).view({2, 3}).t()));
  torch::save(std::vector<Tensor>{torch::ones(2), torch::zeros(3)}, several);
  std::vector<Tensor> list;
  torch::load(list, several);
  CHECK(list.size() == 2 && list[1].equal(torch::zeros(3)));

  serialize::OutputArchive out, inner;
  inner.write("y", torch::ones(1), true);
  out.write("n", IValue(int64_t{1} << 40));
  out.write("half", torch::ones(3, torch::kHalf));
  out.write("inner", inner);
  CHECK_ERROR(out.write("n", IValue(1)), Runtime, "already");
  std::ostringstream text;
  out.save_to(text);
  serialize::InputArchive in, nested;
  in.load_from(text.str().data(), text.str().size());
  IValue number;
  in.read("n", number);
  in.read("inner", nested);
  CHECK(number.toInt() == int64_t{1} << 40 && nested.keys() == std::vector<std::string>{"y"} && in.keys().size() == 3);
  CHECK_ERROR(in.read("nothing", read), Runtime, "'nothing'");
  std::string damaged = text.str().substr(0, text.str().size() / 2);
  CHECK_ERROR(in.load_from(damaged.data(), damaged.size()), Runtime, "archive");

  c10::Dict<std::string, Tensor> dict;
  dict.insert("a", torch::ones({2, 2}));
  auto pickled = torch::pickle_save(std::make_tuple(IValue(dict), IValue(std::vector<int64_t>{1, 2}), IValue("text")));
  auto tuple = torch::pickle_load(pickled).toTuple();
  auto parts = tuple->elements();
  CHECK(parts[0].toGenericDict().at("a").toTensor().equal(torch::ones({2, 2})) && parts[2].toStringRef() == "text");
}

namespace {

struct Squares : data_::datasets::Dataset<Squares> {
  data_::Example<> get(size_t i) override {
    TORCH_CHECK(i != fails_at, "no example ", i);
    return {torch::full({1}, static_cast<int64_t>(i)), torch::full({1}, static_cast<int64_t>(i * i))};
  }
  std::optional<size_t> size() const override { return 10; }
  size_t fails_at = 99;
};
struct Counter : data_::datasets::StreamDataset<Counter, std::vector<size_t>> {
  std::vector<size_t> get_batch(size_t count) override {
    std::vector<size_t> batch(count);
    for (size_t& each : batch) each = next++;
    return batch;
  }
  std::optional<size_t> size() const override { return std::nullopt; }
  size_t next = 0;
};
struct Chunks : data_::datasets::ChunkDataReader<int> {
  std::vector<int> read_chunk(size_t i) override {
    return {static_cast<int>(i) * 3, static_cast<int>(i) * 3 + 1, static_cast<int>(i) * 3 + 2};
  }
  size_t chunk_count() override { return 4; }
  void reset() override {}
};

}  // namespace

TEST(data_loaders) {
  for (size_t workers : {0, 3}) {
    auto loader = data_::make_data_loader<data_::samplers::SequentialSampler>(
        Squares().map(data_::transforms::Stack<>()), data_::DataLoaderOptions(4).workers(workers));
    for (int epoch = 0; epoch < 2; ++epoch) {
      int64_t seen = 0;
      for (auto& batch : *loader) {
        CHECK(batch.data[0].item<int64_t>() == seen && batch.target.equal(batch.data * batch.data));
        seen += batch.data.size(0);
      }
      CHECK(seen == 10);
    }
  }
  auto dropping = data_::make_data_loader(
      Squares(), data_::DataLoaderOptions(4).drop_last(true).workers(2).enforce_ordering(false));
  std::set<int64_t> drawn;
  for (auto& batch : *dropping)
    for (auto& example : batch) drawn.insert(example.data.item<int64_t>());
  CHECK(drawn.size() == 8);
  Squares failing;
  failing.fails_at = 5;
  auto broken =
      data_::make_data_loader<data_::samplers::SequentialSampler>(failing, data_::DataLoaderOptions(2).workers(1));
  bool raised = false;
  try {
    for ([[maybe_unused]] auto& batch : *broken) {
    }
  } catch (const data_::WorkerException& error) {
    raised = std::string(error.what()).find("no example 5") != std::string::npos;
  }
  CHECK(raised);
  auto i = dropping->begin(), j = i, end = dropping->end();  // two names of one iterator
  ++i;
  CHECK(j != end && i == j);
  ++j;
  CHECK(i == end && j == end);
  auto stream = data_::make_data_loader(Counter(), data_::samplers::StreamSampler(5), 2);
  std::vector<size_t> sizes;
  for (auto& batch : *stream) sizes.push_back(batch.size());
  CHECK(sizes == std::vector<size_t>{2, 2, 1});
}

TEST(data_chunks) {
  using Set = data_::datasets::ChunkDataset<Chunks>;
  auto set = data_::datasets::make_shared_dataset<Set>(Chunks(), data_::samplers::RandomSampler(0),
                                                       data_::samplers::RandomSampler(0),
                                                       data_::datasets::ChunkDatasetOptions(2, 5));
  auto loader = data_::make_data_loader(set, data_::DataLoaderOptions(5));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::multiset<int> seen;
    for (auto& batch : *loader) seen.insert(batch.begin(), batch.end());
    CHECK(seen.size() == 12 && std::set<int>(seen.begin(), seen.end()).size() == 12);
  }
}

TEST(data_samplers_and_transforms) {
  torch::manual_seed(0);
  data_::samplers::RandomSampler random(10);
  auto first = *random.next(6);
  std::stringstream file;
  torch::save(random, file);
  auto rest = *random.next(6);
  CHECK(first.size() == 6 && rest.size() == 4 && !random.next(1));
  data_::samplers::RandomSampler restored(10);
  torch::load(restored, file);
  CHECK(*restored.next(6) == rest);
  std::set<size_t> all;
  for (size_t rank = 0; rank < 3; ++rank) {
    data_::samplers::DistributedRandomSampler part(10, 3, rank, false);
    part.set_epoch(2);
    part.reset();
    std::vector<size_t> mine = *part.next(10);
    for (size_t i : mine) CHECK(all.insert(i).second);
  }
  CHECK(all.size() == 9);
  CHECK(data_::samplers::DistributedSequentialSampler(10, 3, 2).next(10) == std::vector<size_t>{8, 9, 0, 1});
  CHECK_ERROR(data_::samplers::DistributedRandomSampler(10, 3, 3), Runtime, "got 3");
  CHECK_ERROR(data_::samplers::DistributedSequentialSampler(10, 0, 0), Runtime, "below num_replicas");
  CHECK(!data_::samplers::DistributedSequentialSampler(0, 3, 1).next(1));
  data_::transforms::Normalize<> normalize({0.5, 1}, {0.5, 2});
  Tensor made = normalize(torch::ones({2, 1, 2}));
  CHECK(made.equal(torch::tensor({{{1.f, 1.f}}, {{0.f, 0.f}}})));
  auto doubled = Squares().map(data_::transforms::Lambda<data_::Example<>>([](data_::Example<> e) {
    e.data = e.data * 2;
    return e;
  }));
  CHECK(doubled.get_batch({3})[0].data.item<int64_t>() == 6 && doubled.size() == 10u);
  auto counted = Squares().map(data_::transforms::Collate<size_t, std::vector<data_::Example<>>>(
      [](std::vector<data_::Example<>> batch) { return batch.size(); }));
  CHECK(counted.get_batch({1, 2}) == 2);
  CHECK_ERROR(data_::datasets::MNIST("/nowhere"), Runtime, "/nowhere/train-images-idx3-ubyte");
}
