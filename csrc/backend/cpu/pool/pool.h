// What the pooling kernels share: planes that are pooled one by one, and which part of a row of windows sees the image.
#pragma once
#include "backend/cpu/conv/im2col.h"
#include "backend/cpu/engine/row_kernels.h"
#include "shape/pool_rules.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu {

// (outer, positions, inner): planes of single numbers, or where channels come last of vectors of `inner` channels.
struct Planes {
  MemoryFormat format = MemoryFormat::Contiguous;
  int64_t outer = 1, inner = 1;

  // As the results are laid out.
  Planes(const Tensor& out, int64_t rank) {
    for (int64_t d = 0; d < out.dim() - rank; ++d) outer *= out.sizes()[d];
    if (out.is_contiguous() || out.dim() != rank + 2) return;
    format = rank == 2 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
    inner = out.sizes()[1];
    outer = out.sizes()[0];
  }
};

// Positions in [from, to) of a row of `count` windows at which the element `offset` after a window's start lies inside.
struct Visible {
  int64_t from, to;
  Visible(int64_t offset, int64_t image, int64_t count, int64_t stride) {
    from = offset >= 0 ? 0 : std::min(count, (-offset + stride - 1) / stride);
    to = offset >= image ? from : std::clamp((image - 1 - offset) / stride + 1, from, count);
  }
  int64_t count() const { return to - from; }
};

inline Windows pool_windows(const shape::PoolGeometry& g) {
  return {g.image, g.kernel, g.count, g.stride, g.padding, g.dilation};
}
inline bool inside(int64_t position, int64_t size) { return position >= 0 && position < size; }

inline int64_t planes_per_piece(int64_t cost) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(cost, 1)); }

}  // namespace taeda::cpu
