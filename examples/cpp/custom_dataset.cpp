// A dataset of one's own, a transformation, batches from threads, and a module list.
#include <torch/torch.h>

#include <cstdio>

// Points in two rings; the target says which.
class Rings : public torch::data::datasets::Dataset<Rings> {
 public:
  explicit Rings(size_t size) : size_(size) {
    torch::Tensor angle = torch::rand(static_cast<int64_t>(size)) * 6.2831853;
    targets_ = torch::randint(2, {static_cast<int64_t>(size)}, torch::kLong);
    torch::Tensor radius = 1 + targets_ + 0.1 * torch::randn(static_cast<int64_t>(size));
    points_ = torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
  }
  torch::data::Example<> get(size_t index) override {
    auto i = static_cast<int64_t>(index);
    return {points_[i], targets_[i]};
  }
  torch::optional<size_t> size() const override { return size_; }

 private:
  size_t size_;
  torch::Tensor points_, targets_;
};

struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("layers", layers);
    layers->push_back(torch::nn::Linear(2, 16));
    layers->push_back(torch::nn::Linear(16, 16));
    layers->push_back(torch::nn::Linear(16, 2));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (size_t i = 0; i < layers->size(); ++i) {
      x = layers[i]->as<torch::nn::Linear>()->forward(x);
      if (i + 1 < layers->size()) x = torch::tanh(x);
    }
    return x;
  }
  torch::nn::ModuleList layers;
};
TORCH_MODULE(Net);

int main() {
  torch::manual_seed(7);
  auto data = Rings(512).map(torch::data::transforms::Stack<>());
  auto loader =
      torch::data::make_data_loader(std::move(data), torch::data::DataLoaderOptions().batch_size(64).workers(2));
  Net net;
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-2));
  torch::nn::CrossEntropyLoss criterion;
  for (int epoch = 1; epoch <= 8; ++epoch) {
    double total = 0;
    int64_t right = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      torch::Tensor output = net(batch.data), loss = criterion(output, batch.target);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      optimizer.step();
      total += loss.item<double>();
      right += output.argmax(1).eq(batch.target).sum().item<int64_t>();
    }
    std::printf("epoch %d loss %.5f right %ld\n", epoch, total / 8, static_cast<long>(right));
  }
}
