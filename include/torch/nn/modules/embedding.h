// Embeddings.
#pragma once
#include <torch/nn/functional/embedding.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

// Parameter: weight (num_embeddings, embedding_dim), standard normal, zero at padding_idx.
class TORCH_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  TAEDA_MADE_OF(Embedding);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& indices);
  Tensor weight;
};
class Embedding : public torch::nn::ModuleHolder<EmbeddingImpl> {
 public:
  using torch::nn::ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingImpl;
  TORCH_API static Embedding from_pretrained(const torch::Tensor& embeddings,
                                             const EmbeddingFromPretrainedOptions& options = {});
};

class TORCH_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  TAEDA_MADE_OF(EmbeddingBag);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});
  Tensor weight;

 protected:
  TAEDA_DEFAULT_ARGS;
};
class EmbeddingBag : public torch::nn::ModuleHolder<EmbeddingBagImpl> {
 public:
  using torch::nn::ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingBagImpl;
  TORCH_API static EmbeddingBag from_pretrained(const torch::Tensor& embeddings,
                                                const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace torch::nn
