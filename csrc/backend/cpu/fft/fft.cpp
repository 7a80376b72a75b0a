// Fourier transforms of tensors: dimension by dimension, blocks of lines in parallel.
#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cpu/fft/fft_run.h"
#include "backend/cpu/ops/fft.h"
#include "core/insertion_sort.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/fft.h"

namespace taeda::cpu {

namespace {

using namespace fft;

// One dimension of `in` and `out`, and where its lines lie: the other dimensions, those with the smallest strides of
// `in` innermost. Distances are in real numbers.
class Lines {
 public:
  Lines(const Tensor& in, const Tensor& out, int64_t dim)
      : in_step(in.strides()[dim] * parts(in)), out_step(out.strides()[dim] * parts(out)) {
    for (int64_t d = 0; d < in.dim(); ++d)
      if (d != dim && in.sizes()[d] != 1) {
        dims_.push_back({in.sizes()[d], in.strides()[d] * parts(in), out.strides()[d] * parts(out)});
        count *= in.sizes()[d];
      }
    insertion_sort(dims_.begin(), dims_.end(), [](const Dim& a, const Dim& b) { return a.in < b.in; });
  }

  // Of the lines from `first` on.
  void offsets(int64_t first, int64_t lines, int64_t* in, int64_t* out) const {
    std::array<int64_t, kMaxDim> index;
    int64_t in_at = 0, out_at = 0;
    for (size_t d = 0; d < dims_.size(); ++d) {
      index[d] = first % dims_[d].size, first /= dims_[d].size;
      in_at += index[d] * dims_[d].in, out_at += index[d] * dims_[d].out;
    }
    for (int64_t l = 0; l < lines; ++l) {
      in[l] = in_at, out[l] = out_at;
      for (size_t d = 0; d < dims_.size(); ++d) {
        in_at += dims_[d].in, out_at += dims_[d].out;
        if (++index[d] < dims_[d].size) break;
        in_at -= dims_[d].in * dims_[d].size, out_at -= dims_[d].out * dims_[d].size;
        index[d] = 0;
      }
    }
  }
  // How far neighbouring lines of `in` are from each other.
  int64_t apart() const { return dims_.empty() ? 0 : dims_[0].in; }

  int64_t in_step, out_step, count = 1;

 private:
  static int64_t parts(const Tensor& t) { return is_complex(t.dtype()) ? 2 : 1; }
  struct Dim {
    int64_t size, in, out;
  };
  std::vector<Dim> dims_;
};

constexpr int64_t kShort = 64;       // up to this length lines are interleaved, even if that means turning them
constexpr int64_t kPiece = 1 << 14;  // numbers that one thread takes at a time
constexpr int64_t kPart = 1 << 17;   // numbers that are transformed along all dimensions before others are

// body(first, lines, lanes, in offsets, out offsets, room) for all lines in blocks; `room` is what each of two buffers
// holds.
template <class T, class F>
void each_block(const Lines& lines, int64_t n, int64_t rows, bool single, const F& body) {
  int64_t lanes = loops<T>().lanes;
  const bool adjacent = lines.in_step != 1 && lines.in_step != 2;
  if (single || lines.count < std::max<int64_t>(2, lanes / 4) || (!adjacent && n > kShort)) lanes = 1;
  const int64_t blocks = (lines.count + lanes - 1) / lanes;
  const int64_t grain = single ? blocks : std::max<int64_t>(1, kPiece / (n * lanes));
  parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    Buffer<T> a(rows * lanes), b(rows * lanes);
    std::array<int64_t, kMaxLanes> in, out;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * lanes, some = std::min(lanes, lines.count - first);
      lines.offsets(first, some, in.data(), out.data());
      body(lanes, some, in.data(), out.data(), a.split(), b.split());
    }
  });
}

template <class T>
Split<const T> constant(Split<T> x) {
  return {x.re, x.im};
}

// --- complex to complex; `out` may be `in`

template <class T>
void transform_complex(const Tensor& in, const Tensor& out, int64_t dim, bool forward, T scale) {
  const int64_t n = in.sizes()[dim];
  const auto plan = plan_of<T>(n);
  const Loops<T>& l = loops<T>();
  const Lines lines(in, out, dim);
  const T* from = in.data<T>();
  T* to = out.data<T>();
  each_block<T>(lines, n, plan->matrix ? 0 : plan->rows, plan->single(),
                [&](int64_t lanes, int64_t some, const int64_t* ins, const int64_t* outs, Split<T> a, Split<T> b) {
                  const Strided<const T> read{from, from + 1, ins, some, lines.in_step};
                  const Strided<T> write{to, to + 1, outs, some, lines.out_step};
                  if (plan->matrix) return run_matrix(*plan->matrix, !forward, read, scale, write);
                  l.gather(read, n, lanes, forward ? a : a.swapped());
                  Split<T> x = run(*plan, lanes, a, b);
                  l.scatter(constant(forward ? x : x.swapped()), n, lanes, scale, write);
                });
}

// --- real to complex

// The second half of n results mirrors the first.
template <class T>
void mirror(Split<T> x, int64_t n, int64_t lanes) {
  for (int64_t k = n / 2 + 1; k < n; ++k)
    for (int64_t l = 0; l < lanes; ++l) {
      x.re[k * lanes + l] = x.re[(n - k) * lanes + l];
      x.im[k * lanes + l] = -x.im[(n - k) * lanes + l];
    }
}

template <class T>
void transform_real(const Tensor& in, const Tensor& out, int64_t dim, bool onesided, T scale) {
  const int64_t n = in.sizes()[dim], results = onesided ? n / 2 + 1 : n;
  const auto plan = real_plan_of<T>(n);
  const bool packed = n % 2 == 0;
  const Loops<T>& l = loops<T>();
  const Lines lines(in, out, dim);
  const T* from = in.data<T>();
  T* to = out.data<T>();
  each_block<T>(lines, plan->plan->n, std::max(plan->plan->rows, n) + 1, plan->plan->single(),
                [&](int64_t lanes, int64_t some, const int64_t* ins, const int64_t* outs, Split<T> a, Split<T> b) {
                  const int64_t step = lines.in_step;
                  Split<T> x;
                  if (packed) {
                    l.gather({from, from + step, ins, some, 2 * step}, n / 2, lanes, a);
                    Split<T> z = run(*plan->plan, lanes, a, b);
                    x = z.re == a.re ? b : a;
                    l.unpack(constant(z), n / 2, lanes, plan->turns.view(), x);
                  } else {
                    l.gather({from, nullptr, ins, some, step}, n, lanes, a);
                    x = run(*plan->plan, lanes, a, b);
                  }
                  if (!onesided) mirror(x, n, lanes);
                  l.scatter(constant(x), results, lanes, scale, {to, to + 1, outs, some, lines.out_step});
                });
}

// --- complex to real

template <class T>
void transform_to_real(const Tensor& in, const Tensor& out, int64_t dim, T scale) {
  const int64_t n = out.sizes()[dim], half = n / 2 + 1;
  const auto plan = real_plan_of<T>(n);
  const bool packed = n % 2 == 0;
  const Loops<T>& l = loops<T>();
  const Lines lines(in, out, dim);
  const T* from = in.data<T>();
  T* to = out.data<T>();
  each_block<T>(lines, plan->plan->n, std::max(plan->plan->rows, n) + 1, plan->plan->single(),
                [&](int64_t lanes, int64_t some, const int64_t* ins, const int64_t* outs, Split<T> a, Split<T> b) {
                  l.gather({from, from + 1, ins, some, lines.in_step}, half, lanes, a);
                  const int64_t step = lines.out_step;
                  if (packed) {
                    l.pack(constant(a), n / 2, lanes, plan->turns.view(), b);
                    Split<T> x = run(*plan->plan, lanes, b.swapped(), a.swapped()).swapped();
                    l.scatter(constant(x), n / 2, lanes, scale, {to, to + step, outs, some, 2 * step});
                  } else {
                    std::fill_n(a.im, lanes, T(0));  // of the first number only the real part counts
                    mirror(a, n, lanes);
                    Split<T> x = run(*plan->plan, lanes, a.swapped(), b.swapped()).swapped();
                    l.scatter(constant(x), n, lanes, scale, {to, nullptr, outs, some, step});
                  }
                });
}

// --- several dimensions

std::vector<int64_t> wrapped(const Tensor& self, IntList dim) {
  std::vector<int64_t> dims;
  for (int64_t d : dim) dims.push_back(wrap_dim(d, self.dim()));
  return dims;
}

// Of the larger tensor's sizes along `dims`.
double scale_of(int64_t normalization, const Tensor& t, IntList dims) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(t.sizes()[d]);
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
}

template <class F>
void visit_real(DType dtype, const F& body) {
  if (to_real(dtype) == DType::Float32)
    body.template operator()<float>();
  else
    body.template operator()<double>();
}

// `count` of the positions of a dimension.
Tensor part(const Tensor& t, int64_t dim, int64_t begin, int64_t count) {
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  sizes[static_cast<size_t>(dim)] = count;
  return new_alias(t, sizes, t.strides(), t.storage_offset() + begin * t.strides()[dim]);
}

// Of which neighbouring positions are farthest apart; -1 if all sizes are 1.
int64_t outermost(const Tensor& t) {
  int64_t outer = -1;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] > 1 && (outer < 0 || t.strides()[d] > t.strides()[outer])) outer = d;
  return outer;
}

// The last of `dims` by last(in, out, scale), then the others in place. What does not fit into a cache is cut along
// its outermost dimension, which comes last if it is to be transformed itself.
template <class T, class F>
void transform_all(const Tensor& in, const Tensor& out, std::vector<int64_t> dims, bool forward, double scale,
                   const F& last) {
  if (dims.size() == 1) return last(in, out, T(scale));
  const int64_t outer = outermost(out);
  if (out.numel() <= kPart || outer < 0 || outer == dims.back()) {
    last(in, out, T(1));
    for (size_t i = dims.size() - 1; i-- > 0;) transform_complex<T>(out, out, dims[i], forward, i ? T(1) : T(scale));
    return;
  }
  const bool itself = std::erase(dims, outer) > 0;
  const int64_t size = out.sizes()[outer], step = std::max<int64_t>(1, kPart / (out.numel() / size));
  for (int64_t i = 0; i < size; i += step) {
    const int64_t count = std::min(step, size - i);
    transform_all<T>(part(in, outer, i, count), part(out, outer, i, count), dims, forward, itself ? 1 : scale, last);
  }
  if (itself) transform_complex<T>(out, out, outer, forward, T(scale));
}

}  // namespace

void _fft_c2c(const Tensor& self, IntList dim, int64_t normalization, bool forward, const Tensor& out) {
  const std::vector<int64_t> dims = wrapped(self, dim);
  if (dims.empty()) return void(ops::copy_(out, self));
  if (out.numel() == 0) return;
  const double scale = scale_of(normalization, self, dims);
  visit_real(self.dtype(), [&]<class T>() {
    transform_all<T>(self, out, dims, forward, scale, [&](const Tensor& from, const Tensor& to, T factor) {
      transform_complex<T>(from, to, dims.back(), forward, factor);
    });
  });
}

void _fft_r2c(const Tensor& self, IntList dim, int64_t normalization, bool onesided, const Tensor& out) {
  const std::vector<int64_t> dims = wrapped(self, dim);
  if (out.numel() == 0) return;
  const double scale = scale_of(normalization, self, dims);
  visit_real(self.dtype(), [&]<class T>() {
    transform_all<T>(self, out, dims, true, scale, [&](const Tensor& from, const Tensor& to, T factor) {
      transform_real<T>(from, to, dims.back(), onesided, factor);
    });
  });
}

void _fft_c2r(const Tensor& self, IntList dim, int64_t normalization, int64_t, const Tensor& out) {
  const std::vector<int64_t> dims = wrapped(self, dim);
  if (out.numel() == 0) return;
  const double scale = scale_of(normalization, out, dims);
  const IntList others = IntList(dims).first(dims.size() - 1);
  const Tensor between = others.empty() ? self : ops::_fft_c2c(self, others, 0, false);
  visit_real(self.dtype(), [&]<class T>() { transform_to_real<T>(between, out, dims.back(), T(scale)); });
}

}  // namespace taeda::cpu
