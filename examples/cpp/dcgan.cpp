// Two networks against each other: one draws images, the other tells them from real ones (here squares of noise).
//
//   dcgan [STEPS]
//
// Prints both losses of each step and leaves generator.pt.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>

constexpr int64_t kNoise = 16;
constexpr int64_t kBatch = 8;

struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl()
      : conv1(torch::nn::ConvTranspose2dOptions(kNoise, 32, 4).bias(false)),
        norm1(32),
        conv2(torch::nn::ConvTranspose2dOptions(32, 16, 3).stride(2).padding(1).bias(false)),
        norm2(16),
        conv3(torch::nn::ConvTranspose2dOptions(16, 1, 4).stride(2).padding(1).bias(false)) {
    register_module("conv1", conv1);
    register_module("norm1", norm1);
    register_module("conv2", conv2);
    register_module("norm2", norm2);
    register_module("conv3", conv3);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm1(conv1(x)));
    x = torch::relu(norm2(conv2(x)));
    return torch::tanh(conv3(x));
  }
  torch::nn::ConvTranspose2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::ConvTranspose2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::ConvTranspose2d conv3;
};
TORCH_MODULE(Generator);

int main(int count, char** words) {
  const int steps = count > 1 ? std::atoi(words[1]) : 10;
  torch::manual_seed(0);
  Generator generator;
  torch::nn::Sequential discriminator(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 4).stride(2).padding(1).bias(false)),
      torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 4).stride(2).padding(1).bias(false)),
      torch::nn::BatchNorm2d(32), torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 1, 3).stride(1).padding(0).bias(false)), torch::nn::Sigmoid());

  torch::optim::Adam generator_optimizer(generator->parameters(),
                                         torch::optim::AdamOptions(2e-4).betas(std::make_tuple(0.5, 0.5)));
  torch::optim::Adam discriminator_optimizer(discriminator->parameters(),
                                             torch::optim::AdamOptions(5e-4).betas(std::make_tuple(0.5, 0.5)));

  for (int step = 1; step <= steps; ++step) {
    // The discriminator learns from real images and drawn ones.
    discriminator->zero_grad();
    torch::Tensor real_images = torch::rand({kBatch, 1, 14, 14}) * 2 - 1;
    torch::Tensor real_labels = torch::empty(kBatch).uniform_(0.8, 1.0);
    torch::Tensor real_output = discriminator->forward(real_images).reshape(real_labels.sizes());
    torch::Tensor d_loss_real = torch::binary_cross_entropy(real_output, real_labels);
    d_loss_real.backward();

    torch::Tensor noise = torch::randn({kBatch, kNoise, 1, 1});
    torch::Tensor fake_images = generator->forward(noise);
    torch::Tensor fake_labels = torch::zeros(kBatch);
    torch::Tensor fake_output = discriminator->forward(fake_images.detach()).reshape(fake_labels.sizes());
    torch::Tensor d_loss_fake = torch::binary_cross_entropy(fake_output, fake_labels);
    d_loss_fake.backward();
    torch::Tensor d_loss = d_loss_real + d_loss_fake;
    discriminator_optimizer.step();

    // The generator learns to be taken for real.
    generator->zero_grad();
    fake_labels.fill_(1);
    fake_output = discriminator->forward(fake_images).reshape(fake_labels.sizes());
    torch::Tensor g_loss = torch::binary_cross_entropy(fake_output, fake_labels);
    g_loss.backward();
    generator_optimizer.step();
    std::printf("step %d d_loss %.5f g_loss %.5f\n", step, d_loss.item<float>(), g_loss.item<float>());
  }
  torch::save(generator, "generator.pt");
}
