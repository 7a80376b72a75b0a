// Weights that go from one language to the other.
//
//   checkpoint FROM TO     reads FROM, prints what the network makes of ones, trains one step, writes TO
//
// FROM is what torch.save(net.state_dict(), FROM) wrote in Python, or torch::save in C++; Python reads TO by
// torch.jit.load(TO).state_dict(), and TO + ".dict" by torch.load.
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <iostream>

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: checkpoint FROM TO\n";
    return 2;
  }
  torch::nn::Sequential net(torch::nn::Linear(3, 4), torch::nn::BatchNorm1d(4), torch::nn::ReLU(),
                            torch::nn::Linear(torch::nn::LinearOptions(4, 2).bias(false)));
  torch::load(net, words[1]);
  net->eval();
  torch::Tensor made = net->forward(torch::ones({1, 3}));
  std::printf("%.6f %.6f\n", made[0][0].item<double>(), made[0][1].item<double>());

  net->train();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  net->forward(torch::eye(3)).sum().backward();
  optimizer.step();
  torch::save(net, words[2]);

  c10::Dict<std::string, torch::Tensor> dict;
  for (const auto& item : net->named_parameters()) dict.insert(item.key(), item.value().detach());
  for (const auto& item : net->named_buffers()) dict.insert(item.key(), item.value());
  std::vector<char> bytes = torch::pickle_save(dict);
  std::ofstream(std::string(words[2]) + ".dict", std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
