#include "backend/cpu/quantized/conv_tiles.h"

#include <algorithm>
#include <cstring>

#include "core/elements.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu::quantized {

namespace {

constexpr int64_t kPiece = 96;  // places whose rows are read together

// Neighbours under the filter along the last dimension lie in a row.
bool joins_neighbours(const Geometry& g) { return g.groups == 1 && g.dilation.back() == 1; }

Sizes taps_along(const Geometry& g) {
  Sizes along = g.kernel;
  if (joins_neighbours(g)) along.back() = 1;
  return along;
}

// Of each group.
Shape shape_of(const Geometry& g) {
  const int64_t channels = g.c / g.groups;
  return {g.filters / g.groups, product_of(taps_along(g)), joins_neighbours(g) ? g.kernel.back() * channels : channels};
}

// Positions in an image, in its order.
class Position {
 public:
  Position(const Sizes& sizes, const Sizes& steps, const Geometry& g, int64_t index)
      : sizes_(sizes), at_(sizes.size()) {
    int64_t distance = g.c;
    for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) {
      at_[d] = index % sizes[d];
      steps_.insert(steps_.begin(), distance * steps[d]);
      distance *= g.padded[d];
      offset_ += at_[d] * steps_[0];
    }
  }
  int64_t offset() const { return offset_; }
  void next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      offset_ += steps_[d];
      if (++at_[d] < sizes_[d]) return;
      offset_ -= at_[d] * steps_[d];
      at_[d] = 0;
    }
  }

 private:
  const Sizes& sizes_;
  Sizes at_, steps_;
  int64_t offset_ = 0;
};

// Where what is under the filter lies, in bytes.
Sizes distances_of(const Geometry& g, int64_t element) {
  Sizes along = taps_along(g), distances;
  Position at(along, g.dilation, g, 0);
  for (int64_t t = product_of(along); t > 0; --t, at.next()) distances.push_back(at.offset() * element);
  return distances;
}

Epilogue from_column(Epilogue e, int64_t first) {
  e.sums += first;
  e.factors += first;
  if (e.zeros) e.zeros += first;
  if (e.bias) e.bias += first;
  return e;
}

// A group's products after another's.
void multiply_groups(const Tiles& own, const Geometry& g, Product p, Rows rows, char* to, int64_t step) {
  const Shape s = p.shape;
  const Epilogue& all = p.epilogue;
  const char* starts[kPiece];
  const std::span of_group(starts, rows.size());
  std::ranges::copy(rows, of_group.begin());
  for (int64_t k = 0; k < g.groups; ++k, to += s.columns * all.result_size()) {
    const Epilogue e = from_column(all, k * s.columns);
    own.multiply({s, p.taps, p.weights + k * own.bytes(s), e}, of_group, to, step, 0, s.columns);
    for (const char*& row : of_group) row += s.run * own.element;
  }
}

}  // namespace

bool is_depthwise(const Geometry& g) { return g.groups > 1 && g.groups == g.c && g.groups == g.filters; }

const Tiles* tiles_for(const Geometry& g) {
  const Tiles* own = product_of(g.kernel) > 0 ? tiles() : nullptr;
  return own && (own->takes_groups || g.groups == 1 || is_depthwise(g)) ? own : nullptr;
}

Tensor pack_filter(const Tiles& own, const Geometry& g, const Tensor& weight) {
  auto w = static_cast<const int8_t*>(weight.data());
  const int64_t taps = product_of(g.kernel), joined = joins_neighbours(g) ? g.kernel.back() : 1;
  const Shape s = shape_of(g);
  const Depthwise apart{g.c, taps};
  Tensor packed =
      new_tensor(IntList({is_depthwise(g) ? own.depthwise_bytes(apart) : g.groups * own.bytes(s)}), DType::UInt8);
  auto to = static_cast<int8_t*>(packed.data());
  std::memset(to, 0, static_cast<size_t>(packed.numel()));
  const int64_t channels = g.c / g.groups;
  for (int64_t f = 0; f < g.filters; ++f)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t) {
        int64_t at = is_depthwise(g) ? own.depthwise_place(apart, f, t)
                                     : f / s.columns * own.bytes(s) +
                                           own.place_of(s, f % s.columns, t / joined, t % joined * channels + c);
        to[at] = w[(f * channels + c) * taps + t];
      }
  return packed;
}

void convolve(const Tiles& own, const Geometry& g, const char* image, const Tensor& packed, const Epilogue& e,
              char* to) {
  const Sizes taps = distances_of(g, own.element);
  const Shape s = shape_of(g);
  const Depthwise apart{g.c, static_cast<int64_t>(taps.size())};
  check_packed(packed, is_depthwise(g) ? own.depthwise_bytes(apart) : g.groups * own.bytes(s));
  auto weights = static_cast<const int8_t*>(packed.data());
  const int64_t places = product_of(g.result), step = g.filters * e.result_size();
  const int64_t products = s.taps * (is_depthwise(g) ? g.c : s.run * g.filters);
  const int64_t grain = (std::max(kPiece, (int64_t{1} << 20) / products) + kPiece - 1) / kPiece * kPiece;
  parallel_for(0, places, grain, [&](int64_t begin, int64_t end) {
    Position at(g.result, g.stride, g, begin);
    const char* rows[kPiece];
    for (int64_t first = begin; first < end; first += kPiece) {
      const auto count = static_cast<size_t>(std::min(kPiece, end - first));
      for (size_t i = 0; i < count; ++i, at.next()) rows[i] = image + at.offset() * own.element;
      if (is_depthwise(g))
        own.depthwise(apart, taps.data(), weights, e, {rows, count}, to + first * step);
      else
        multiply_groups(own, g, {s, taps.data(), weights, e}, {rows, count}, to + first * step, step);
    }
  });
}

}  // namespace taeda::cpu::quantized
