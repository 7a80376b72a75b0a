// The family of Fourier transforms over its three primitives: what is cut, padded and scaled before.
#include <algorithm>

#include "composite/ops/fft.h"
#include "composite/options.h"
#include "shape/spec.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/fft.h"
#include "taeda/ops/join.h"
#include "taeda/ops/pad.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

using shape::Dims;
using OptionalList = std::optional<IntList>;
using Norm = std::optional<std::string_view>;

// What the primitives know `norm` as.
int64_t normalization(Norm norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? 0 : 2;
  if (*norm == "forward") return forward ? 2 : 0;
  TAEDA_CHECK(*norm == "ortho", "norm must be 'backward', 'ortho' or 'forward'; got '", *norm, "'");
  return 1;
}

// Integers become the default dtype.
Tensor with_fractions(const Tensor& self) {
  const DType dtype = self.dtype();
  TAEDA_CHECK(compute_type(dtype) == dtype, "is for float32, float64 and complex numbers; got ", dtype);
  return is_differentiable(dtype) ? self : ops::_to_copy(self, default_dtype());
}
Tensor as_complex(const Tensor& self) {
  Tensor t = with_fractions(self);
  return is_complex(t.dtype()) ? t : ops::_to_copy(t, to_complex(t.dtype()));
}
Tensor as_real(const Tensor& self) {
  TAEDA_CHECK(!is_complex(self.dtype()), "real numbers are wanted; got ", self.dtype());
  return with_fractions(self);
}

int64_t dimension(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) TAEDA_FAIL(Index, "dim ", dim, " is wanted of a tensor without dimensions");
  return wrap_dim(dim, self.dim());
}

void check_points(int64_t n) { TAEDA_CHECK(n >= 1, "there must be numbers to transform, at least 1; got n=", n); }

// Cut to `sizes` along `dims`, or padded with zeros.
Tensor resized(Tensor t, const Dims& dims, const Dims& sizes) {
  std::vector<int64_t> pad(static_cast<size_t>(2 * t.dim()));
  bool padded = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = t.sizes()[dims[i]];
    if (sizes[i] < size) t = ops::slice(t, dims[i], 0, sizes[i]);
    if (sizes[i] <= size) continue;
    pad[pad.size() - 1 - 2 * static_cast<size_t>(dims[i])] = sizes[i] - size;
    padded = true;
  }
  return padded ? ops::constant_pad_nd(t, pad, Scalar(0)) : t;
}

// --- one dimension

struct Line {
  Tensor input;
  Dims dim;
  int64_t n;
};
// `half`: n / 2 + 1 numbers stand for n.
Line line(const Tensor& input, std::optional<int64_t> n, int64_t dim, bool half = false) {
  const int64_t at = dimension(input, dim), size = input.sizes()[at];
  const int64_t count = n.value_or(half ? 2 * (size - 1) : size);
  check_points(count);
  const Dims dims{at};
  return {n ? resized(input, dims, Dims{half ? count / 2 + 1 : count}) : input, dims, count};
}

Tensor from_complex(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  Tensor input = with_fractions(self);
  Line x = line(input, n, dim);
  if (is_complex(input.dtype())) return ops::_fft_c2c(x.input, x.dim, normalization(norm, forward), forward);
  Tensor result = ops::_fft_r2c(x.input, x.dim, normalization(norm, forward), false);
  return forward ? result : ops::conj(result);
}

Tensor from_real(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  Line x = line(as_real(self), n, dim);
  Tensor result = ops::_fft_r2c(x.input, x.dim, normalization(norm, forward), true);
  return forward ? result : ops::conj(result);
}

Tensor to_real(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm, bool forward) {
  Line x = line(as_complex(self), n, dim, true);
  return ops::_fft_c2r(forward ? ops::conj(x.input) : x.input, x.dim, normalization(norm, forward), x.n);
}

// --- several

struct Box {
  Tensor input;
  Dims dims;
  int64_t last;  // the last size, before it is halved
  Dims others() const {
    Dims result(dims);
    result.erase(result.size() - 1);
    return result;
  }
  Dims last_dim() const { return {dims[dims.size() - 1]}; }
};

Dims dims_of(const Tensor& input, OptionalList s, OptionalList dim) {
  Dims dims;
  if (dim) {
    for (int64_t d : *dim) {
      const int64_t at = dimension(input, d);
      TAEDA_CHECK(std::find(dims.begin(), dims.end(), at) == dims.end(), "dim must name a dimension once; got ", *dim);
      dims.push_back(at);
    }
    TAEDA_CHECK(!s || s->size() == dims.size(), "s and dim must be of one length; got ", *s, " and ", *dim);
    return dims;
  }
  const int64_t rank = input.dim(), count = s ? static_cast<int64_t>(s->size()) : rank;
  TAEDA_CHECK(count <= rank, "s must have at most as many sizes as self has dimensions, ", rank, "; got ", *s);
  for (int64_t d = rank - count; d < rank; ++d) dims.push_back(d);
  return dims;
}

// A size of -1 is that of the input. `half`: of the last dimension, half stands for the whole.
Box box(const Tensor& input, OptionalList s, OptionalList dim, bool some, bool half = false) {
  Box x{{}, dims_of(input, s, dim), 0};
  TAEDA_CHECK(!some || !x.dims.empty(), "needs a dimension to transform; got none");
  Dims sizes;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    const int64_t wanted = s ? (*s)[i] : -1, size = input.sizes()[x.dims[i]];
    const bool halved = half && i + 1 == x.dims.size();
    x.last = wanted != -1 ? wanted : halved ? 2 * (size - 1) : size;
    check_points(x.last);
    sizes.push_back(halved ? x.last / 2 + 1 : x.last);
  }
  x.input = resized(input, x.dims, sizes);
  return x;
}

Tensor from_complex(const Tensor& self, OptionalList s, OptionalList dim, Norm norm, bool forward) {
  Box x = box(as_complex(self), s, dim, false);
  return ops::_fft_c2c(x.input, x.dims, normalization(norm, forward), forward);
}

Tensor from_real(const Tensor& self, OptionalList s, OptionalList dim, Norm norm, bool forward) {
  Box x = box(as_real(self), s, dim, true);
  const int64_t mode = normalization(norm, forward);
  if (forward) return ops::_fft_r2c(x.input, x.dims, mode, true);
  Tensor line = ops::_fft_r2c(x.input, x.last_dim(), mode, true);
  if (x.dims.size() == 1) return ops::conj(line);
  return ops::_fft_c2c(ops::conj_physical(line), x.others(), mode, false);
}

Tensor to_real(const Tensor& self, OptionalList s, OptionalList dim, Norm norm, bool forward) {
  Box x = box(as_complex(self), s, dim, true, true);
  const int64_t mode = normalization(norm, forward);
  if (!forward) return ops::_fft_c2r(x.input, x.dims, mode, x.last);
  Tensor half = x.dims.size() == 1 ? x.input : ops::_fft_c2c(x.input, x.others(), mode, true);
  return ops::_fft_c2r(ops::conj(half), x.last_dim(), mode, x.last);
}

}  // namespace

// --- gradients of the primitives

Tensor _fft_c2c_backward(const Tensor& grad, IntList dim, int64_t normalization, bool forward) {
  return ops::_fft_c2c(grad, dim, normalization, !forward);
}

// Of a two-sided transform, the real part of the backward one; a one-sided one gave no more than zeros beyond its half.
Tensor _fft_r2c_backward(const Tensor& grad, IntList sizes, IntList dim, int64_t normalization, bool onesided) {
  TAEDA_CHECK(!dim.empty(), "dim is empty");
  TAEDA_CHECK(static_cast<int64_t>(sizes.size()) == grad.dim() && grad.dim(), "sizes ", sizes,
              " are not those of a tensor of ", grad.dim(), " dimensions, or have none to transform");
  const int64_t last = wrap_dim(dim.back(), grad.dim());
  Tensor whole = onesided ? resized(grad, Dims{last}, Dims{sizes[static_cast<size_t>(last)]}) : grad;
  return ops::real(ops::_fft_c2c(whole, dim, normalization, false));
}

Tensor _fft_c2r_backward(const Tensor& grad, IntList dim, int64_t normalization) {
  TAEDA_CHECK(!dim.empty(), "dim is empty");
  const int64_t last = wrap_dim(dim.back(), grad.dim()), n = grad.sizes()[last];
  Tensor half = ops::_fft_r2c(grad, dim, normalization, true);
  // All but the first and, of an even length, the middle number stand for two.
  const int64_t twice = n - n / 2 - 1;
  if (twice == 0) return half;
  std::vector<int64_t> shape(static_cast<size_t>(grad.dim()), 1);
  shape[static_cast<size_t>(last)] = n / 2 + 1;
  Tensor k = ops::arange(Scalar(0), Scalar(n / 2 + 1), Scalar(1), DType::Int64, std::nullopt, grad.device());
  Tensor inside = ops::logical_and(ops::gt(k, Scalar(0)), ops::le(k, Scalar(twice)));
  Tensor weights = ops::add(ops::_to_copy(inside, grad.dtype()), Scalar(1));
  return ops::mul(half, ops::view(weights, shape));
}

// --- the family

#define TAEDA_FFT(name, transform, forward)                                                 \
  Tensor fft_##name(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) { \
    return transform(self, n, dim, norm, forward);                                          \
  }                                                                                         \
  Tensor fft_##name##2(const Tensor& self, OptionalList s, IntList dim, Norm norm) {        \
    return transform(self, s, OptionalList(dim), norm, forward);                            \
  }                                                                                         \
  Tensor fft_##name##n(const Tensor& self, OptionalList s, OptionalList dim, Norm norm) {   \
    return transform(self, s, dim, norm, forward);                                          \
  }
TAEDA_FFT(fft, from_complex, true)
TAEDA_FFT(ifft, from_complex, false)
TAEDA_FFT(rfft, from_real, true)
TAEDA_FFT(irfft, to_real, false)
TAEDA_FFT(hfft, to_real, true)
TAEDA_FFT(ihfft, from_real, false)

// --- frequencies

namespace {

Tensor frequencies(int64_t from, int64_t to, const Options& o) {
  return ops::arange(Scalar(from), Scalar(to), Scalar(1), o.dtype, o.layout, o.device, o.pin_memory);
}

Options with_dtype(Options o) {
  o.dtype = o.dtype.value_or(default_dtype());
  TAEDA_CHECK(is_differentiable(*o.dtype), "dtype must be floating or complex; got ", *o.dtype);
  return o;
}

// By how much each of the dimensions is rolled: half of it, rounded up for the inverse.
Tensor shifted(const Tensor& self, OptionalList dim, int64_t rounding) {
  Dims dims, shifts;
  if (dim)
    dims.assign(*dim);
  else
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  for (int64_t d : dims) shifts.push_back((self.sizes()[wrap_dim(d, self.dim())] + rounding) / 2);
  return ops::roll(self, shifts, dims);
}

}  // namespace

#define TAEDA_OPTIONS \
  std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory

Tensor fft_fftfreq(int64_t n, double d, TAEDA_OPTIONS) {
  TAEDA_CHECK(n >= 0, "n must not be negative; got ", n);
  const Options o = with_dtype({dtype, layout, device, pin_memory});
  const Tensor parts[] = {frequencies(0, n - n / 2, o), frequencies(-(n / 2), 0, o)};
  return ops::mul(ops::cat(parts, 0), Scalar(1.0 / (static_cast<double>(n) * d)));
}

Tensor fft_rfftfreq(int64_t n, double d, TAEDA_OPTIONS) {
  const Options o = with_dtype({dtype, layout, device, pin_memory});
  return ops::mul(frequencies(0, n / 2 + 1, o), Scalar(1.0 / (static_cast<double>(n) * d)));
}

Tensor fft_fftshift(const Tensor& self, OptionalList dim) { return shifted(self, dim, 0); }
Tensor fft_ifftshift(const Tensor& self, OptionalList dim) { return shifted(self, dim, 1); }

}  // namespace taeda::composite
