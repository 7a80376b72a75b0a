// Recurrent networks.
#pragma once
#include <torch/nn/modules/common.h>
#include <torch/nn/options_base.h>
#include <torch/nn/utils/rnn.h>

namespace torch::nn {

namespace detail {
struct RNNOptionsBase {
  using rnn_options_base_mode_t =
      std::variant<enumtype::kLSTM, enumtype::kGRU, enumtype::kRNN_TANH, enumtype::kRNN_RELU>;
  TORCH_API RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size);
  TAEDA_WORD_ARG(rnn_options_base_mode_t, mode, kLSTM);
  TORCH_ARG(int64_t, input_size);
  TORCH_ARG(int64_t, hidden_size);
  TORCH_ARG(int64_t, num_layers) = 1;
  TORCH_ARG(bool, bias) = true;
  TORCH_ARG(bool, batch_first) = false;
  TORCH_ARG(double, dropout) = 0.0;
  TORCH_ARG(bool, bidirectional) = false;
  TORCH_ARG(int64_t, proj_size) = 0;
};
struct RNNCellOptionsBase {
  RNNCellOptionsBase(int64_t input_size, int64_t hidden_size, bool bias, int64_t num_chunks)
      : input_size_(input_size), hidden_size_(hidden_size), bias_(bias), num_chunks_(num_chunks) {}
  TORCH_ARG(int64_t, input_size);
  TORCH_ARG(int64_t, hidden_size);
  TORCH_ARG(bool, bias);
  TORCH_ARG(int64_t, num_chunks);
};
}  // namespace detail

#define TAEDA_RNN_OPTIONS(Name)                                                                         \
  template <class = void>                                                                               \
  Name(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {} \
  TORCH_ARG(int64_t, input_size);                                                                       \
  TORCH_ARG(int64_t, hidden_size);                                                                      \
  TORCH_ARG(int64_t, num_layers) = 1;                                                                   \
  TORCH_ARG(bool, bias) = true;                                                                         \
  TORCH_ARG(bool, batch_first) = false;                                                                 \
  TORCH_ARG(double, dropout) = 0.0;                                                                     \
  TORCH_ARG(bool, bidirectional) = false
#define TAEDA_CELL_OPTIONS(Name)                                                                        \
  template <class = void>                                                                               \
  Name(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {} \
  TORCH_ARG(int64_t, input_size);                                                                       \
  TORCH_ARG(int64_t, hidden_size);                                                                      \
  TORCH_ARG(bool, bias) = true
struct RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  TAEDA_RNN_OPTIONS(RNNOptions);
  TAEDA_WORD_ARG(nonlinearity_t, nonlinearity, kTanh);
};
struct LSTMOptions {
  TAEDA_RNN_OPTIONS(LSTMOptions);
  TORCH_ARG(int64_t, proj_size) = 0;
};
struct GRUOptions {
  TAEDA_RNN_OPTIONS(GRUOptions);
};
struct RNNCellOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  TAEDA_CELL_OPTIONS(RNNCellOptions);
  TAEDA_WORD_ARG(nonlinearity_t, nonlinearity, kTanh);
};
struct LSTMCellOptions {
  TAEDA_CELL_OPTIONS(LSTMCellOptions);
};
struct GRUCellOptions {
  TAEDA_CELL_OPTIONS(GRUCellOptions);
};
#undef TAEDA_RNN_OPTIONS
#undef TAEDA_CELL_OPTIONS

namespace detail {

// Parameters of each layer and direction: weight_ih, weight_hh, bias_ih, bias_hh, weight_hr, with suffixes _l0_reverse.
template <class Derived>
class RNNImplBase : public Cloneable<Derived> {
 public:
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  // Nothing to do: kernels here read the weights where they lie.
  void flatten_parameters() {}
  std::vector<Tensor> all_weights() const { return flat_weights_; }
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, bool non_blocking = false) override;
  RNNOptionsBase options_base;

 protected:
  explicit RNNImplBase(const RNNOptionsBase& options_);
  void check_input(const Tensor& input, const Tensor& batch_sizes) const;
  // Zeros for a state that is not given.
  Tensor zero_state(const Tensor& input, int64_t batch, int64_t size) const;
  // Runs at::rnn_tanh or one of its kin; packed data if batch_sizes is defined.
  std::tuple<Tensor, Tensor> run(const Tensor& input, const Tensor& batch_sizes, const Tensor& hx) const;
  int64_t batch_of(const Tensor& input, const Tensor& batch_sizes) const;
  void find_weights();
  std::vector<std::string> flat_weights_names_;
  std::vector<Tensor> flat_weights_;
};

template <class Derived>
class RNNCellImplBase : public Cloneable<Derived> {
 public:
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  RNNCellOptionsBase options_base;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  explicit RNNCellImplBase(const RNNCellOptionsBase& options_);
  void check(const Tensor& input, const Tensor& hx) const;
  Tensor state_or_zeros(const Tensor& input, const Tensor& hx) const;
  virtual std::string get_nonlinearity_str() const { return ""; }
};

}  // namespace detail

// Input (length, batch, features), or (batch, length, features) with batch_first.
#define TAEDA_RNN_MODULE(Name)                                                \
  TAEDA_COMPILED_MODULE(Name);                                                \
  extern template class TORCH_API detail::RNNImplBase<Name##Impl>;            \
  class TORCH_API Name##Impl : public detail::RNNImplBase<Name##Impl> {       \
   public:                                                                    \
    Name##Impl(int64_t input_size, int64_t hidden_size);                      \
    explicit Name##Impl(const Name##Options& options_);                       \
    std::tuple<Tensor, Tensor> forward(const Tensor& input, Tensor hx = {});  \
    std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input( \
        const utils::rnn::PackedSequence& packed_input, Tensor hx = {});      \
    Name##Options options;                                                    \
                                                                              \
   protected:                                                                 \
    TAEDA_DEFAULT_ARGS;                                                       \
  };                                                                          \
  TORCH_MODULE(Name)
TAEDA_RNN_MODULE(RNN);
TAEDA_RNN_MODULE(GRU);
#undef TAEDA_RNN_MODULE

TAEDA_COMPILED_MODULE(LSTM);
extern template class TORCH_API detail::RNNImplBase<LSTMImpl>;
class TORCH_API LSTMImpl : public detail::RNNImplBase<LSTMImpl> {
 public:
  using State = std::tuple<Tensor, Tensor>;
  LSTMImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMImpl(const LSTMOptions& options_);
  std::tuple<Tensor, State> forward(const Tensor& input, std::optional<State> hx_opt = {});
  std::tuple<utils::rnn::PackedSequence, State> forward_with_packed_input(
      const utils::rnn::PackedSequence& packed_input, std::optional<State> hx_opt = {});
  LSTMOptions options;

 protected:
  TAEDA_DEFAULT_ARGS;

 private:
  std::tuple<Tensor, State> step(const Tensor& input, const Tensor& batch_sizes, const std::optional<State>& hx);
};
TORCH_MODULE(LSTM);

#define TAEDA_CELL_MODULE(Name)                                             \
  TAEDA_COMPILED_MODULE(Name);                                              \
  extern template class TORCH_API detail::RNNCellImplBase<Name##Impl>;      \
  class TORCH_API Name##Impl : public detail::RNNCellImplBase<Name##Impl> { \
   public:                                                                  \
    Name##Impl(int64_t input_size, int64_t hidden_size);                    \
    explicit Name##Impl(const Name##Options& options_);                     \
    Tensor forward(const Tensor& input, const Tensor& hx = {});             \
    Name##Options options;                                                  \
                                                                            \
   protected:                                                               \
    std::string get_nonlinearity_str() const override;                      \
    TAEDA_DEFAULT_ARGS;                                                     \
  };                                                                        \
  TORCH_MODULE(Name)
TAEDA_CELL_MODULE(RNNCell);
TAEDA_CELL_MODULE(GRUCell);
#undef TAEDA_CELL_MODULE

TAEDA_COMPILED_MODULE(LSTMCell);
extern template class TORCH_API detail::RNNCellImplBase<LSTMCellImpl>;
class TORCH_API LSTMCellImpl : public detail::RNNCellImplBase<LSTMCellImpl> {
 public:
  LSTMCellImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMCellImpl(const LSTMCellOptions& options_);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
  LSTMCellOptions options;

 protected:
  TAEDA_DEFAULT_ARGS;
};
TORCH_MODULE(LSTMCell);

}  // namespace torch::nn
