// Training in several processes: each has a part of the examples, and gradients are averaged. Started by
//   torchrun --no-python --nproc-per-node 2 ./data_parallel
#include <torch/torch.h>
#ifndef USE_C10D_GLOO  // libtorch's header wants it
#define USE_C10D_GLOO
#endif
#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  TORCH_CHECK(value, name, " is not set: start this by torchrun --no-python");
  return value;
}

// The processes meet at the launcher's store, or at rank 0's without a launcher.
c10::intrusive_ptr<c10d::Store> meet(int rank, int size) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(std::stoi(setting("MASTER_PORT")));
  options.isServer = rank == 0 && !std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  options.numWorkers = static_cast<size_t>(size);
  options.waitWorkers = false;
  auto store = c10::make_intrusive<c10d::TCPStore>(setting("MASTER_ADDR"), options);
  return c10::make_intrusive<c10d::PrefixStore>("data_parallel", store);
}

}  // namespace

int main() {
  const int rank = std::stoi(setting("RANK")), size = std::stoi(setting("WORLD_SIZE"));
  c10d::ProcessGroupGloo group(meet(rank, size), rank, size);

  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(8, 16), torch::nn::Tanh(), torch::nn::Linear(16, 1));
  for (at::Tensor& weight : net->parameters()) {
    std::vector<at::Tensor> same{weight.detach()};
    group.broadcast(same)->wait();
  }
  torch::Tensor all = torch::randn({256, 8}), wanted = all.sum(1, true).sin();
  torch::Tensor x = all.chunk(size)[rank], y = wanted.chunk(size)[rank];

  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.2).momentum(0.9));
  torch::Tensor loss;
  for (int step = 0; step < 200; ++step) {
    optimizer.zero_grad();
    loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& weight : net->parameters()) gradients.push_back(weight.grad());
    group.allreduce_coalesced(gradients)->wait();
    for (at::Tensor& gradient : gradients) gradient /= size;
    optimizer.step();
  }
  std::vector<at::Tensor> mean{loss.detach() / size};
  group.allreduce(mean)->wait();
  if (rank == 0) std::cout << "loss of all: " << mean[0].item<float>() << std::endl;
  group.barrier()->wait();
}
