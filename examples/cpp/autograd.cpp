// Gradients: of a scalar, of gradients, of a function of one's own, hooks, and what is not recorded.
#include <torch/torch.h>

#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// x W^T + b, with its gradient written out.
struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor input, torch::Tensor weight, torch::Tensor bias) {
    ctx->save_for_backward({input, weight});
    return input.mm(weight.t()) + bias.unsqueeze(0);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grad_outputs) {
    variable_list saved = ctx->get_saved_variables();
    torch::Tensor grad = grad_outputs[0];
    return {grad.mm(saved[1]), grad.t().mm(saved[0]), grad.sum(0)};
  }
};

int main() {
  torch::manual_seed(5);
  torch::Tensor x = torch::ones({2, 2}, torch::requires_grad());
  torch::Tensor y = x + 2, z = y * y * 3, out = z.mean();
  out.backward();
  std::cout << "d out / d x\n" << x.grad() << "\n";

  // The gradient of a gradient: a penalty on it.
  torch::nn::Linear model(4, 3);
  torch::Tensor input = torch::randn({3, 4}).requires_grad_(true), target = torch::randn({3, 3});
  torch::Tensor loss = torch::nn::MSELoss()(model(input), target);
  torch::Tensor slope = torch::autograd::grad({loss}, {input}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  torch::Tensor penalty = torch::pow((slope.norm(2, /*dim=*/1) - 1), 2).mean();
  (loss + penalty).backward();
  std::cout << "with a penalty\n" << input.grad() << "\n";

  // A function of one's own.
  torch::Tensor a = torch::randn({2, 3}).requires_grad_(), weight = torch::randn({4, 3}).requires_grad_();
  torch::Tensor bias = torch::zeros(4).requires_grad_();
  LinearFunction::apply(a, weight, bias).sum().backward();
  std::cout << "own function\n" << a.grad() << "\n" << bias.grad() << "\n";

  // A hook sees the gradient on its way.
  torch::Tensor leaf = torch::ones(2, torch::requires_grad());
  leaf.register_hook([](torch::Tensor grad) { return grad * 2; });
  (leaf * 3).sum().backward();
  std::cout << "hooked\n" << leaf.grad() << "\n";

  {
    torch::NoGradGuard no_grad;
    std::cout << "recorded " << std::boolalpha << (x * 2).requires_grad();
  }
  c10::InferenceMode inference;
  std::cout << ", inference " << torch::ones(1).is_inference() << "\n";
}
