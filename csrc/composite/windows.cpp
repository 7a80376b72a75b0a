// Window functions. Each is a formula of the positions n / (N - 1), computed on the device that is asked for.
#include <numbers>

#include "composite/ops/windows.h"
#include "composite/options.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/ranges.h"
#include "taeda/ops/unary.h"

namespace taeda::composite {

namespace {

// `formula` takes the places n and the last of them, whose window value is the first's again; computed in float at
// least, as half types are too coarse for places. The order of operations is PyTorch's, for the same bits.
template <class F>
Tensor window(int64_t length, bool periodic, const Options& o, const F& formula) {
  DType dtype = o.dtype.value_or(default_dtype());
  TAEDA_CHECK(length >= 0, "window_length must not be negative; got ", length);
  TAEDA_CHECK(is_floating(dtype), "windows are of a floating dtype; got ", dtype);
  if (length <= 1) return ops::ones(IntList(&length, 1), dtype, o.layout, o.device, o.pin_memory);
  Tensor n = ops::arange(Scalar(0), Scalar(length), Scalar(1), compute_type(dtype), o.layout, o.device, o.pin_memory);
  Tensor result = formula(n, static_cast<double>(periodic ? length : length - 1));
  return result.dtype() == dtype ? result : ops::_to_copy(result, dtype);
}

// weight cos(2 pi n / last)
Tensor cosine(const Tensor& n, double last, double weight) {
  return ops::mul(ops::cos(ops::mul(n, Scalar(2 * std::numbers::pi / last))), Scalar(weight));
}

Tensor hamming(int64_t length, bool periodic, double alpha, double beta, const Options& o) {
  return window(length, periodic, o,
                [=](const Tensor& n, double last) { return ops::add(cosine(n, last, -beta), Scalar(alpha)); });
}

Tensor hann(int64_t length, bool periodic, const Options& o) { return hamming(length, periodic, 0.5, 0.5, o); }

Tensor blackman(int64_t length, bool periodic, const Options& o) {
  return window(length, periodic, o, [](const Tensor& n, double last) {
    return ops::add(ops::add(cosine(n, last / 2, 0.08), cosine(n, last, -0.5)), Scalar(0.42));
  });
}

// 1 in the middle, 0 at both ends
Tensor bartlett(int64_t length, bool periodic, const Options& o) {
  return window(length, periodic, o, [](const Tensor& n, double last) {
    Tensor rising = ops::mul(n, Scalar(2 / last));
    return ops::minimum(rising, ops::rsub(rising, Scalar(2.0)));
  });
}

Tensor kaiser(int64_t length, bool periodic, double beta, const Options& o) {
  return window(length, periodic, o, [=](const Tensor& n, double last) {
    Tensor side = ops::sub(ops::mul(n, Scalar(2 / last)), Scalar(1.0));  // -1 to 1
    Tensor root = ops::sqrt(ops::clamp_min(ops::rsub(ops::square(side), Scalar(1.0)), Scalar(0.0)));
    return ops::mul(ops::i0(ops::mul(root, Scalar(beta))), Scalar(1 / std::cyl_bessel_i(0.0, std::abs(beta))));
  });
}

}  // namespace

#define TAEDA_OPTIONS \
  std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory
#define TAEDA_GIVEN {dtype, layout, device, pin_memory}

Tensor hann_window(int64_t length, TAEDA_OPTIONS) { return hann(length, true, TAEDA_GIVEN); }
Tensor hann_window(int64_t length, bool periodic, TAEDA_OPTIONS) { return hann(length, periodic, TAEDA_GIVEN); }

Tensor hamming_window(int64_t length, TAEDA_OPTIONS) { return hamming(length, true, 0.54, 0.46, TAEDA_GIVEN); }
Tensor hamming_window(int64_t length, bool periodic, TAEDA_OPTIONS) {
  return hamming(length, periodic, 0.54, 0.46, TAEDA_GIVEN);
}
Tensor hamming_window(int64_t length, bool periodic, double alpha, TAEDA_OPTIONS) {
  return hamming(length, periodic, alpha, 0.46, TAEDA_GIVEN);
}
Tensor hamming_window(int64_t length, bool periodic, double alpha, double beta, TAEDA_OPTIONS) {
  return hamming(length, periodic, alpha, beta, TAEDA_GIVEN);
}

Tensor blackman_window(int64_t length, TAEDA_OPTIONS) { return blackman(length, true, TAEDA_GIVEN); }
Tensor blackman_window(int64_t length, bool periodic, TAEDA_OPTIONS) { return blackman(length, periodic, TAEDA_GIVEN); }

Tensor bartlett_window(int64_t length, TAEDA_OPTIONS) { return bartlett(length, true, TAEDA_GIVEN); }
Tensor bartlett_window(int64_t length, bool periodic, TAEDA_OPTIONS) { return bartlett(length, periodic, TAEDA_GIVEN); }

Tensor kaiser_window(int64_t length, TAEDA_OPTIONS) { return kaiser(length, true, 12.0, TAEDA_GIVEN); }
Tensor kaiser_window(int64_t length, bool periodic, TAEDA_OPTIONS) {
  return kaiser(length, periodic, 12.0, TAEDA_GIVEN);
}
Tensor kaiser_window(int64_t length, bool periodic, double beta, TAEDA_OPTIONS) {
  return kaiser(length, periodic, beta, TAEDA_GIVEN);
}

}  // namespace taeda::composite
