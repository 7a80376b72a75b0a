// Resizing one dimension: every result is a weighted sum of a few elements, listed once in a table. The gradient is the
// same sum over the transposed table.
#include <cmath>

#include "backend/cpu/engine/row_kernels.h"
#include "backend/cpu/ops/upsample.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

enum Mode : int64_t { kNearest, kNearestExact, kLinear, kCubic, kLinearAll, kCubicAll };

struct Tap {
  int64_t from;
  double weight;
};
using Taps = std::vector<std::vector<Tap>>;  // per result

// Keys' cubic convolution kernel (R. Keys, 1981).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

std::vector<Tap> nearest(int64_t i, int64_t in, float ratio, float shift) {
  return {{std::min<int64_t>(static_cast<int64_t>(std::floor((static_cast<float>(i) + shift) * ratio)), in - 1), 1}};
}

std::vector<Tap> linear(double place, int64_t in) {
  int64_t low = std::min(static_cast<int64_t>(place), in - 1);
  double share = std::clamp(place - static_cast<double>(low), 0.0, 1.0);
  if (low + 1 >= in || share == 0) return {{low, 1}};
  return {{low, 1 - share}, {low + 1, share}};
}

std::vector<Tap> cubics(double place, int64_t in) {
  auto low = static_cast<int64_t>(std::floor(place));
  std::vector<Tap> taps;
  for (int64_t k = low - 1; k <= low + 2; ++k) {  // pixels outside are the one at the edge
    const int64_t from = std::clamp<int64_t>(k, 0, in - 1);
    const double weight = cubic(place - static_cast<double>(k), -0.75);
    if (!taps.empty() && taps.back().from == from)
      taps.back().weight += weight;
    else
      taps.push_back({from, weight});
  }
  return taps;
}

// The filter is as wide as the pixels that one result stands for.
std::vector<Tap> filtered(int64_t i, int64_t in, double ratio, bool is_cubic) {
  const double stretch = std::max(ratio, 1.0), support = (is_cubic ? 2 : 1) * stretch,
               center = ratio * (static_cast<double>(i) + 0.5);
  auto first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
  auto last = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), in);
  std::vector<Tap> taps;
  double total = 0;
  for (int64_t k = first; k < last; ++k) {
    double x = (static_cast<double>(k) - center + 0.5) / stretch;
    taps.push_back({k, is_cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::abs(x))});
    total += taps.back().weight;
  }
  for (Tap& t : taps)
    if (total != 0) t.weight /= total;
  return taps;
}

Taps table(int64_t in, int64_t out, int64_t mode, bool align_corners, std::optional<double> scale) {
  double ratio = scale && *scale > 0 ? 1 / *scale : static_cast<double>(in) / static_cast<double>(out);
  if (align_corners) ratio = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  Taps taps(out);
  for (int64_t i = 0; i < out; ++i) {
    double place = align_corners ? ratio * static_cast<double>(i) : ratio * (static_cast<double>(i) + 0.5) - 0.5;
    switch (mode) {
      case kNearest:
      case kNearestExact:
        taps[i] = nearest(i, in, static_cast<float>(ratio), mode == kNearest ? 0.0f : 0.5f);
        break;
      case kLinear:
        taps[i] = linear(std::max(place, 0.0), in);
        break;
      case kCubic:
        taps[i] = cubics(place, in);
        break;
      default:
        taps[i] = filtered(i, in, ratio, mode == kCubicAll);
    }
  }
  return taps;
}

Taps transposed(const Taps& taps, int64_t in) {
  Taps result(in);
  for (size_t i = 0; i < taps.size(); ++i)
    for (const Tap& t : taps[i]) result[t.from].push_back({static_cast<int64_t>(i), t.weight});
  return result;
}

template <class T>
void sum_vectors(const std::vector<Tap>& taps, const T* from, T* to, int64_t inner) {
  const RowKernels<T>& rows = row_kernels<T>();
  if (taps.empty()) return void(std::fill_n(to, inner, T(0)));
  if (taps[0].weight == 1)
    std::copy_n(from + taps[0].from * inner, inner, to);
  else
    rows.affine(from + taps[0].from * inner, to, inner, static_cast<T>(taps[0].weight), 0);
  for (size_t k = 1; k < taps.size(); ++k)
    rows.scale_add(from + taps[k].from * inner, to, inner, static_cast<T>(taps[k].weight));
}

// Taps as flat lists, for rows whose results are single numbers.
template <class T>
struct Flat {
  std::vector<int32_t> from;
  std::vector<T> weight;
  std::vector<size_t> end;
  bool picks = true;  // each result is one element
  explicit Flat(const Taps& taps) {
    for (const auto& list : taps) {
      for (const Tap& t : list)
        from.push_back(static_cast<int32_t>(t.from)), weight.push_back(static_cast<T>(t.weight));
      end.push_back(from.size());
      picks &= list.size() == 1 && list[0].weight == 1;
    }
  }
  void run(const T* in, T* out) const {
    if (picks) {
      for (size_t i = 0; i < from.size(); ++i) out[i] = in[from[i]];
      return;
    }
    size_t k = 0;
    for (size_t i = 0; i < end.size(); ++i) {
      T sum = 0;
      for (; k < end[i]; ++k) sum += weight[k] * in[from[k]];
      out[i] = sum;
    }
  }
};

// (outer, n, inner) in the order of memory, where the dimension resized has n elements.
struct Lines {
  Tensor x;
  int64_t outer = 1, inner = 1;

  Lines(const Tensor& self, int64_t dim, const Tensor& out) {
    const bool dense = out.is_contiguous();
    x = ops::contiguous(self, dense             ? MemoryFormat::Contiguous
                              : self.dim() == 4 ? MemoryFormat::ChannelsLast
                                                : MemoryFormat::ChannelsLast3d);
    for (int64_t d = 0; d < self.dim(); ++d) {
      const bool before = dense ? d < dim : (d < dim && d != 1) || (dim == 1 && d != 1);
      if (d != dim) (before ? outer : inner) *= x.sizes()[d];
    }
  }
};

void apply(const Tensor& self, int64_t dim, const Taps& taps, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  const Lines lines(self, dim, out);
  const int64_t n = self.sizes()[dim], m = out.sizes()[dim], inner = lines.inner;
  auto run = [&]<class T>() {
    Flat<T> flat(taps);
    parallel_for(0, lines.outer, std::max<int64_t>(1, kGrain / (m * inner)), [&](int64_t begin, int64_t end) {
      RowReader<T> in(lines.x, n * inner);
      RowWriter<T> to(out, m * inner);
      for (int64_t p = begin; p < end; ++p) {
        const T* from = in(p * n * inner, n * inner);
        T* target = to.at(p * m * inner);
        if (inner == 1)
          flat.run(from, target);
        else
          for (int64_t i = 0; i < m; ++i) sum_vectors<T>(taps[i], from, target + i * inner, inner);
        to.done(p * m * inner, m * inner);
      }
    });
  };
  self.dtype() == DType::UInt8 ? run.operator()<float>() : visit_compute(self.dtype(), run);
}

// Bytes are weighted by whole numbers: as many bits as let the largest weight fit into 16.
struct WholeTaps {
  int bits = 0;
  std::vector<int64_t> from, end;
  std::vector<int32_t> weight;

  explicit WholeTaps(const Taps& taps) {
    double most = 0;
    for (const auto& list : taps)
      for (const Tap& t : list) most = std::max(most, t.weight);
    while (bits < 22 && static_cast<int>(0.5 + most * (1 << (bits + 1))) < (1 << 15)) ++bits;
    for (const auto& list : taps) {
      for (const Tap& t : list) {
        from.push_back(t.from);
        weight.push_back(static_cast<int32_t>(t.weight * (1 << bits) + (t.weight < 0 ? -0.5 : 0.5)));
      }
      end.push_back(static_cast<int64_t>(from.size()));
    }
  }
};

void apply_bytes(const Tensor& self, int64_t dim, const WholeTaps& taps, const Tensor& out) {
  if (out.numel() == 0) return;
  dim = wrap_dim(dim, self.dim());
  const Lines lines(self, dim, out);
  const int64_t n = self.sizes()[dim], m = out.sizes()[dim], inner = lines.inner;
  parallel_for(0, lines.outer, std::max<int64_t>(1, kGrain / (m * inner)), [&](int64_t begin, int64_t end) {
    std::vector<int32_t> sums(inner);
    for (int64_t p = begin; p < end; ++p) {
      const uint8_t* image = lines.x.data<uint8_t>() + p * n * inner;
      uint8_t* to = out.data<uint8_t>() + p * m * inner;
      int64_t k = 0;
      for (int64_t i = 0; i < m; ++i, to += inner) {
        std::fill(sums.begin(), sums.end(), taps.bits ? 1 << (taps.bits - 1) : 0);
        for (; k < taps.end[i]; ++k)
          for (int64_t j = 0; j < inner; ++j) sums[j] += taps.weight[k] * image[taps.from[k] * inner + j];
        for (int64_t j = 0; j < inner; ++j) to[j] = static_cast<uint8_t>(std::clamp(sums[j] >> taps.bits, 0, 255));
      }
    }
  });
}

}  // namespace

void resample(const Tensor& self, int64_t dim, int64_t size, int64_t mode, bool align_corners,
              std::optional<double> scale, const Tensor& out) {
  const Taps taps = table(self.size(dim), size, mode, align_corners, scale);
  const bool whole = self.dtype() == DType::UInt8 && mode >= kLinear;
  whole ? apply_bytes(self, dim, WholeTaps(taps), out) : apply(self, dim, taps, out);
}

void resample_backward(const Tensor& upper, int64_t dim, int64_t size, int64_t mode, bool align_corners,
                       std::optional<double> scale, const Tensor& out) {
  apply(upper, dim, transposed(table(size, upper.size(dim), mode, align_corners, scale), size), out);
}

}  // namespace taeda::cpu
