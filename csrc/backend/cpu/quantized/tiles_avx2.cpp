// Tiles without an instruction that adds products of bytes to sums: products of 16-bit integers, as the sums of two
// products of bytes have 16 bits and saturate. Those of small elements (kSmall) do not, and take four fifths of the
// time.
#include "backend/cpu/quantized/scratch.h"
#include "backend/cpu/quantized/tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace taeda::cpu::quantized {

#pragma GCC push_options
#pragma GCC target("avx2,fma")

namespace {

constexpr int kRows = 6;         // of a tile: 12 of the 16 registers hold its sums
constexpr int64_t kColumns = 8;  // in two registers, two sums to a column

const int16_t* at(const char* row, int64_t distance) { return reinterpret_cast<const int16_t*>(row + distance); }

__m256i load(const int16_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
__m256i widened(const int8_t* from) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// The sums of R rows.
template <int R>
void tile(const Shape& s, const int64_t* taps, const char* const* rows, const int8_t* weights, __m256i* sums) {
  __m256i low[R], high[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) low[r] = high[r] = _mm256_setzero_si256();
  const int64_t steps = s.steps_of_piece();
  for (int64_t tap = 0; tap < s.taps; ++tap) {
    const int16_t* from[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) from[r] = at(rows[r], taps[tap]);
    for (int64_t step = 0; step < steps; ++step, weights += 32) {
      const __m256i w_low = widened(weights), w_high = widened(weights + 16);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        int64_t four;
        std::memcpy(&four, from[r] + step * 4, 8);
        const __m256i x = _mm256_set1_epi64x(four);
        low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(x, w_low));
        high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(x, w_high));
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sums[r] = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low[r], high[r]), 0xd8);
}

// The same of small elements as they are, for P panels.
template <int R, int P>
void small_tile(const Shape& s, const int64_t* taps, const char* const* rows, const int8_t* weights, __m256i* sums) {
  __m256i all[P][R];
#pragma GCC unroll 16
  for (int i = 0; i < P * R; ++i) all[i / R][i % R] = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi16(1);
  const int64_t steps = s.steps_of_piece(), next = s.steps() * 32;
  for (int64_t tap = 0; tap < s.taps; ++tap) {
    const char* from[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) from[r] = rows[r] + taps[tap];
    for (int64_t step = 0; step < steps; ++step, weights += 32) {
      __m256i w[P];
#pragma GCC unroll 2
      for (int p = 0; p < P; ++p) w[p] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + p * next));
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        int32_t four;
        std::memcpy(&four, from[r] + step * 4, 4);
        const __m256i x = _mm256_set1_epi32(four);
#pragma GCC unroll 2
        for (int p = 0; p < P; ++p)
          all[p][r] = _mm256_add_epi32(all[p][r], _mm256_madd_epi16(_mm256_maddubs_epi16(x, w[p]), ones));
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < P * R; ++i) sums[i / R * kRows + i % R] = all[i / R][i % R];
}

using Tile = void (*)(const Shape&, const int64_t*, const char* const*, const int8_t*, __m256i*);
constexpr Tile kTiles[kRows]{tile<1>, tile<2>, tile<3>, tile<4>, tile<5>, tile<6>};
template <int P>
constexpr Tile kTilesOfSmall[kRows]{small_tile<1, P>, small_tile<2, P>, small_tile<3, P>,
                                    small_tile<4, P>, small_tile<5, P>, small_tile<6, P>};

void read(const char* from, int64_t count, bool is_signed, char* to) {
  auto words = reinterpret_cast<int16_t*>(to);
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i),
                        is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
  }
  for (; i < count; ++i)
    words[i] = is_signed ? static_cast<int16_t>(static_cast<int8_t>(from[i])) : static_cast<uint8_t>(from[i]);
}

void read_small(const char* from, int64_t count, bool, char* to) { std::memcpy(to, from, static_cast<size_t>(count)); }

// Sums of up to eight columns to results of type T; an int32_t is the sum less x_zero times that of the weights.
template <class T>
class Finish {
 public:
  Finish(const Epilogue& e, int64_t first, int64_t columns)
      : count_(static_cast<size_t>(std::min(columns - first, kColumns))), zero_(_mm256_set1_epi32(e.zero)) {
    const __m256i all = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count_)), all);
    start_ = _mm256_mullo_epi32(_mm256_set1_epi32(-e.x_zero), _mm256_maskload_epi32(e.sums + first, mask));
    zeros_ = e.zeros ? _mm256_maskload_epi32(e.zeros + first, mask) : _mm256_setzero_si256();
    factor_ = _mm256_maskload_ps(e.factors + first, mask);
    bias_ = e.bias ? _mm256_maskload_ps(e.bias + first, mask) : _mm256_setzero_ps();
    int32_t low = std::is_signed_v<T> ? -128 : 0, high = std::is_signed_v<T> ? 127 : 255;
    if (e.floor) low = std::max(low, e.zero);
    const float none = -std::numeric_limits<float>::infinity();
    least_ = _mm256_set1_ps(std::is_same_v<T, float> ? (e.floor ? 0.0f : none) : static_cast<float>(low - e.zero));
    most_ = _mm256_set1_ps(static_cast<float>(high - e.zero));
  }

  // `off`: the row's sum less depth * x_zero, where columns have zero points.
  [[gnu::always_inline]] void store(__m256i sums, int32_t off, char* to) const {
    sums = _mm256_add_epi32(sums, start_);
    if constexpr (std::is_same_v<T, int32_t>) return put(sums, to);
    if (off) sums = _mm256_sub_epi32(sums, _mm256_mullo_epi32(zeros_, _mm256_set1_epi32(off)));
    __m256 value = _mm256_cvtepi32_ps(sums);
    if constexpr (std::is_same_v<T, float>)
      return put(_mm256_castps_si256(_mm256_max_ps(least_, _mm256_add_ps(_mm256_mul_ps(value, factor_), bias_))), to);
    value = _mm256_mul_ps(_mm256_add_ps(value, bias_), factor_);
    value = _mm256_max_ps(_mm256_min_ps(value, most_), least_);
    const __m256i whole = _mm256_add_epi32(_mm256_cvtps_epi32(value), zero_);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    const __m128i bytes = std::is_signed_v<T> ? _mm_packs_epi16(words, words) : _mm_packus_epi16(words, words);
    const int64_t eight = _mm_cvtsi128_si64(bytes);
    if (count_ == kColumns) return static_cast<void>(std::memcpy(to, &eight, kColumns));
    std::memcpy(to, &eight, count_);
  }

 private:
  [[gnu::always_inline]] void put(__m256i eight, char* to) const {
    if (count_ == kColumns) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), eight);
    std::memcpy(to, &eight, count_ * 4);
  }

  size_t count_;
  __m256i start_, zeros_, zero_;
  __m256 factor_, bias_, least_, most_;
};

template <class Element, class T>
void multiply_to(const Product& p, Rows rows, char* to, int64_t step, int64_t first, int64_t last) {
  const Shape& s = p.shape;
  const auto count = static_cast<int64_t>(rows.size());
  std::vector<int32_t> offs(rows.size(), 0);
  for (size_t i = 0; p.epilogue.zeros && i < offs.size(); ++i)
    offs[i] = row_sum<Element>(s, p.taps, rows[i]) - static_cast<int32_t>(p.epilogue.depth * p.epilogue.x_zero);
  constexpr int kTogether = sizeof(Element) == 1 ? 2 : 1;  // panels
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  __m256i sums[kTogether * kRows];
  for (int64_t panel = first; panel < last; panel += kTogether * kColumns) {
    const bool both = kTogether > 1 && panel + kColumns < last;
    const Tile* const tiles = kTogether == 1 ? kTiles : both ? kTilesOfSmall<2> : kTilesOfSmall<1>;
    const Finish<T> finish[2]{{p.epilogue, panel, s.columns}, {p.epilogue, panel + both * kColumns, s.columns}};
    for (int64_t i = 0; i < count; i += kRows) {
      const int64_t here = std::min<int64_t>(kRows, count - i);
      tiles[here - 1](s, p.taps, rows.data() + i, p.weights + panel * s.steps() * 4, sums);
      for (int64_t k = 0; k <= both; ++k)
        for (int64_t r = 0; r < here; ++r)
          finish[k].store(sums[k * kRows + r], offs[i + r], to + (panel + k * kColumns) * kSize + (i + r) * step);
    }
  }
}

template <class Element>
void multiply(const Product& p, Rows rows, char* to, int64_t step, int64_t first, int64_t last) {
  with_result(p.epilogue.result, [&]<class T>(T*) { multiply_to<Element, T>(p, rows, to, step, first, last); });
}

// --- depthwise: 16 channels at a time, two taps side by side, for which the words of two vectors are interleaved
constexpr int64_t kChannels = 16;
static_assert(kChannels <= kBehind);  // those that are not there are read all the same

int64_t pairs_of(const Depthwise& s) { return (s.taps + 1) / 2; }

// Eight of the channels from c on, as interleaving has them: those from 0 and from 8 (`part` 0), from 4 and from 12
// (1).
__m256i eight_of(const void* from, int64_t c, int64_t channels, int part) {
  int32_t all[kChannels]{};
  std::memcpy(all, static_cast<const int32_t*>(from) + c, static_cast<size_t>(std::min(channels - c, kChannels)) * 4);
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all)),
                high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(all + 8));
  return part ? _mm256_permute2x128_si256(low, high, 0x31) : _mm256_permute2x128_si256(low, high, 0x20);
}

// The sums of 16 channels in that order to bytes of type T: narrowing puts them into the order of channels. What is
// below all integers narrows to the least; what is above would, too, and is bounded before.
template <class T>
class FinishBytes {
 public:
  FinishBytes(const Epilogue& e, int64_t c, int64_t channels)
      : count_(static_cast<size_t>(std::min(channels - c, kChannels))) {
    const __m256i x_zero = _mm256_set1_epi32(-e.x_zero);
#pragma GCC unroll 2
    for (int part = 0; part < 2; ++part) {
      start[part] = _mm256_mullo_epi32(x_zero, eight_of(e.sums, c, channels, part));
      factor_[part] = _mm256_castsi256_ps(eight_of(e.factors, c, channels, part));
      bias_[part] = e.bias ? _mm256_castsi256_ps(eight_of(e.bias, c, channels, part)) : _mm256_setzero_ps();
    }
    constexpr bool is_signed = std::is_signed_v<T>;
    const int low = is_signed ? -128 : 0;
    most_ = _mm256_set1_ps(static_cast<float>((is_signed ? 127 : 255) - e.zero));
    zero_ = _mm256_set1_epi16(static_cast<int16_t>(e.zero));
    least_ = _mm_set1_epi8(static_cast<char>(e.floor ? std::max(low, e.zero) : low));
  }

  [[gnu::always_inline]] void store(__m256i low, __m256i high, char* to) const {
    const __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(whole(low, 0), whole(high, 1)), zero_);
    const __m128i first = _mm256_castsi256_si128(words), second = _mm256_extracti128_si256(words, 1);
    const __m128i bytes = std::is_signed_v<T> ? _mm_max_epi8(_mm_packs_epi16(first, second), least_)
                                              : _mm_max_epu8(_mm_packus_epi16(first, second), least_);
    if (count_ == kChannels) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    std::memcpy(to, &bytes, count_);
  }

  __m256i start[2];  // of the sums: -x_zero times those of the weights

 private:
  [[gnu::always_inline]] __m256i whole(__m256i sums, int part) const {
    const __m256 value = _mm256_mul_ps(_mm256_add_ps(_mm256_cvtepi32_ps(sums), bias_[part]), factor_[part]);
    return _mm256_cvtps_epi32(_mm256_min_ps(value, most_));
  }

  size_t count_;
  __m256 factor_[2], bias_[2], most_;
  __m256i zero_;
  __m128i least_;
};

// Adds the products of a place's taps with weights of 16 bits.
[[gnu::always_inline]] inline void add_taps(const Depthwise& s, const int64_t* taps, const int16_t* weights,
                                            const char* row, __m256i& low, __m256i& high) {
  const int64_t pairs = pairs_of(s);
  for (int64_t p = 0; p < pairs; ++p) {
    const __m256i a = load(at(row, taps[p * 2])), b = load(at(row, taps[std::min(p * 2 + 1, s.taps - 1)]));
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), load(weights + p * 32)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), load(weights + p * 32 + 16)));
  }
}

// --- filters of 3 x 3 over neighbours: what a column of the image gives serves three places
// Pairs of taps, one above the other in the first two rows, beside each other in the third.
constexpr int kSquare[5][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 7}, {-1, 8}};

bool is_square(const Depthwise& s, const int64_t* taps) {
  if (s.taps != 9) return false;
  for (int t = 0; t < 9; ++t)
    if (taps[t] != taps[t / 3 * 3] + t % 3 * s.channels * 2) return false;
  return true;
}

// How many of the rows from `first` on lie side by side.
size_t neighbours(Rows rows, size_t first, int64_t step) {
  size_t end = first + 1;
  while (end < rows.size() && rows[end] == rows[end - 1] + step) ++end;
  return end - first;
}

class Square {
 public:
  Square() = default;
  Square(const int64_t* taps, const int16_t* weights) : taps_(taps) {
    auto tap = [&](int t, int part) {  // one to 32 bits
      if (t < 0) return _mm256_setzero_si256();
      const __m256i both = load(weights + t / 2 * 32 + part * 16);
      return _mm256_srli_epi32(t % 2 ? both : _mm256_slli_epi32(both, 16), 16);
    };
    for (int p = 0; p < 5; ++p)
      for (int part = 0; part < 2; ++part)
        weights_[p][part] = _mm256_or_si256(tap(kSquare[p][0], part), _mm256_slli_epi32(tap(kSquare[p][1], part), 16));
  }

  // Calls done(low, high) with the sums of each of `count` neighbours, added to `start`.
  template <class F>
  [[gnu::always_inline]] void run(const char* row, int64_t step, size_t count, const __m256i* start, F&& done) const {
    Column a = column(row), b = column(row + step, a.last);
    row += step;
    for (; count; --count) {
      row += step;
      const Column c = column(row, b.last);
      __m256i sums[2];
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const __m256i above = _mm256_add_epi32(_mm256_madd_epi16(a.above[i], weights_[0][i]),
                                               _mm256_madd_epi16(b.above[i], weights_[1][i]));
        const __m256i below = _mm256_add_epi32(_mm256_madd_epi16(b.below[i], weights_[3][i]),
                                               _mm256_madd_epi16(c.below[i], weights_[4][i]));
        const __m256i right = _mm256_add_epi32(_mm256_madd_epi16(c.above[i], weights_[2][i]), start[i]);
        sums[i] = _mm256_add_epi32(_mm256_add_epi32(above, below), right);
      }
      done(sums[0], sums[1]);
      a = b;
      b = c;
    }
  }

 private:
  // `above`: the first row beside the second; `below`: the third one of the column before beside this one's, `last`.
  struct Column {
    __m256i above[2], below[2], last;
  };
  [[gnu::always_inline]] Column column(const char* row, __m256i before = _mm256_setzero_si256()) const {
    const __m256i first = load(at(row, taps_[0])), second = load(at(row, taps_[3])), third = load(at(row, taps_[6]));
    return {{_mm256_unpacklo_epi16(first, second), _mm256_unpackhi_epi16(first, second)},
            {_mm256_unpacklo_epi16(before, third), _mm256_unpackhi_epi16(before, third)},
            third};
  }

  const int64_t* taps_ = nullptr;
  __m256i weights_[5][2];
};

// 16 channels from c on, or those that are left, of many places.
template <class T>
void channels_of(const Depthwise& s, const int64_t* taps, const int16_t* weights, const Epilogue& e, int64_t c,
                 Rows rows, char* to) {
  const int64_t step = s.channels * static_cast<int64_t>(sizeof(T));
  if constexpr (sizeof(T) == 1) {
    const FinishBytes<T> finish(e, c, s.channels);
    auto store = [&](__m256i low, __m256i high) {
      finish.store(low, high, to);
      to += step;
    };
    const bool square = is_square(s, taps);
    const Square filter = square ? Square(taps, weights) : Square();
    for (size_t i = 0; i < rows.size();) {
      const size_t count = square ? neighbours(rows, i, s.channels * 2) : 1;
      if (count > 1) {
        filter.run(rows[i] + c * 2, s.channels * 2, count, finish.start, store);
      } else {
        __m256i low = finish.start[0], high = finish.start[1];
        add_taps(s, taps, weights, rows[i] + c * 2, low, high);
        store(low, high);
      }
      i += count;
    }
  } else {
    const bool both = c + kColumns < s.channels;
    const Finish<T> first(e, c, s.channels), second(e, both ? c + kColumns : c, s.channels);
    for (const char* row : rows) {
      __m256i low = _mm256_setzero_si256(), high = low;
      add_taps(s, taps, weights, row + c * 2, low, high);
      first.store(_mm256_permute2x128_si256(low, high, 0x20), 0, to);
      if (both) second.store(_mm256_permute2x128_si256(low, high, 0x31), 0, to + kColumns * 4);
      to += step;
    }
  }
}

void depthwise(const Depthwise& s, const int64_t* taps, const int8_t* weights, const Epilogue& e, Rows rows, char* to) {
  const int64_t size = pairs_of(s) * 32;
  auto wide = static_cast<int16_t*>(scratch<Scratch::Weights>(size * 2));
  with_result(e.result, [&]<class T>(T*) {
    for (int64_t c = 0; c < s.channels; c += kChannels, weights += size) {
      read(reinterpret_cast<const char*>(weights), size, true, reinterpret_cast<char*>(wide));
      channels_of<T>(s, taps, wide, e, c, rows, to + c * static_cast<int64_t>(sizeof(T)));
    }
  });
}

int64_t depthwise_place(const Depthwise& s, int64_t channel, int64_t tap) {
  const int64_t block = channel / kChannels, in_block = channel % kChannels, eighth = in_block / 4;
  const int64_t vector = eighth % 2, place = (eighth / 2 * 4 + in_block % 4) * 2 + tap % 2;
  return (block * pairs_of(s) + tap / 2) * 32 + vector * 16 + place;
}

int64_t depthwise_bytes(const Depthwise& s) {
  return (s.channels + kChannels - 1) / kChannels * kChannels * pairs_of(s) * 2;
}

}  // namespace

#pragma GCC pop_options

namespace {
const Tiles kSmallTiles{
    kColumns, kColumns, 1, true, true, read_small, multiply<uint8_t>, nullptr, nullptr, nullptr,  // not by channel
};
}  // namespace

const Tiles kAvx2Tiles{
    kColumns,        kColumns,     2, false, true, read, multiply<int16_t>, depthwise, depthwise_place,
    depthwise_bytes, &kSmallTiles,
};

}  // namespace taeda::cpu::quantized
#endif
