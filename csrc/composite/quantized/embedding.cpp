// Tables of small integers. Only the rows that are looked up become floats.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "composite/ops/quantized_embedding.h"
#include "composite/quantized/packed.h"
#include "core/elements.h"
#include "core/quantized.h"
#include "taeda/core/half.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/embedding.h"
#include "taeda/ops/fake_quantize.h"
#include "taeda/ops/index.h"
#include "taeda/ops/join.h"
#include "taeda/ops/mask.h"
#include "taeda/ops/quantized.h"
#include "taeda/ops/quantized_embedding.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite::quantized {

namespace {

// How a row lies in bytes.
struct RowFormat {
  int64_t bits;
  int64_t per_byte() const { return 8 / bits; }
  int64_t tail() const { return bits == 8 ? 2 * sizeof(float) : 2 * sizeof(Half); }
  int64_t bytes(int64_t columns) const { return (columns + per_byte() - 1) / per_byte() + tail(); }
  int64_t columns(int64_t bytes) const { return (bytes - tail()) * per_byte(); }
  int64_t most() const { return (1 << bits) - 1; }
};

struct RowNumbers {
  float scale, bias;
};

// As small floats where the integers are small.
RowNumbers numbers_for(RowFormat f, float least, float most, float* inverse) {
  if (f.bits == 8) {
    float range = most - least;
    *inverse = 255.0f / (range + 1e-8f);
    return {range / 255.0f, least};
  }
  float bias = static_cast<float>(Half(least)), range = most - bias;
  float scale = static_cast<float>(Half(range == 0 ? 1.0f : range / static_cast<float>(f.most())));
  if (scale == 0) scale = 1;
  *inverse = 1.0f / scale;
  if (std::isinf(*inverse)) scale = *inverse = 1;
  return {scale, bias};
}

void write_numbers(RowFormat f, char* tail, RowNumbers n) {
  if (f.bits == 8) return static_cast<void>(std::memcpy(tail, &n, sizeof n));
  Half halves[2] = {Half(n.scale), Half(n.bias)};
  std::memcpy(tail, halves, sizeof halves);
}
RowNumbers read_numbers(RowFormat f, const char* tail) {
  RowNumbers n;
  if (f.bits == 8) {
    std::memcpy(&n, tail, sizeof n);
    return n;
  }
  Half halves[2];
  std::memcpy(halves, tail, sizeof halves);
  return {static_cast<float>(halves[0]), static_cast<float>(halves[1])};
}

void write_row(RowFormat f, const float* from, int64_t columns, float least, float most, char* to) {
  float inverse;
  RowNumbers n = numbers_for(f, least, most, &inverse);
  std::memset(to, 0, static_cast<size_t>(f.bytes(columns)));
  for (int64_t i = 0; i < columns; ++i) {
    auto q = std::clamp<int64_t>(std::lrint((from[i] - n.bias) * inverse), 0, f.most());
    to[i / f.per_byte()] |= static_cast<char>(q << (i % f.per_byte() * f.bits));
  }
  write_numbers(f, to + f.bytes(columns) - f.tail(), n);
}

void read_row(RowFormat f, const char* from, int64_t bytes, float* to) {
  RowNumbers n = read_numbers(f, from + bytes - f.tail());
  for (int64_t i = 0; i < f.columns(bytes); ++i) {
    auto byte = static_cast<uint8_t>(from[i / f.per_byte()]);
    to[i] = static_cast<float>(byte >> (i % f.per_byte() * f.bits) & f.most()) * n.scale + n.bias;
  }
}

// The smallest and largest number of each row, or the two between which the integers are nearest to it.
struct Search {
  bool wanted = false;
  int64_t bins = 0;
  double ratio = 0;
};
Tensor extremes_of(const Tensor& table, RowFormat f, const Search& search) {
  Tensor least = ops::amin(table, IntList({-1})), most = ops::amax(table, IntList({-1}));
  Tensor both = ops::stack(std::array{ops::flatten(least), ops::flatten(most)}, 1);
  for (int64_t r = 0; search.wanted && r < both.size(0); ++r) {
    Tensor row = ops::select(ops::flatten(table, 0, -2), 0, r);
    auto [high, low] = ops::choose_qparams_optimized(row, row.numel(), search.bins, search.ratio, f.bits);
    ops::copy_(ops::select(both, 0, r), ops::cat(std::array{low, high}));
  }
  return both;
}

// A table whose elements lie in memory, to be read one after the other.
void check_table(const Tensor& table) {
  TAEDA_CHECK(table.is_cpu() && table.keys().has(Functionality::Dense), "the table must be a dense tensor on the CPU");
}

Tensor packed_rows(const Tensor& weight, const Tensor& given, RowFormat f, const Search& search) {
  check_table(weight);
  TAEDA_CHECK(weight.dim() >= 2 && weight.size(-1) > 0, "the table must be a matrix of rows; got shape ",
              weight.sizes());
  Tensor table = ops::_to_copy(ops::contiguous(weight), DType::Float32);
  int64_t columns = weight.size(-1), rows = weight.numel() / columns;
  std::vector<int64_t> sizes(weight.sizes().begin(), weight.sizes().end());
  sizes.back() = f.bytes(columns);
  Tensor result = new_tensor(sizes, DType::UInt8), extremes = given;
  if (!given.defined()) extremes = extremes_of(table, f, search);
  TAEDA_CHECK(extremes.numel() == 2 * rows, "rowwise_min_max must be (", rows, ", 2); got ", extremes.sizes());
  const float* ends = elements<float>(extremes);
  parallel_for(0, rows, std::max<int64_t>(kGrain / columns, 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      write_row(f, elements<float>(table) + r * columns, columns, ends[2 * r], ends[2 * r + 1],
                result.data<char>() + r * sizes.back());
  });
  return result;
}

Tensor unpacked_rows(const Tensor& packed, RowFormat f) {
  check_table(packed);
  TAEDA_CHECK(packed.dtype() == DType::UInt8 && packed.dim() >= 2 && packed.size(-1) >= f.tail(),
              "takes a packed table of uint8 rows; got ", packed.dtype(), " of shape ", packed.sizes());
  Tensor bytes = ops::contiguous(packed);
  int64_t width = packed.size(-1), columns = f.columns(width), rows = packed.numel() / width;
  std::vector<int64_t> sizes(packed.sizes().begin(), packed.sizes().end());
  sizes.back() = columns;
  Tensor result = new_tensor(sizes, DType::Float32);
  parallel_for(0, rows, std::max<int64_t>(kGrain / std::max<int64_t>(columns, 1), 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      read_row(f, bytes.data<char>() + r * width, width, result.data<float>() + r * columns);
  });
  return result;
}

// `rows` are those that the indices name, in their order.
Tensor bags_of(const Tensor& rows, const Tensor& indices, const Tensor& offsets, int64_t mode, const Tensor& weights,
               bool include_last_offset) {
  TAEDA_CHECK(indices.dim() == (offsets.defined() ? 1 : 2),
              "takes a vector of indices with offsets, or a matrix whose "
              "rows are bags; got indices of shape ",
              indices.sizes(), offsets.defined() ? " and offsets" : "");
  Tensor places = ops::arange(Scalar(rows.size(0))), begins;
  if (offsets.defined()) {
    begins = ops::_to_copy(offsets, DType::Int64);
  } else {
    auto end = indices.size(0) + (include_last_offset ? 1 : 0);
    begins = ops::mul(ops::arange(Scalar(end)), Scalar(indices.size(1)));
  }
  return std::get<0>(ops::embedding_bag(rows, places, begins, false, mode, false, weights, include_last_offset));
}

Tensor flat_indices(const Tensor& indices) { return ops::_to_copy(ops::reshape(indices, IntList({-1})), DType::Int64); }

// The rows that indices name. `mapping`, of a pruned table, says where each row is kept: at -1 it is zeros.
Tensor rows_at(const Tensor& table, RowFormat f, const Tensor& indices, const Tensor& mapping) {
  Tensor at = flat_indices(indices);
  if (!mapping.defined() || mapping.numel() <= 1) return unpacked_rows(ops::index_select(table, 0, at), f);
  at = ops::index_select(ops::_to_copy(mapping, DType::Int64), 0, at);
  if (table.size(0) == 0) return ops::zeros(IntList({at.numel(), f.columns(table.size(-1))}), DType::Float32);
  Tensor rows = unpacked_rows(ops::index_select(table, 0, ops::clamp(at, Scalar(0))), f);
  return ops::masked_fill(rows, ops::unsqueeze(ops::lt(at, Scalar(0)), -1), Scalar(0));
}

Tensor bag_of_bytes(const Tensor& table, RowFormat f, const Tensor& indices, const Tensor& offsets, int64_t mode,
                    bool pruned, const Tensor& weights, const Tensor& mapping, bool include_last_offset) {
  Tensor rows = rows_at(table, f, indices, pruned ? mapping : Tensor());
  return bags_of(rows, indices, offsets, mode, weights, include_last_offset);
}

// --- packed objects
enum EmbeddingSlot { kTable, kBytes, kBitRate };
const ClassType& embedding_class() {
  static const ClassType& type =
      packed::class_named("quantized.EmbeddingPackedParamsBase", {"_weight", "_bytes", "_bit_rate"});
  return type;
}
const Instance& embedding_of(const Value& value) { return packed::object(value, embedding_class()); }

// The integers of a quantised table as rows with a scale and a bias.
Tensor rows_of_quantized(const Tensor& weight, RowFormat f) {
  const Quantizer& by = *quantizer_of(weight);
  check_channels(weight, by);
  int64_t rows = weight.size(0), columns = weight.size(1), width = f.bytes(columns);
  TAEDA_CHECK(f.bits == 8 || columns % f.per_byte() == 0, "rows of ", columns, " elements do not fill bytes of ",
              f.per_byte());
  Tensor integers = ops::contiguous(ops::_integers(weight)), result = new_tensor(IntList({rows, width}), DType::UInt8);
  for (int64_t r = 0; r < rows; ++r) {
    char* to = result.data<char>() + r * width;
    std::memcpy(to, integers.data<char>() + r * (width - f.tail()), static_cast<size_t>(width - f.tail()));
    float scale = elements<float>(by.scales)[r], zero = elements<float>(by.zero_points)[r];
    write_numbers(f, to + width - f.tail(), {scale, -zero * scale});
  }
  return result;
}

Tensor bag_of_packed(const Value& value, RowFormat f, const Tensor& indices, const Tensor& offsets, int64_t mode,
                     bool pruned, const Tensor& weights, const Tensor& mapping, bool include_last_offset) {
  const Instance& e = embedding_of(value);
  TAEDA_CHECK(e.slots[kBitRate].to_int() == f.bits, "takes a table of ", f.bits, " bits; this one has ",
              e.slots[kBitRate].to_int());
  return bag_of_bytes(e.slots[kBytes].to_tensor(), f, indices, offsets, mode, pruned, weights, mapping,
                      include_last_offset);
}

Tensor looked_up(const Value& value, RowFormat f, const Tensor& indices) {
  const Instance& e = embedding_of(value);
  TAEDA_CHECK(e.slots[kBitRate].to_int() == f.bits, "takes a table of ", f.bits, " bits; this one has ",
              e.slots[kBitRate].to_int());
  Tensor rows = unpacked_rows(ops::index_select(e.slots[kBytes].to_tensor(), 0, flat_indices(indices)), f);
  std::vector<int64_t> sizes(indices.sizes().begin(), indices.sizes().end());
  sizes.push_back(rows.size(1));
  return ops::view(rows, sizes);
}

}  // namespace

#define EMBEDDING(name, bits, more, search)                                                                            \
  Tensor embedding_bag_##name##_prepack(const Tensor& weight more) { return packed_rows(weight, {}, {bits}, search); } \
  Tensor embedding_bag_##name##_prepack_with_rowwise_min_max(const Tensor& weight, const Tensor& extremes more) {      \
    return packed_rows(weight, ops::_to_copy(ops::contiguous(extremes), DType::Float32), {bits}, search);              \
  }                                                                                                                    \
  Tensor embedding_bag_##name##_unpack(const Tensor& weight) { return unpacked_rows(weight, {bits}); }                 \
  Tensor embedding_bag_##name##_rowwise_offsets(const Tensor& weight, const Tensor& indices, const Tensor& offsets,    \
                                                bool, int64_t mode, bool pruned, const Tensor& weights,                \
                                                const Tensor& mapping, bool include_last_offset) {                     \
    return bag_of_bytes(weight, {bits}, indices, offsets, mode, pruned, weights, mapping, include_last_offset);        \
  }
#define COMMA ,
#define OPTIMIZED COMMA bool optimized COMMA int64_t bins COMMA double ratio
EMBEDDING(byte, 8, , Search{})
EMBEDDING(4bit, 4, OPTIMIZED, (Search{optimized, bins, ratio}))
EMBEDDING(2bit, 2, OPTIMIZED, (Search{optimized, bins, ratio}))

#define PACKED(name, bits)                                                                                           \
  Tensor embedding_bag_##name(const Value& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, \
                              bool pruned, const Tensor& weights, const Tensor& mapping, bool include_last_offset) { \
    return bag_of_packed(weight, {bits}, indices, offsets, mode, pruned, weights, mapping, include_last_offset);     \
  }                                                                                                                  \
  Tensor embedding_##name(const Value& weight, const Tensor& indices, bool) {                                        \
    return looked_up(weight, {bits}, indices);                                                                       \
  }
PACKED(byte, 8)
PACKED(4bit, 4)

Value embedding_bag_prepack(const Tensor& weight) {
  TAEDA_CHECK(weight.dtype() == DType::QUInt8 || weight.dtype() == DType::QUInt4x2,
              "the table must be quint8 or quint4x2; got ", weight.dtype());
  const Quantizer& by = *quantizer_of(weight);
  TAEDA_CHECK(weight.dim() == 2 && by.scheme == QScheme::PerChannelAffineFloatQParams && by.axis == 0,
              "the table must be a matrix that is quantised by its first dimension with float zero points");
  RowFormat f{weight.dtype() == DType::QUInt8 ? 8 : 4};
  auto made = make_ref<Instance>(&embedding_class());
  made->slots = {weight, rows_of_quantized(weight, f), f.bits};
  return made;
}
Tensor embedding_bag_unpack(const Value& W_prepack) { return embedding_of(W_prepack).slots[kTable].to_tensor(); }

}  // namespace taeda::composite::quantized
