#include <torch/nn/modules/rnn.h>

#include <cmath>

#include <torch/nn/init.h>

#include "frontend/nn/printed.h"

namespace torch::nn {

using utils::rnn::PackedSequence;

namespace detail {

RNNOptionsBase::RNNOptionsBase(rnn_options_base_mode_t mode, int64_t input_size, int64_t hidden_size)
    : input_size_(input_size), hidden_size_(hidden_size) {
  this->mode(mode);
}

namespace {

int64_t gates_of(const RNNOptionsBase& o) {
  if (std::holds_alternative<enumtype::kLSTM>(o.mode())) return 4;
  return std::holds_alternative<enumtype::kGRU>(o.mode()) ? 3 : 1;
}
const char* class_of(const RNNOptionsBase& o) {
  if (std::holds_alternative<enumtype::kLSTM>(o.mode())) return "LSTM";
  return std::holds_alternative<enumtype::kGRU>(o.mode()) ? "GRU" : "RNN";
}

}  // namespace

template <class Derived>
RNNImplBase<Derived>::RNNImplBase(const RNNOptionsBase& options_) : options_base(options_) {
  RNNImplBase::reset();
}

template <class Derived>
void RNNImplBase<Derived>::reset() {
  const RNNOptionsBase& o = options_base;
  TORCH_CHECK(o.dropout() >= 0 && o.dropout() <= 1, "recurrent layers: dropout is a share from 0 to 1; got ",
              o.dropout());
  if (o.dropout() > 0 && o.num_layers() == 1)
    TORCH_WARN(
        "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
        "greater than 1, but got dropout=",
        o.dropout(), " and num_layers=1");
  TORCH_CHECK(o.hidden_size() > 0, "recurrent layers: hidden_size is above 0; got ", o.hidden_size());
  TORCH_CHECK(o.num_layers() > 0, "recurrent layers: num_layers is above 0; got ", o.num_layers());
  TORCH_CHECK(o.proj_size() >= 0 && o.proj_size() < o.hidden_size(),
              "recurrent layers: proj_size is below hidden_size, ", o.hidden_size(), "; got ", o.proj_size());
  const int64_t directions = o.bidirectional() ? 2 : 1, rows = gates_of(o) * o.hidden_size();
  const int64_t seen = o.proj_size() > 0 ? o.proj_size() : o.hidden_size();
  flat_weights_names_.clear();
  auto add = [&](const std::string& name, IntArrayRef sizes) {
    this->register_parameter(name, torch::empty(sizes));
    flat_weights_names_.push_back(name);
  };
  for (int64_t layer = 0; layer < o.num_layers(); ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      const std::string suffix = c10::str("_l", layer, direction ? "_reverse" : "");
      add("weight_ih" + suffix, {rows, layer == 0 ? o.input_size() : seen * directions});
      add("weight_hh" + suffix, {rows, seen});
      if (o.bias()) {
        add("bias_ih" + suffix, {rows});
        add("bias_hh" + suffix, {rows});
      }
      if (o.proj_size() > 0) add("weight_hr" + suffix, {o.proj_size(), o.hidden_size()});
    }
  }
  find_weights();
  reset_parameters();
}
template <class Derived>
void RNNImplBase<Derived>::find_weights() {
  flat_weights_.clear();
  for (const std::string& name : flat_weights_names_) flat_weights_.push_back(this->parameters_[name]);
}
template <class Derived>
void RNNImplBase<Derived>::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (Tensor& weight : flat_weights_) init::uniform_(weight, -bound, bound);
}
template <class Derived>
void RNNImplBase<Derived>::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  Module::to(device, dtype, non_blocking);
  find_weights();
}
template <class Derived>
void RNNImplBase<Derived>::to(torch::Dtype dtype, bool non_blocking) {
  Module::to(dtype, non_blocking);
  find_weights();
}
template <class Derived>
void RNNImplBase<Derived>::to(torch::Device device, bool non_blocking) {
  Module::to(device, non_blocking);
  find_weights();
}

template <class Derived>
void RNNImplBase<Derived>::pretty_print(std::ostream& stream) const {
  const RNNOptionsBase& o = options_base;
  Printed(stream, class_of(o))
      .arg("input_size", o.input_size())
      .arg("hidden_size", o.hidden_size())
      .arg("num_layers", o.num_layers())
      .arg("bias", o.bias())
      .arg("batch_first", o.batch_first())
      .arg("dropout", o.dropout())
      .arg("bidirectional", o.bidirectional())
      .arg_unless("proj_size", o.proj_size(), int64_t{0});
}

template <class Derived>
void RNNImplBase<Derived>::check_input(const Tensor& input, const Tensor& batch_sizes) const {
  int64_t dims = batch_sizes.defined() ? 2 : 3;
  TORCH_CHECK(input.dim() == dims, class_of(options_base), ": an input of ", dims, " dimensions is wanted; got ",
              input.sizes());
  TORCH_CHECK(input.size(-1) == options_base.input_size(), class_of(options_base),
              ": the last dimension of the input has input_size elements, ", options_base.input_size(), "; got ",
              input.sizes());
}
template <class Derived>
int64_t RNNImplBase<Derived>::batch_of(const Tensor& input, const Tensor& batch_sizes) const {
  if (batch_sizes.defined()) return batch_sizes[0].template item<int64_t>();
  return options_base.batch_first() ? input.size(0) : input.size(1);
}
template <class Derived>
Tensor RNNImplBase<Derived>::zero_state(const Tensor& input, int64_t batch, int64_t size) const {
  int64_t layers = options_base.num_layers() * (options_base.bidirectional() ? 2 : 1);
  return torch::zeros({layers, batch, size}, input.options());
}
template <class Derived>
std::tuple<Tensor, Tensor> RNNImplBase<Derived>::run(const Tensor& input, const Tensor& batch_sizes,
                                                     const Tensor& hx) const {
  const RNNOptionsBase& o = options_base;
  auto call = [&](auto run) -> std::tuple<Tensor, Tensor> {
    if (batch_sizes.defined())
      return run(input, batch_sizes, hx, TensorList(flat_weights_), o.bias(), o.num_layers(), o.dropout(),
                 this->is_training(), o.bidirectional());
    return run(input, hx, TensorList(flat_weights_), o.bias(), o.num_layers(), o.dropout(), this->is_training(),
               o.bidirectional(), o.batch_first());
  };
  if (std::holds_alternative<enumtype::kGRU>(o.mode())) return call([](auto&&... a) { return at::gru(a...); });
  if (std::holds_alternative<enumtype::kRNN_TANH>(o.mode()))
    return call([](auto&&... a) { return at::rnn_tanh(a...); });
  return call([](auto&&... a) { return at::rnn_relu(a...); });
}

// --- cells
template <class Derived>
RNNCellImplBase<Derived>::RNNCellImplBase(const RNNCellOptionsBase& options_) : options_base(options_) {
  RNNCellImplBase::reset();
}
template <class Derived>
void RNNCellImplBase<Derived>::reset() {
  const RNNCellOptionsBase& o = options_base;
  const int64_t rows = o.num_chunks() * o.hidden_size();
  weight_ih = this->register_parameter("weight_ih", torch::empty({rows, o.input_size()}));
  weight_hh = this->register_parameter("weight_hh", torch::empty({rows, o.hidden_size()}));
  if (o.bias()) {
    bias_ih = this->register_parameter("bias_ih", torch::empty({rows}));
    bias_hh = this->register_parameter("bias_hh", torch::empty({rows}));
  } else {
    bias_ih = this->register_parameter("bias_ih", Tensor(), false);
    bias_hh = this->register_parameter("bias_hh", Tensor(), false);
  }
  reset_parameters();
}
template <class Derived>
void RNNCellImplBase<Derived>::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(options_base.hidden_size()));
  for (Tensor weight : this->parameters()) init::uniform_(weight, -bound, bound);
}
template <class Derived>
void RNNCellImplBase<Derived>::pretty_print(std::ostream& stream) const {
  std::string name = options_base.num_chunks() == 4   ? "LSTMCell"
                     : options_base.num_chunks() == 3 ? "GRUCell"
                                                      : "RNNCell";
  Printed text(stream, name);
  text.bare(options_base.input_size()).bare(options_base.hidden_size());
  if (!options_base.bias()) text.arg("bias", options_base.bias());
  std::string nonlinearity = get_nonlinearity_str();
  if (!nonlinearity.empty() && nonlinearity != "kTanh") text.arg("nonlinearity", nonlinearity);
}
template <class Derived>
void RNNCellImplBase<Derived>::check(const Tensor& input, const Tensor& hx) const {
  TORCH_CHECK(input.dim() == 2 && input.size(1) == options_base.input_size(), "input must be (batch, ",
              options_base.input_size(), ") or (", options_base.input_size(), "); got ", input.sizes());
  TORCH_CHECK(!hx.defined() || (hx.size(0) == input.size(0) && hx.size(1) == options_base.hidden_size()),
              "the state must be (", input.size(0), ", ", options_base.hidden_size(), "); got ",
              hx.defined() ? hx.sizes() : IntArrayRef());
}
template <class Derived>
Tensor RNNCellImplBase<Derived>::state_or_zeros(const Tensor& input, const Tensor& hx) const {
  return hx.defined() ? hx : torch::zeros({input.size(0), options_base.hidden_size()}, input.options());
}

template class RNNImplBase<RNNImpl>;
template class RNNImplBase<GRUImpl>;
template class RNNImplBase<LSTMImpl>;
template class RNNCellImplBase<RNNCellImpl>;
template class RNNCellImplBase<GRUCellImpl>;
template class RNNCellImplBase<LSTMCellImpl>;

}  // namespace detail

namespace {

template <class Options>
detail::RNNOptionsBase common(const Options& o, detail::RNNOptionsBase::rnn_options_base_mode_t mode) {
  return detail::RNNOptionsBase(mode, o.input_size(), o.hidden_size())
      .num_layers(o.num_layers())
      .bias(o.bias())
      .batch_first(o.batch_first())
      .dropout(o.dropout())
      .bidirectional(o.bidirectional());
}
detail::RNNOptionsBase::rnn_options_base_mode_t mode_of(const RNNOptions& o) {
  if (std::holds_alternative<enumtype::kTanh>(o.nonlinearity())) return kRNN_TANH;
  return kRNN_RELU;
}
// States of several sequences in another order.
Tensor reordered(const Tensor& state, const Tensor& order) {
  return order.defined() ? state.index_select(1, order) : state;
}

}  // namespace

#define TAEDA_RNN(Name)                                                                                               \
  std::tuple<Tensor, Tensor> Name##Impl::forward(const Tensor& input, Tensor hx) {                                    \
    check_input(input, {});                                                                                           \
    if (!hx.defined()) hx = zero_state(input, batch_of(input, {}), options_base.hidden_size());                       \
    return run(input, {}, hx);                                                                                        \
  }                                                                                                                   \
  std::tuple<PackedSequence, Tensor> Name##Impl::forward_with_packed_input(const PackedSequence& packed, Tensor hx) { \
    check_input(packed.data(), packed.batch_sizes());                                                                 \
    hx = hx.defined()                                                                                                 \
             ? reordered(hx, packed.sorted_indices())                                                                 \
             : zero_state(packed.data(), batch_of(packed.data(), packed.batch_sizes()), options_base.hidden_size());  \
    auto [output, state] = run(packed.data(), packed.batch_sizes(), hx);                                              \
    return {PackedSequence(output, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()),         \
            reordered(state, packed.unsorted_indices())};                                                             \
  }
RNNImpl::RNNImpl(int64_t input_size, int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
RNNImpl::RNNImpl(const RNNOptions& options_)
    : detail::RNNImplBase<RNNImpl>(common(options_, mode_of(options_))), options(options_) {}
TAEDA_RNN(RNN)
GRUImpl::GRUImpl(int64_t input_size, int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
GRUImpl::GRUImpl(const GRUOptions& options_)
    : detail::RNNImplBase<GRUImpl>(common(options_, kGRU)), options(options_) {}
TAEDA_RNN(GRU)
#undef TAEDA_RNN

LSTMImpl::LSTMImpl(int64_t input_size, int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
LSTMImpl::LSTMImpl(const LSTMOptions& options_)
    : detail::RNNImplBase<LSTMImpl>(common(options_, kLSTM).proj_size(options_.proj_size())), options(options_) {}
std::tuple<Tensor, LSTMImpl::State> LSTMImpl::step(const Tensor& input, const Tensor& batch_sizes,
                                                   const std::optional<State>& hx) {
  check_input(input, batch_sizes);
  const detail::RNNOptionsBase& o = options_base;
  std::vector<Tensor> state;
  if (hx) {
    state = {std::get<0>(*hx), std::get<1>(*hx)};
  } else {
    int64_t batch = batch_of(input, batch_sizes);
    state = {zero_state(input, batch, o.proj_size() > 0 ? o.proj_size() : o.hidden_size()),
             zero_state(input, batch, o.hidden_size())};
  }
  auto [output, h, c] = batch_sizes.defined()
                            ? at::lstm(input, batch_sizes, state, flat_weights_, o.bias(), o.num_layers(), o.dropout(),
                                       is_training(), o.bidirectional())
                            : at::lstm(input, state, flat_weights_, o.bias(), o.num_layers(), o.dropout(),
                                       is_training(), o.bidirectional(), o.batch_first());
  return {output, State(h, c)};
}
std::tuple<Tensor, LSTMImpl::State> LSTMImpl::forward(const Tensor& input, std::optional<State> hx_opt) {
  return step(input, {}, hx_opt);
}
std::tuple<PackedSequence, LSTMImpl::State> LSTMImpl::forward_with_packed_input(const PackedSequence& packed,
                                                                                std::optional<State> hx_opt) {
  if (hx_opt)
    hx_opt = State(reordered(std::get<0>(*hx_opt), packed.sorted_indices()),
                   reordered(std::get<1>(*hx_opt), packed.sorted_indices()));
  auto [output, state] = step(packed.data(), packed.batch_sizes(), hx_opt);
  return {PackedSequence(output, packed.batch_sizes(), packed.sorted_indices(), packed.unsorted_indices()),
          State(reordered(std::get<0>(state), packed.unsorted_indices()),
                reordered(std::get<1>(state), packed.unsorted_indices()))};
}

namespace {
// One example's state as a batch of one.
Tensor as_batch(const Tensor& state) { return state.defined() ? state.unsqueeze(0) : state; }
}  // namespace

RNNCellImpl::RNNCellImpl(int64_t input_size, int64_t hidden_size)
    : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
RNNCellImpl::RNNCellImpl(const RNNCellOptions& o)
    : detail::RNNCellImplBase<RNNCellImpl>({o.input_size(), o.hidden_size(), o.bias(), 1}), options(o) {}
Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  if (input.dim() == 1) return forward(input.unsqueeze(0), as_batch(hx)).squeeze(0);
  check(input, hx);
  Tensor state = state_or_zeros(input, hx);
  return std::holds_alternative<enumtype::kTanh>(options.nonlinearity())
             ? at::rnn_tanh_cell(input, state, weight_ih, weight_hh, bias_ih, bias_hh)
             : at::rnn_relu_cell(input, state, weight_ih, weight_hh, bias_ih, bias_hh);
}
std::string RNNCellImpl::get_nonlinearity_str() const { return enumtype::get_enum_name(options.nonlinearity()); }

GRUCellImpl::GRUCellImpl(int64_t input_size, int64_t hidden_size)
    : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
GRUCellImpl::GRUCellImpl(const GRUCellOptions& o)
    : detail::RNNCellImplBase<GRUCellImpl>({o.input_size(), o.hidden_size(), o.bias(), 3}), options(o) {}
Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  if (input.dim() == 1) return forward(input.unsqueeze(0), as_batch(hx)).squeeze(0);
  check(input, hx);
  return at::gru_cell(input, state_or_zeros(input, hx), weight_ih, weight_hh, bias_ih, bias_hh);
}
std::string GRUCellImpl::get_nonlinearity_str() const { return ""; }

LSTMCellImpl::LSTMCellImpl(int64_t input_size, int64_t hidden_size)
    : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
LSTMCellImpl::LSTMCellImpl(const LSTMCellOptions& o)
    : detail::RNNCellImplBase<LSTMCellImpl>({o.input_size(), o.hidden_size(), o.bias(), 4}), options(o) {}
std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 std::optional<std::tuple<Tensor, Tensor>> hx_opt) {
  Tensor h = hx_opt ? std::get<0>(*hx_opt) : Tensor(), c = hx_opt ? std::get<1>(*hx_opt) : Tensor();
  if (input.dim() == 1) {
    auto [next_h, next_c] = forward(input.unsqueeze(0), std::tuple(as_batch(h), as_batch(c)));
    return {next_h.squeeze(0), next_c.squeeze(0)};
  }
  check(input, h);
  check(input, c);
  std::vector<Tensor> state = {state_or_zeros(input, h), state_or_zeros(input, c)};
  return at::lstm_cell(input, state, weight_ih, weight_hh, bias_ih, bias_hh);
}

}  // namespace torch::nn
