// Convolutions by oneDNN. The primitive chooses its layouts; plain tensors are reordered to and from them, while
// channels-last ones are taken as they lie.
#include <bit>
#include <cmath>

#include "backend/cpu/conv/conv.h"
#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/libraries/onednn.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu::conv {

using namespace onednn;

namespace {

constexpr double kWork = 1 << 19;  // so many multiply-adds are for one piece, 4 times as many for 2, 16 times for 4
constexpr int64_t kMaxPieces = 16;
constexpr int64_t kChannels = 32;  // channels are cut at multiples of this
constexpr int64_t kSum = 6;        // what an element of a weight gradient's sum costs, in elements reordered

enum class Made { Features, Image, Weight };
constexpr int kWeight = 1;  // its place among the operands

bool is_channels_last(const Tensor& t) {
  return !t.is_contiguous() && ((t.dim() == 4 && t.is_contiguous(MemoryFormat::ChannelsLast)) ||
                                (t.dim() == 5 && t.is_contiguous(MemoryFormat::ChannelsLast3d)));
}

// Layouts with strides of 0 or overlaps are not for oneDNN.
Tensor dense(const Tensor& t) { return t->is_non_overlapping_and_dense() ? t : ops::contiguous(t); }

// A weight as oneDNN sees it: groups are a dimension of their own.
struct WeightShape {
  shape::Dims sizes, strides;
  WeightShape(const Tensor& weight, int64_t groups) : sizes(weight.sizes()), strides(weight.strides()) {
    if (groups == 1) return;
    sizes[0] /= groups;
    sizes.insert(0, groups);
    strides.insert(0, strides[0] * sizes[1]);
  }
};

shape::Dims ends_of(const Problem& p) {
  shape::Dims ends;
  for (size_t i = 0; i < p.rank(); ++i) ends.push_back(p.padding_end(i));
  return ends;
}

shape::Dims less_one(const shape::Dims& dilation) {
  shape::Dims result;
  for (int64_t d : dilation) result.push_back(d - 1);
  return result;
}

Key key_of(Made made, const Problem& p, bool with_bias) {
  Key key;
  key.add('c')
      .add(static_cast<int64_t>(made))
      .add(static_cast<int64_t>(p.image.dtype()))
      .add(static_cast<int64_t>(p.weight.dtype()))
      .add(with_bias);
  for (const Tensor* t : {&p.image, &p.weight, &p.features}) key.add(t->sizes()).add(t->strides());
  return key.add(p.groups).add(p.stride).add(p.padding).add(p.dilation);
}

MemoryDesc given(const Tensor& t) { return {t.dtype(), t.sizes(), t.strides()}; }
MemoryDesc given_weight(const Problem& p) {
  WeightShape w(p.weight, p.groups);
  return {p.weight.dtype(), w.sizes, w.strides};
}

// The descriptors that the primitive is asked for, and from them the primitive.
struct Wanted {
  MemoryDesc image, weight, features, bias;
  shape::Dims padding_end, dilation;
  Attributes attributes;

  Wanted(const Problem& p, const Tensor& bias_tensor) : padding_end(ends_of(p)), dilation(less_one(p.dilation)) {
    bool fixed = is_channels_last(p.image) && is_channels_last(p.features);
    WeightShape w(p.weight, p.groups);
    image = fixed ? given(p.image) : MemoryDesc::any(p.image.dtype(), p.image.sizes());
    features = fixed ? given(p.features) : MemoryDesc::any(p.features.dtype(), p.features.sizes());
    weight = MemoryDesc::any(p.weight.dtype(), w.sizes);
    if (bias_tensor.defined()) bias = given(bias_tensor);
  }

  dnnl_primitive_desc_t forward(const Problem& p) const {
    dnnl_primitive_desc_t desc = nullptr;
    check(dnnl().convolution_forward_primitive_desc_create(
        &desc, engine(), dnnl_forward_training, dnnl_convolution_direct, image.get(), weight.get(), bias.get(),
        features.get(), p.stride.data(), dilation.data(), p.padding.data(), padding_end.data(), attributes.get()));
    return desc;
  }
};

// The hint that oneDNN wants with a gradient: the forward operation.
struct Hint {
  dnnl_primitive_desc_t desc;
  Hint(const Problem& p, const Wanted& wanted) : desc(wanted.forward(p)) {}
  ~Hint() { dnnl().primitive_desc_destroy(desc); }
};

std::vector<Operation::Operand> operands(const Problem& p, int image, int weight, int features, int result) {
  std::vector<Operation::Operand> list;
  list.push_back({image, given(p.image), image == result});
  list.push_back({weight, given_weight(p), weight == result});
  list.push_back({features, given(p.features), features == result});
  return list;
}

std::shared_ptr<Operation> make_forward(const Problem& p, const Tensor& bias) {
  Wanted wanted(p, bias);
  auto list = operands(p, DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_DST);
  if (bias.defined()) list.push_back({DNNL_ARG_BIAS, given(bias), false});
  return std::make_shared<Operation>(Primitive(wanted.forward(p)), std::move(list));
}

std::shared_ptr<Operation> make_image(const Problem& p) {
  Wanted wanted(p, {});
  Hint hint(p, wanted);
  dnnl_primitive_desc_t desc = nullptr;
  check(dnnl().convolution_backward_data_primitive_desc_create(
      &desc, engine(), dnnl_convolution_direct, wanted.image.get(), wanted.weight.get(), wanted.features.get(),
      p.stride.data(), wanted.dilation.data(), p.padding.data(), wanted.padding_end.data(), hint.desc,
      wanted.attributes.get()));
  return std::make_shared<Operation>(
      Primitive(desc), operands(p, DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC));
}

std::shared_ptr<Operation> make_weight(const Problem& p) {
  Wanted wanted(p, {});
  Problem forward_types = p;
  forward_types.weight = new_tensor_strided(p.weight.sizes(), p.weight.strides(), p.image.dtype());
  Wanted forward(forward_types, {});
  Hint hint(forward_types, forward);
  dnnl_primitive_desc_t desc = nullptr;
  check(dnnl().convolution_backward_weights_primitive_desc_create(
      &desc, engine(), dnnl_convolution_direct, wanted.image.get(), wanted.weight.get(), nullptr, wanted.features.get(),
      p.stride.data(), wanted.dilation.data(), p.padding.data(), wanted.padding_end.data(), hint.desc,
      wanted.attributes.get()));
  return std::make_shared<Operation>(
      Primitive(desc), operands(p, DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS));
}

// --- pieces
// oneDNN would cut the work by the number of threads, and bits would follow. So it is cut here, by size: the batch and
// the channels of what is made (or whole groups) are independent, but for a weight gradient's sum over the batch.

struct Cut {
  int64_t batch_step, batch_pieces, full_batches, channel_step, channel_pieces;
  int64_t count() const { return batch_pieces * channel_pieces; }
};

int64_t pieces_of(int64_t size, int64_t step) { return (size + step - 1) / step; }

// How many channels, or with groups how many groups, there are to cut.
int64_t channels_to_cut(const Problem& p, Made made) {
  if (p.groups > 1) return p.groups;
  return made == Made::Image ? p.image.sizes()[1] : p.features.sizes()[1];
}

// How many pieces the work is worth: a power of two, that threads may have as many each.
uint64_t pieces_worth(const Problem& p) {
  int64_t work = p.features.numel() / p.features.sizes()[1] * p.weight.numel();
  int64_t pieces = static_cast<int64_t>(std::sqrt(static_cast<double>(work) / kWork));
  return std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(pieces, 1, kMaxPieces)));
}

// Every piece reorders all of what is not cut, and pieces of the batch add up their weight gradients: the cheapest cut.
Cut cut_of(const Problem& p, Made made) {
  int64_t batch = p.image.sizes()[0], channels = channels_to_cut(p, made), wanted = pieces_worth(p),
          most_by_channel = std::max<int64_t>(channels / kChannels, 1), by_channel = 1, least = INT64_MAX;
  int64_t by_channel_price = made == Made::Image ? p.features.numel() : p.image.numel(),
          by_batch_price = p.weight.numel() * (made == Made::Weight ? kSum : 1);
  for (int64_t c = 1; c <= std::min(wanted, most_by_channel); c *= 2) {
    int64_t price = c * by_channel_price + wanted / c * by_batch_price;
    if (price >= least && wanted / c < batch) continue;
    least = price;
    by_channel = c;
  }
  Cut cut{};
  cut.batch_step = pieces_of(batch, std::min(batch, wanted / by_channel));
  cut.batch_pieces = pieces_of(batch, cut.batch_step);
  cut.full_batches = batch / cut.batch_step;
  cut.channel_step = std::min(channels, pieces_of(pieces_of(channels, by_channel), kChannels) * kChannels);
  cut.channel_pieces = pieces_of(channels, cut.channel_step);
  return cut;
}

Tensor narrowed(const Tensor& t, int64_t dim, int64_t begin, int64_t step) {
  shape::Dims sizes(t.sizes());
  sizes[dim] = std::min(step, sizes[dim] - begin);
  return new_alias(t, sizes, t.strides(), t.storage_offset() + begin * t.strides()[dim]);
}

Problem piece_of(const Problem& p, Made made, const Cut& cut, int64_t index) {
  Problem piece = p;
  if (cut.count() == 1) return piece;
  int64_t n = index / cut.channel_pieces * cut.batch_step, c = index % cut.channel_pieces * cut.channel_step,
          step = cut.channel_step;
  piece.image = narrowed(p.image, 0, n, cut.batch_step);
  piece.features = narrowed(p.features, 0, n, cut.batch_step);
  if (cut.channel_pieces == 1) return piece;
  if (p.groups > 1) {
    int64_t in = p.image.sizes()[1] / p.groups, out = p.features.sizes()[1] / p.groups;
    piece.groups = std::min(step, p.groups - c);
    piece.image = narrowed(piece.image, 1, c * in, step * in);
    piece.features = narrowed(piece.features, 1, c * out, step * out);
    piece.weight = narrowed(p.weight, 0, c * out, step * out);
  } else if (made == Made::Image) {
    piece.image = narrowed(piece.image, 1, c, step);
    piece.weight = narrowed(p.weight, 1, c, step);
  } else {
    piece.features = narrowed(piece.features, 1, c, step);
    piece.weight = narrowed(p.weight, 0, c, step);
  }
  return piece;
}

// f(0), ..., f(count - 1) on any threads; oneDNN makes and runs its primitives for one.
template <class F>
void each(int64_t count, const F& f) {
  parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    Threads one(1);
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

std::shared_ptr<Operation> operation_for(Made made, const Problem& p, const Tensor& bias = {}) {
  return cached(key_of(made, p, bias.defined()), [&] {
    return made == Made::Features ? make_forward(p, bias) : made == Made::Image ? make_image(p) : make_weight(p);
  });
}

// `settled` is the weight in the operation's own layout, if defined.
void run(const Operation& operation, const Problem& p, const Tensor& bias = {}, const Tensor& settled = {}) {
  void* data[] = {p.image.data(), settled.defined() ? settled.data() : p.weight.data(), p.features.data(),
                  bias.defined() ? bias.data() : nullptr};
  operation.run(std::span(data, bias.defined() ? 4 : 3), settled.defined() ? kWeight : -1);
}

// Makes features or the image. Pieces of the batch share their weight in the operation's layout.
void run_pieces(const Problem& p, Made made, const Tensor& bias = {}) {
  Cut cut = cut_of(p, made);
  struct Shared {
    std::shared_ptr<Operation> operation;
    Tensor weight;
  };
  std::vector<Shared> shared(cut.channel_pieces);
  auto bias_of = [&](int64_t c) {
    int64_t width = p.groups > 1 ? p.features.sizes()[1] / p.groups : 1, step = cut.channel_step * width;
    return bias.defined() && cut.channel_pieces > 1 ? narrowed(bias, 0, c * step, step) : bias;
  };
  if (cut.full_batches > 1)
    each(cut.channel_pieces, [&](int64_t c) {
      Problem piece = piece_of(p, made, cut, c);
      auto operation = operation_for(made, piece, bias_of(c));
      shared[c] = {operation, operation->settle(kWeight, piece.weight.data())};
    });
  each(cut.count(), [&](int64_t i) {
    Problem piece = piece_of(p, made, cut, i);
    int64_t c = i % cut.channel_pieces;
    if (shared[c].operation && i / cut.channel_pieces < cut.full_batches)
      run(*shared[c].operation, piece, bias_of(c), shared[c].weight);
    else
      run(*operation_for(made, piece, bias_of(c)), piece, bias_of(c));
  });
}

// y += x, of as many floats.
void accumulate(const Tensor& x, const Tensor& y) {
  row_kernels<float>().accumulate(static_cast<const float*>(x.data()), static_cast<float*>(y.data()),
                                  x.numel() * x.itemsize() / static_cast<int64_t>(sizeof(float)));
}

// The pieces of the batch have sums of their own in the operation's layout, that are added up in order; what is left of
// the batch, where it does not divide evenly, has one in the layout of the weight.
void sum_pieces(const Problem& p, const Cut& cut) {
  std::vector<std::shared_ptr<Operation>> operations(cut.channel_pieces);
  each(cut.channel_pieces,
       [&](int64_t c) { operations[c] = operation_for(Made::Weight, piece_of(p, Made::Weight, cut, c)); });
  std::vector<Tensor> sums(cut.full_batches * cut.channel_pieces);
  Problem rest = p;
  if (cut.full_batches < cut.batch_pieces)
    rest.weight = new_tensor_strided(p.weight.sizes(), p.weight.strides(), p.weight.dtype());
  each(cut.count(), [&](int64_t i) {
    const Operation& operation = *operations[i % cut.channel_pieces];
    if (i < std::ssize(sums))
      run(operation, piece_of(p, Made::Weight, cut, i), {}, sums[i] = operation.place(kWeight));
    else {
      Problem piece = piece_of(rest, Made::Weight, cut, i);
      run(*operation_for(Made::Weight, piece), piece);
    }
  });
  each(cut.channel_pieces, [&](int64_t c) {
    for (int64_t i = c + cut.channel_pieces; i < std::ssize(sums); i += cut.channel_pieces)
      accumulate(sums[i], sums[c]);
    operations[c]->deliver(kWeight, sums[c], piece_of(p, Made::Weight, cut, c).weight.data());
  });
  if (!rest.weight.is(p.weight)) ops::add_(p.weight, rest.weight);
}

}  // namespace

void forward_onednn(const Problem& given_problem, const Tensor& bias) {
  Problem p = given_problem;
  p.image = dense(p.image);
  p.weight = dense(p.weight);
  run_pieces(p, Made::Features, bias);
}

void image_onednn(const Problem& given_problem) {
  Problem p = given_problem;
  p.weight = dense(p.weight);
  p.features = dense(p.features);
  run_pieces(p, Made::Image);
}

void weight_onednn(const Problem& given_problem) {
  Problem p = given_problem;
  p.image = dense(p.image);
  p.features = dense(p.features);
  if (p.weight.dtype() != DType::Float32)
    p.weight = new_tensor_strided(p.weight.sizes(), p.weight.strides(), DType::Float32);
  Cut cut = cut_of(p, Made::Weight);
  cut.batch_pieces == 1 ? run_pieces(p, Made::Weight) : sum_pieces(p, cut);
  if (!p.weight.is(given_problem.weight)) ops::copy_(given_problem.weight, p.weight);
}

}  // namespace taeda::cpu::conv
