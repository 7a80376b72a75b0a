// Convolutions by oneDNN. The primitive chooses its layouts; plain tensors are reordered to and from them, while
// channels-last ones are taken as they lie.
#include "api/copy.h"
#include "backend/cpu/conv.h"
#include "backend/cpu/onednn.h"
#include "core/parallel.h"

namespace taeda::cpu::conv {

using namespace onednn;

namespace {

constexpr int64_t kPiece = 1 << 23;  // multiply-adds worth a piece of their own
constexpr int64_t kMaxPieces = 16;
constexpr int64_t kPositions = 4096;  // features per channel that make up for a sum of their own in a weight gradient
constexpr int64_t kChannels = 32;     // channels are cut at multiples of this

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

Key key_of(char kind, const Problem& p, bool with_bias) {
  Key key;
  key.add(kind).add(static_cast<int64_t>(p.image.dtype())).add(static_cast<int64_t>(p.weight.dtype())).add(with_bias);
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
enum class Made { Features, Image, Weight };

struct Cut {
  int64_t batch_step, batch_pieces, channel_step, channel_pieces;
  int64_t count() const { return batch_pieces * channel_pieces; }
};

int64_t pieces_of(int64_t size, int64_t step) { return (size + step - 1) / step; }

// How many channels, or with groups how many groups, there are to cut.
int64_t channels_to_cut(const Problem& p, Made made) {
  if (p.groups > 1) return p.groups;
  return made == Made::Image ? p.image.sizes()[1] : p.features.sizes()[1];
}

Cut cut_of(const Problem& p, Made made) {
  int64_t batch = p.image.sizes()[0], channels = channels_to_cut(p, made),
          positions = p.features.numel() / p.features.sizes()[1];
  int64_t wanted = std::clamp<int64_t>(positions * p.weight.numel() / kPiece, 1, kMaxPieces);
  // Every piece reorders all of what is not cut: the larger operand is cut first.
  const Tensor& read = made == Made::Image ? p.features : p.image;
  int64_t most_by_channel = std::max<int64_t>(channels / kChannels, 1);
  int64_t by_channel = p.weight.numel() > read.numel() ? std::min(wanted, most_by_channel) : 1;
  int64_t by_batch = std::min(batch, pieces_of(wanted, by_channel));
  if (made == Made::Weight) by_batch = std::clamp<int64_t>(positions / kPositions, 1, by_batch);
  by_channel = std::min(most_by_channel, std::max<int64_t>(wanted / by_batch, 1));
  Cut cut{};
  cut.batch_step = pieces_of(batch, by_batch);
  cut.batch_pieces = pieces_of(batch, cut.batch_step);
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

// Runs one piece after another, on any thread: each is oneDNN's work for a single one.
template <class F>
void each_piece(const Cut& cut, const F& run) {
  parallel_for(0, cut.count(), 1, [&](int64_t begin, int64_t end) {
    Threads one(1);
    for (int64_t i = begin; i < end; ++i) run(i);
  });
}

void run_operation(const Operation& operation, const Problem& p, const Tensor& bias = {}) {
  void* data[] = {p.image.data(), p.weight.data(), p.features.data(), bias.defined() ? bias.data() : nullptr};
  operation.run(std::span(data, bias.defined() ? 4 : 3));
}

// sums[0] += sums[1] + ...
void add_up(const std::vector<Tensor>& sums) {
  float* total = sums[0].data<float>();
  parallel_for(0, sums[0].numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (size_t i = 1; i < sums.size(); ++i) {
      const float* more = sums[i].data<float>();
      for (int64_t j = begin; j < end; ++j) total[j] += more[j];
    }
  });
}

}  // namespace

void forward_onednn(const Problem& given_problem, const Tensor& bias) {
  Problem p = given_problem;
  p.image = dense(p.image);
  p.weight = dense(p.weight);
  Cut cut = cut_of(p, Made::Features);
  each_piece(cut, [&](int64_t i) {
    Problem piece = piece_of(p, Made::Features, cut, i);
    int64_t width = p.groups > 1 ? p.features.sizes()[1] / p.groups : 1,
            first = i % cut.channel_pieces * cut.channel_step * width;
    Tensor part = bias.defined() && cut.channel_pieces > 1 ? narrowed(bias, 0, first, piece.features.sizes()[1]) : bias;
    run_operation(*cached(key_of('f', piece, part.defined()), [&] { return make_forward(piece, part); }), piece, part);
  });
}

void image_onednn(const Problem& given_problem) {
  Problem p = given_problem;
  p.weight = dense(p.weight);
  p.features = dense(p.features);
  Cut cut = cut_of(p, Made::Image);
  each_piece(cut, [&](int64_t i) {
    Problem piece = piece_of(p, Made::Image, cut, i);
    run_operation(*cached(key_of('i', piece, false), [&] { return make_image(piece); }), piece);
  });
}

// The pieces of the batch have sums of their own, in float, that are added up in order.
void weight_onednn(const Problem& given_problem) {
  Problem p = given_problem;
  p.image = dense(p.image);
  p.features = dense(p.features);
  Cut cut = cut_of(p, Made::Weight);
  bool direct = cut.batch_pieces == 1 && p.weight.dtype() == DType::Float32;
  std::vector<Tensor> sums(cut.batch_pieces);
  for (Tensor& s : sums)
    s = direct ? p.weight : new_tensor_strided(p.weight.sizes(), p.weight.strides(), DType::Float32);
  each_piece(cut, [&](int64_t i) {
    Problem whole = p;
    whole.weight = sums[i / cut.channel_pieces];
    Problem piece = piece_of(whole, Made::Weight, cut, i);
    run_operation(*cached(key_of('w', piece, false), [&] { return make_weight(piece); }), piece);
  });
  if (direct) return;
  add_up(sums);
  ops::copy_(p.weight, sums[0]);
}

}  // namespace taeda::cpu::conv
