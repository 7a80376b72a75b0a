// Learns to read handwritten digits, as MNIST's tutorial does: a small convolutional network, SGD with momentum.
//
//   digits FOLDER [EPOCHS]
//
// FOLDER holds the four files of MNIST, or others of their format (make_digits.py writes scikit-learn's). Prints the
// loss and how many digits of the test set are read rightly; leaves digits.pt, which Python reads, too.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

struct DigitNet : torch::nn::Module {
  explicit DigitNet(int64_t side)
      : conv1(torch::nn::Conv2dOptions(1, 10, /*kernel_size=*/3).padding(1)),
        conv2(torch::nn::Conv2dOptions(10, 20, /*kernel_size=*/3).padding(1)),
        fc1(20 * (side / 4) * (side / 4), 50),
        fc2(50, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("conv2_drop", conv2_drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(conv2_drop->forward(conv2->forward(x)), 2));
    x = x.view({x.size(0), -1});
    x = torch::relu(fc1->forward(x));
    x = torch::dropout(x, /*p=*/0.5, /*training=*/is_training());
    x = fc2->forward(x);
    return torch::log_softmax(x, /*dim=*/1);
  }

  torch::nn::Conv2d conv1, conv2;
  torch::nn::Dropout2d conv2_drop;
  torch::nn::Linear fc1, fc2;
};

template <typename DataLoader>
void train(int epoch, DigitNet& model, DataLoader& loader, torch::optim::Optimizer& optimizer) {
  model.train();
  double total = 0;
  int64_t batches = 0;
  for (auto& batch : loader) {
    optimizer.zero_grad();
    auto output = model.forward(batch.data);
    auto loss = torch::nll_loss(output, batch.target);
    loss.backward();
    optimizer.step();
    total += loss.template item<double>();
    ++batches;
  }
  std::printf("epoch %d loss %.5f\n", epoch, total / static_cast<double>(batches));
}

template <typename DataLoader>
void test(DigitNet& model, DataLoader& loader, size_t size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double loss = 0;
  int64_t correct = 0;
  for (const auto& batch : loader) {
    auto output = model.forward(batch.data);
    loss += torch::nll_loss(output, batch.target, /*weight=*/{}, torch::Reduction::Sum).template item<double>();
    correct += output.argmax(1).eq(batch.target).sum().template item<int64_t>();
  }
  std::printf("test loss %.5f, %ld of %zu right\n", loss / static_cast<double>(size), static_cast<long>(correct), size);
}

int main(int count, char** words) {
  if (count < 2) {
    std::cerr << "usage: digits FOLDER [EPOCHS]\n";
    return 2;
  }
  const int epochs = count > 2 ? std::atoi(words[2]) : 5;
  torch::manual_seed(1);
  auto set = [&](torch::data::datasets::MNIST::Mode mode) {
    return torch::data::datasets::MNIST(words[1], mode)
        .map(torch::data::transforms::Normalize<>({0.3081}, {0.3081}))
        .map(torch::data::transforms::Stack<>());
  };
  auto train_set = set(torch::data::datasets::MNIST::Mode::kTrain);
  auto test_set = set(torch::data::datasets::MNIST::Mode::kTest);
  const size_t test_size = test_set.size().value();
  const int64_t side = train_set.get_batch({0}).data.size(-1);
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(train_set), torch::data::DataLoaderOptions(64).workers(2));
  auto test_loader = torch::data::make_data_loader(std::move(test_set), /*batch_size=*/250);

  DigitNet model(side);
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    train(epoch, model, *train_loader, optimizer);
    test(model, *test_loader, test_size);
  }
  torch::serialize::OutputArchive archive;
  model.save(archive);
  archive.save_to("digits.pt");
}
