// Transforms of stretches of signals, and back: overlapping stretches are added and divided by what the windows sum to
// (Griffin and Lim, "Signal estimation from modified short-time Fourier transform", 1984).
#include <atomic>

#include "composite/ops/fft.h"
#include "core/warn_once.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/create.h"
#include "taeda/ops/fft.h"
#include "taeda/ops/pad.h"
#include "taeda/ops/predicate.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"
#include "taeda/ops/view_gradients.h"

namespace taeda::composite {

namespace {

// The lengths that both directions share.
struct Frames {
  int64_t n_fft, hop, win;
  Frames(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length)
      : n_fft(n_fft), hop(hop_length.value_or(n_fft / 4)), win(win_length.value_or(n_fft)) {
    TAEDA_CHECK(n_fft > 0, "n_fft must be positive; got ", n_fft);
    TAEDA_CHECK(hop > 0, "hop_length must be positive; got ", hop);
    TAEDA_CHECK(win > 0 && win <= n_fft, "win_length must be from 1 to n_fft (", n_fft, "); got ", win);
  }
  void check(const Tensor& window) const {
    TAEDA_CHECK(!window.defined() || (window.dim() == 1 && window.numel() == win),
                "window must be a vector of win_length (", win, ") numbers; got shape ", window.sizes());
  }
  // In the middle of n_fft numbers.
  Tensor centred(const Tensor& window) const {
    const int64_t left = (n_fft - win) / 2;
    return win == n_fft ? window : ops::constant_pad_nd(window, IntList({left, n_fft - win - left}), Scalar(0));
  }
};

std::atomic<bool> g_stft_without_window, g_istft_without_window, g_real_stft, g_short_signal;

bool complex_with(const Tensor& self, const Tensor& window) {
  return is_complex(self.dtype()) || (window.defined() && is_complex(window.dtype()));
}

Tensor as_batch(const Tensor& t, int64_t rank) { return t.dim() == rank ? t : ops::unsqueeze(t, 0); }

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const Tensor& window, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex,
            std::optional<bool> align_to_window) {
  const bool complex = complex_with(self, window);
  if (!window.defined())
    warn_once(g_stft_without_window,
              "taeda.stft: no window is given, so all samples of a stretch count alike, which smears frequencies; pass "
              "window=, such as taeda.hann_window(win_length)");
  TAEDA_CHECK(complex || return_complex,
              "return_complex must be given for real signals: True for complex results, False for pairs of real ones");
  if (!return_complex.value_or(true))
    warn_once(g_real_stft, "taeda.stft: return_complex=False is deprecated; view_as_real(result) gives the same");
  TAEDA_CHECK(is_differentiable(self.dtype()), "floating or complex numbers are wanted; got ", self.dtype());
  TAEDA_CHECK(self.dim() == 1 || self.dim() == 2, "signals of shape (time,) or (batch, time) are wanted; got shape ",
              self.sizes());
  const Frames f(n_fft, hop_length, win_length);
  f.check(window);
  const bool half = onesided.value_or(!complex);
  TAEDA_CHECK(!half || !complex, "onesided results are of real signals and windows; got ", self.dtype(), " signals");
  Tensor signals = as_batch(self, 2);
  if (align_to_window.value_or(false) && f.win < n_fft) {
    const int64_t left = (n_fft - f.win) / 2;
    signals = ops::constant_pad_nd(signals, IntList({left, n_fft - f.win - left}), Scalar(0));
  }
  TAEDA_CHECK(signals.size(-1) >= n_fft, "n_fft must not be above the signals' length, ", signals.size(-1), "; got ",
              n_fft);
  Tensor frames = ops::unfold(signals, -1, n_fft, f.hop);
  if (window.defined() || f.win < n_fft) {
    Tensor weights = window.defined() ? window : ops::ones(IntList(&f.win, 1), self.dtype(), {}, self.device());
    frames = ops::mul(frames, f.centred(weights));
  }
  const int64_t mode = normalized ? 1 : 0, last[] = {2};
  Tensor result = complex ? ops::_fft_c2c(frames, last, mode, true) : ops::_fft_r2c(frames, last, mode, half);
  result = ops::transpose(result, 1, 2);
  if (self.dim() == 1) result = ops::squeeze(result, 0);
  return return_complex.value_or(true) ? result : ops::view_as_real(result);
}

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const Tensor& window, bool center, std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  TAEDA_CHECK(!center || !align_to_window, "align_to_window is for center=False");
  Tensor signals = self;
  if (center) {
    TAEDA_CHECK(self.dim() <= 2, "signals of shape (time,) or (batch, time) are wanted; got shape ", self.sizes());
    std::vector<int64_t> shape(static_cast<size_t>(3 - self.dim()), 1), pad(2, n_fft / 2);
    shape.insert(shape.end(), self.sizes().begin(), self.sizes().end());
    signals = ops::pad(ops::reshape(self, shape), pad, pad_mode);
    shape.assign(self.sizes().begin(), self.sizes().end());
    if (!shape.empty()) shape.back() = signals.size(-1);
    signals = ops::reshape(signals, shape);
  }
  return ops::stft(signals, n_fft, hop_length, win_length, window, normalized, onesided, return_complex,
                   align_to_window);
}

namespace {

// Adds overlapping stretches (batch, stretch, time).
Tensor overlapped(const Tensor& frames, int64_t length, int64_t hop) {
  return ops::unfold_backward(frames, IntList({frames.sizes()[0], length}), 1, frames.sizes()[2], hop);
}

void check_spectra(const Tensor& self, const Frames& f, bool half) {
  TAEDA_CHECK(self.numel() > 0 && (self.dim() == 2 || self.dim() == 3),
              "spectra of shape (frequency, stretch) or (batch, frequency, stretch) are wanted, none of them 0; got "
              "shape ",
              self.sizes());
  const int64_t wanted = half ? f.n_fft / 2 + 1 : f.n_fft;
  TAEDA_CHECK(self.size(-2) == wanted, "for n_fft=", f.n_fft, " and onesided=", half ? "True " : "False ", wanted,
              " frequencies are wanted; got shape ", self.sizes());
  TAEDA_CHECK(f.hop <= f.win, "hop_length must not be above win_length (", f.win, "); got ", f.hop);
}

}  // namespace

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
             const Tensor& window, bool center, bool normalized, std::optional<bool> onesided,
             std::optional<int64_t> length, bool return_complex) {
  if (!window.defined())
    warn_once(g_istft_without_window, "taeda.istft: no window is given; pass the one that stft was given");
  TAEDA_CHECK(is_complex(self.dtype()), "complex spectra are wanted, as stft(..., return_complex=True) gives; got ",
              self.dtype());
  const Frames f(n_fft, hop_length, win_length);
  f.check(window);
  const bool half = onesided.value_or(self.size(-2) != n_fft);
  check_spectra(self, f, half);
  TAEDA_CHECK(return_complex || !window.defined() || !is_complex(window.dtype()),
              "a complex window is for return_complex=True");
  TAEDA_CHECK(!return_complex || !half, "complex signals have no onesided spectra; got shape ", self.sizes());

  Tensor frames = ops::transpose(as_batch(self, 3), 1, 2);
  Tensor weights =
      f.centred(window.defined() ? window : ops::ones(IntList(&f.win, 1), to_real(self.dtype()), {}, self.device()));
  const int64_t mode = normalized ? 1 : 2, last[] = {2}, stretches = frames.sizes()[1];
  if (return_complex)
    frames = ops::_fft_c2c(frames, last, mode, false);
  else
    frames = ops::_fft_c2r(half ? frames : ops::slice(frames, 2, 0, n_fft / 2 + 1), last, mode, n_fft);

  const int64_t whole = n_fft + f.hop * (stretches - 1), begin = center ? n_fft / 2 : 0;
  const int64_t end = length ? begin + *length : center ? whole - n_fft / 2 : whole;
  TAEDA_CHECK(end > begin, "no samples are left; got length=", end - begin);
  Tensor squares = ops::mul(weights, weights);
  Tensor sums = overlapped(ops::expand(squares, IntList({1, stretches, n_fft})), whole, f.hop);
  Tensor signals = ops::slice(overlapped(ops::mul(frames, weights), whole, f.hop), 1, begin, end);
  sums = ops::slice(sums, 1, begin, end);
  const bool known = self.device().type != DeviceType::Meta;
  TAEDA_CHECK(!known || !ops::is_nonzero(ops::lt(ops::min(ops::abs(sums)), Scalar(1e-11))),
              "the windows leave out samples, which cannot be known; let them overlap more");
  signals = ops::div(signals, sums);
  if (end > whole) {
    warn_once(g_short_signal, "taeda.istft: length is beyond the signal, which is padded with zeros");
    signals = ops::constant_pad_nd(signals, IntList({0, end - whole}), Scalar(0));
  }
  return self.dim() == 2 ? ops::squeeze(signals, 0) : signals;
}

}  // namespace taeda::composite
