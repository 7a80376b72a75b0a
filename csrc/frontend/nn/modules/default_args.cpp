// The arguments of modules' forward that have defaults, with their positions, for Sequential and AnyModule.
#include <torch/nn/modules.h>

namespace torch::nn {

using Defaults = std::vector<std::pair<unsigned int, AnyValue>>;

namespace {
std::vector<AnyValue> fill(std::vector<AnyValue>&& few, Defaults defaults) {
  std::vector<AnyValue> all = std::move(few);
  for (auto& [position, value] : defaults)
    if (position >= all.size()) all.push_back(std::move(value));
  return all;
}
// `count` undefined tensors, from a position on.
Defaults no_tensors(unsigned int first, unsigned int count) {
  Defaults made;
  for (unsigned int i = 0; i < count; ++i) made.emplace_back(first + i, AnyValue(Tensor()));
  return made;
}
}  // namespace

#define TAEDA_DEFAULTS(Name, required, ...)                                                       \
  bool Name##Impl::_forward_has_default_args() { return true; }                                   \
  unsigned int Name##Impl::_forward_num_required_args() { return required; }                      \
  std::vector<AnyValue> Name##Impl::_forward_populate_default_args(std::vector<AnyValue>&& few) { \
    return fill(std::move(few), __VA_ARGS__);                                                     \
  }
#define TAEDA_NO_SIZE(Name, position) \
  TAEDA_DEFAULTS(Name, position, Defaults{{position, AnyValue(std::optional<at::IntArrayRef>())}})
#define TAEDA_NO_SIZES(Name, position) \
  TAEDA_DEFAULTS(Name, position, Defaults{{position, AnyValue(std::optional<std::vector<int64_t>>())}})
#define TAEDA_NO_STATE(Name) \
  TAEDA_DEFAULTS(Name, 1, Defaults{{1, AnyValue(std::optional<std::tuple<Tensor, Tensor>>())}})

TAEDA_NO_SIZE(ConvTranspose1d, 1)
TAEDA_NO_SIZE(ConvTranspose2d, 1)
TAEDA_NO_SIZE(ConvTranspose3d, 1)
TAEDA_NO_SIZES(MaxUnpool1d, 2)
TAEDA_NO_SIZES(MaxUnpool2d, 2)
TAEDA_NO_SIZES(MaxUnpool3d, 2)
TAEDA_DEFAULTS(RNN, 1, no_tensors(1, 1))
TAEDA_DEFAULTS(GRU, 1, no_tensors(1, 1))
TAEDA_NO_STATE(LSTM)
TAEDA_DEFAULTS(RNNCell, 1, no_tensors(1, 1))
TAEDA_DEFAULTS(GRUCell, 1, no_tensors(1, 1))
TAEDA_NO_STATE(LSTMCell)
TAEDA_DEFAULTS(EmbeddingBag, 1, no_tensors(1, 2))
TAEDA_DEFAULTS(MultiheadAttention, 3,
               Defaults{{3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)}})
TAEDA_DEFAULTS(TransformerEncoderLayer, 1, no_tensors(1, 2))
TAEDA_DEFAULTS(TransformerDecoderLayer, 2, no_tensors(2, 4))
TAEDA_DEFAULTS(TransformerEncoder, 1, no_tensors(1, 2))
TAEDA_DEFAULTS(TransformerDecoder, 2, no_tensors(2, 4))
TAEDA_DEFAULTS(Transformer, 2, no_tensors(2, 6))

template class Cloneable<RNNImpl>;
template class Cloneable<GRUImpl>;
template class Cloneable<LSTMImpl>;
template class Cloneable<RNNCellImpl>;
template class Cloneable<GRUCellImpl>;
template class Cloneable<LSTMCellImpl>;
template class Cloneable<SequentialImpl>;
template class Cloneable<ModuleListImpl>;
template class Cloneable<ModuleDictImpl>;
template class Cloneable<ParameterDictImpl>;
template class Cloneable<ParameterListImpl>;
template class Cloneable<FunctionalImpl>;

}  // namespace torch::nn
