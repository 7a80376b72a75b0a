// Fits a polynomial of degree 4 by a linear layer over the powers of x, with L-BFGS, then with Adam.
#include <torch/torch.h>

#include <cstdio>

torch::Tensor powers(const torch::Tensor& x) {
  std::vector<torch::Tensor> columns;
  for (int degree = 1; degree <= 4; ++degree) columns.push_back(x.pow(degree));
  return torch::cat(columns, 1);
}

int main() {
  torch::manual_seed(3);
  const torch::Tensor weights = torch::randn({4, 1}) * 5, bias = torch::randn(1) * 5;
  auto sample = [&](int64_t count) {
    torch::Tensor x = powers(torch::randn({count, 1}).clamp(-2, 2));
    return std::make_pair(x, x.mm(weights) + bias);
  };

  torch::nn::Linear fit(4, 1);
  auto [x, y] = sample(64);
  torch::optim::LBFGS lbfgs(fit->parameters(), torch::optim::LBFGSOptions(1).line_search_fn("strong_wolfe"));
  for (int step = 0; step < 3; ++step) {
    torch::Tensor loss = lbfgs.step([&, &x = x, &y = y] {
      lbfgs.zero_grad();
      torch::Tensor error = torch::mse_loss(fit(x), y);
      error.backward();
      return error;
    });
    std::printf("lbfgs %d loss %.4g\n", step, loss.item<double>());
  }

  torch::nn::Linear slow(4, 1);
  torch::optim::Adam adam(slow->parameters(), torch::optim::AdamOptions(0.1));
  torch::optim::StepLR schedule(adam, /*step_size=*/100, /*gamma=*/0.5);
  for (int step = 0; step < 300; ++step) {
    auto [inputs, wanted] = sample(32);
    adam.zero_grad();
    torch::Tensor loss = torch::smooth_l1_loss(slow(inputs), wanted);
    loss.backward();
    adam.step();
    schedule.step();
    if (step % 100 == 99)
      std::printf("adam %d loss %.4f lr %.4g\n", step, loss.item<double>(), adam.param_groups()[0].options().get_lr());
  }
  std::printf("largest difference of a weight %.2e\n",
              (fit->weight.view({-1}) - weights.view({-1})).abs().max().item<double>());
}
