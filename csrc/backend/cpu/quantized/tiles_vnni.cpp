// Tiles by the instruction of AVX-512 for products of unsigned bytes with signed ones.
#include "backend/cpu/quantized/tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>
#include <cstring>
#include <type_traits>

namespace taeda::cpu::quantized {

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wuninitialized"  // of GCC 12's own header, as the next
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")

namespace {

constexpr int kRows = 6, kVectors = 4;  // of a tile: 24 of the 32 registers hold its sums
constexpr int64_t kColumns = kVectors * 16;

int64_t groups_of(const Depthwise& s) { return (s.taps + 3) / 4; }  // of taps that a product adds

// The sums of R rows and N vectors of columns, row after row of 64.
template <int R, int N>
void tile(const Shape& s, const int64_t* taps, const char* const* rows, const int8_t* weights, int32_t* sums) {
  __m512i acc[R][N];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) acc[r][n] = _mm512_setzero_si512();
  const int64_t steps = s.steps_of_piece();
  for (int64_t tap = 0; tap < s.taps; ++tap) {
    const char* from[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) from[r] = rows[r] + taps[tap];
    for (int64_t step = 0; step < steps; ++step, weights += N * 64) {
      __m512i w[N];
#pragma GCC unroll 8
      for (int n = 0; n < N; ++n) w[n] = _mm512_loadu_si512(weights + n * 64);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        int32_t four;
        std::memcpy(&four, from[r] + step * 4, 4);
        const __m512i x = _mm512_set1_epi32(four);
#pragma GCC unroll 8
        for (int n = 0; n < N; ++n) acc[r][n] = _mm512_dpbusd_epi32(acc[r][n], x, w[n]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) _mm512_storeu_si512(sums + r * kColumns + n * 16, acc[r][n]);
}

using Tile = void (*)(const Shape&, const int64_t*, const char* const*, const int8_t*, int32_t*);
template <int R>
constexpr std::array<Tile, kVectors> kTilesOf{tile<R, 1>, tile<R, 2>, tile<R, 3>, tile<R, 4>};
constexpr std::array<std::array<Tile, kVectors>, kRows> kTiles{kTilesOf<1>, kTilesOf<2>, kTilesOf<3>,
                                                               kTilesOf<4>, kTilesOf<5>, kTilesOf<6>};

// Sums to results of type T; an int32_t is the sum less x_zero times that of the weights.
template <class T>
struct Finish {
  const Epilogue& e;
  __m512i x_zero, zero;
  __m512 least, most;
  explicit Finish(const Epilogue& e) : e(e), x_zero(_mm512_set1_epi32(e.x_zero)), zero(_mm512_set1_epi32(e.zero)) {
    int32_t low = std::is_signed_v<T> ? -128 : 0, high = std::is_signed_v<T> ? 127 : 255;
    if (e.floor) low = std::max(low, e.zero);
    least = _mm512_set1_ps(static_cast<float>(low - e.zero));
    most = _mm512_set1_ps(static_cast<float>(high - e.zero));
  }

  // 16 sums of a row, from that of column `column` on; `off`: the row's sum less depth * x_zero.
  [[gnu::always_inline]] void store(__m512i sums, int64_t column, __mmask16 mask, int32_t off, char* to) const {
    const __m512i of_weights = _mm512_maskz_loadu_epi32(mask, e.sums + column);
    sums = _mm512_sub_epi32(sums, _mm512_mullo_epi32(x_zero, of_weights));
    if constexpr (std::is_same_v<T, int32_t>) return _mm512_mask_storeu_epi32(to + column * 4, mask, sums);
    if (e.zeros)
      sums = _mm512_sub_epi32(
          sums, _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(mask, e.zeros + column), _mm512_set1_epi32(off)));
    __m512 value = _mm512_cvtepi32_ps(sums);
    const __m512 factor = _mm512_maskz_loadu_ps(mask, e.factors + column);
    const __m512 bias = e.bias ? _mm512_maskz_loadu_ps(mask, e.bias + column) : _mm512_setzero_ps();
    if constexpr (std::is_same_v<T, float>) {
      value = _mm512_add_ps(_mm512_mul_ps(value, factor), bias);
      if (e.floor) value = _mm512_max_ps(_mm512_setzero_ps(), value);
      return _mm512_mask_storeu_ps(to + column * 4, mask, value);
    }
    value = _mm512_mul_ps(_mm512_add_ps(value, bias), factor);
    value = _mm512_roundscale_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    value = _mm512_max_ps(_mm512_min_ps(value, most), least);
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvttps_epi32(value), zero));
    if (mask == 0xffff)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + column), bytes);
    else
      _mm_mask_storeu_epi8(to + column, mask, bytes);
  }
};

__mmask16 lanes(int64_t count) { return count >= 16 ? 0xffff : static_cast<__mmask16>((1u << count) - 1); }

template <class T>
void multiply_to(const Product& p, Rows rows, char* to, int64_t step, int64_t first, int64_t last) {
  const Shape& s = p.shape;
  const Finish<T> finish(p.epilogue);
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<int32_t> offs(p.epilogue.zeros ? rows.size() : 0);
  for (size_t i = 0; i < offs.size(); ++i)
    offs[i] = row_sum<uint8_t>(s, p.taps, rows[i]) - static_cast<int32_t>(p.epilogue.depth * p.epilogue.x_zero);
  alignas(64) int32_t sums[kRows * kColumns];
  for (int64_t panel = first; panel < last; panel += kColumns) {
    const int64_t columns = std::min(kColumns, s.columns - panel), vectors = (columns + 15) / 16;
    const int8_t* weights = p.weights + panel * s.steps() * 4;
    for (int64_t i = 0; i < count; i += kRows) {
      const int64_t here = std::min<int64_t>(kRows, count - i);
      kTiles[here - 1][vectors - 1](s, p.taps, rows.data() + i, weights, sums);
      for (int64_t r = 0; r < here; ++r)
        for (int64_t n = 0; n < vectors; ++n)
          finish.store(_mm512_load_si512(sums + r * kColumns + n * 16), panel + n * 16, lanes(columns - n * 16),
                       offs.empty() ? 0 : offs[i + r], to + (i + r) * step);
    }
  }
}

// Four vectors of 64 channels, a tap each, as four of 16 channels with the four taps of each side by side.
[[gnu::always_inline]] inline void interleave(__m512i (&x)[4]) {
  const __m512i a = _mm512_unpacklo_epi8(x[0], x[1]), b = _mm512_unpackhi_epi8(x[0], x[1]),
                c = _mm512_unpacklo_epi8(x[2], x[3]), d = _mm512_unpackhi_epi8(x[2], x[3]);
  x[0] = _mm512_unpacklo_epi16(a, c);
  x[1] = _mm512_unpackhi_epi16(a, c);
  x[2] = _mm512_unpacklo_epi16(b, d);
  x[3] = _mm512_unpackhi_epi16(b, d);
}

// Sums of such vectors back in the order of channels: their quarters change places.
[[gnu::always_inline]] inline void transpose_quarters(__m512i (&x)[4]) {
  const __m512i a = _mm512_shuffle_i32x4(x[0], x[1], 0x44), b = _mm512_shuffle_i32x4(x[0], x[1], 0xee),
                c = _mm512_shuffle_i32x4(x[2], x[3], 0x44), d = _mm512_shuffle_i32x4(x[2], x[3], 0xee);
  x[0] = _mm512_shuffle_i32x4(a, c, 0x88);
  x[1] = _mm512_shuffle_i32x4(a, c, 0xdd);
  x[2] = _mm512_shuffle_i32x4(b, d, 0x88);
  x[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
}

__mmask64 bytes_of(int64_t count) { return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1; }

// The next four taps of 64 channels times their weights, added to sums in the order of `interleave`.
[[gnu::always_inline]] inline void add_taps(const Depthwise& s, const int64_t* taps, int64_t first, __mmask64 mask,
                                            const char* row, const int8_t* weights, __m512i (&sums)[4]) {
  __m512i x[4];
#pragma GCC unroll 4
  for (int t = 0; t < 4; ++t) x[t] = _mm512_maskz_loadu_epi8(mask, row + taps[std::min(first + t, s.taps - 1)]);
  interleave(x);
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) sums[j] = _mm512_dpbusd_epi32(sums[j], x[j], _mm512_loadu_si512(weights + j * 64));
}

// The sums of 64 channels to bytes of type T. What belongs to the channels is brought into the order of `interleave`
// once; narrowing puts the bytes into that of the channels.
template <class T>
struct FinishBytes {
  __m512i start[4];  // of the sums: -x_zero times those of the weights
  __m512 factor[4], bias[4], most;
  __m512i zero, least;

  FinishBytes(const Epilogue& e, int64_t first, int64_t channels) {
    const __m512i x_zero = _mm512_set1_epi32(-e.x_zero);
    __m512i factors[4], biases[4];
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n) {
      const int64_t c = first + n * 16;
      const __mmask16 mask = c < channels ? lanes(channels - c) : 0;
      start[n] = _mm512_mullo_epi32(x_zero, _mm512_maskz_loadu_epi32(mask, e.sums + c));
      factors[n] = _mm512_maskz_loadu_epi32(mask, e.factors + c);
      biases[n] = e.bias ? _mm512_maskz_loadu_epi32(mask, e.bias + c) : _mm512_setzero_si512();
    }
    transpose_quarters(start);
    transpose_quarters(factors);
    transpose_quarters(biases);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) factor[j] = _mm512_castsi512_ps(factors[j]), bias[j] = _mm512_castsi512_ps(biases[j]);
    constexpr bool is_signed = std::is_signed_v<T>;
    most = _mm512_set1_ps(static_cast<float>((is_signed ? 127 : 255) - e.zero));
    zero = _mm512_set1_epi16(static_cast<int16_t>(e.zero));
    const int low = is_signed ? -128 : 0;
    least = _mm512_set1_epi8(static_cast<char>(e.floor ? std::max(low, e.zero) : low));
  }

  // What is below all integers narrows to the least; what is above would, too, and is bounded before.
  [[gnu::always_inline]] __m512i operator()(const __m512i (&sums)[4]) const {
    __m512i whole[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const __m512 value = _mm512_mul_ps(_mm512_add_ps(_mm512_cvtepi32_ps(sums[j]), bias[j]), factor[j]);
      whole[j] = _mm512_cvtps_epi32(_mm512_min_ps(value, most));
    }
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(whole[0], whole[1]), zero),
                  high = _mm512_adds_epi16(_mm512_packs_epi32(whole[2], whole[3]), zero);
    if constexpr (std::is_signed_v<T>) return _mm512_max_epi8(_mm512_packs_epi16(low, high), least);
    return _mm512_max_epu8(_mm512_packus_epi16(low, high), least);
  }
};

// 64 channels, or those that are left, of many places.
template <class T>
void bytes_at(const Depthwise& s, const int64_t* taps, const int8_t* weights, const Epilogue& e, int64_t c, Rows rows,
              char* to) {
  const FinishBytes<T> finish(e, c, s.channels);
  const __mmask64 mask = bytes_of(s.channels - c);
  for (const char* row : rows) {
    __m512i sums[4]{finish.start[0], finish.start[1], finish.start[2], finish.start[3]};
    for (int64_t g = 0; g < groups_of(s); ++g) add_taps(s, taps, g * 4, mask, row + c, weights + g * 256, sums);
    _mm512_mask_storeu_epi8(to, mask, finish(sums));
    to += s.channels;
  }
}

// 64 channels, or those that are left, of one place.
template <class T>
[[gnu::always_inline]] inline void channels_at(const Depthwise& s, const int64_t* taps, const int8_t* weights,
                                               const Finish<T>& finish, const char* row, int64_t c, char* to) {
  const int64_t left = s.channels - c;
  __m512i sums[4]{};
  for (int64_t g = 0; g < groups_of(s); ++g) add_taps(s, taps, g * 4, bytes_of(left), row + c, weights + g * 256, sums);
  transpose_quarters(sums);
#pragma GCC unroll 4
  for (int n = 0; n < 4; ++n)
    if (n * 16 < left) finish.store(sums[n], c + n * 16, lanes(left - n * 16), 0, to);
}

template <class T>
void depthwise_to(const Depthwise& s, const int64_t* taps, const int8_t* weights, const Epilogue& e, Rows rows,
                  char* to) {
  const Finish<T> finish(e);
  const auto step = s.channels * static_cast<int64_t>(sizeof(T));
  for (int64_t c = 0; c < s.channels; c += 64) {
    const int8_t* own = weights + c * groups_of(s) * 4;
    if constexpr (sizeof(T) == 1)
      bytes_at<T>(s, taps, own, e, c, rows, to + c);
    else
      for (size_t i = 0; i < rows.size(); ++i)
        channels_at(s, taps, own, finish, rows[i], c, to + static_cast<int64_t>(i) * step);
  }
}

void read(const char* from, int64_t count, bool is_signed, char* to) {
  const char flip = is_signed ? static_cast<char>(0x80) : 0;
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
}

void multiply(const Product& p, Rows rows, char* to, int64_t step, int64_t first, int64_t last) {
  with_result(p.epilogue.result, [&]<class T>(T*) { multiply_to<T>(p, rows, to, step, first, last); });
}

void depthwise(const Depthwise& s, const int64_t* taps, const int8_t* weights, const Epilogue& e, Rows rows, char* to) {
  with_result(e.result, [&]<class T>(T*) { depthwise_to<T>(s, taps, weights, e, rows, to); });
}

int64_t depthwise_place(const Depthwise& s, int64_t channel, int64_t tap) {
  // Interleaving four vectors of 64 channels gives four of 16 channels: 4 from each quarter.
  int64_t block = channel / 64, quarter = channel % 64 / 16, part = channel % 16 / 4, in_part = channel % 4;
  int64_t vector = (block * groups_of(s) + tap / 4) * 4 + part;
  return vector * 64 + quarter * 16 + in_part * 4 + tap % 4;
}

int64_t depthwise_bytes(const Depthwise& s) { return (s.channels + 63) / 64 * 64 * groups_of(s) * 4; }

}  // namespace

#pragma GCC pop_options

const Tiles kVnniTiles{
    kColumns, 16, 1, true, false, read, multiply, depthwise, depthwise_place, depthwise_bytes,
};

#endif

}  // namespace taeda::cpu::quantized
