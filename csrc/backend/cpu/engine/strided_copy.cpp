#include "backend/cpu/engine/strided_copy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "backend/cpu/engine/convert.h"
#include "core/insertion_sort.h"
#include "taeda/core/parallel.h"

namespace taeda::cpu {

namespace {

constexpr int64_t kTile = 64;         // side of the squares in which transposed elements are moved
constexpr int64_t kAhead = 8;         // source lines that are asked for in advance
constexpr int64_t kStrip = 1024;      // elements of a row when rows run along the second dimension
constexpr int64_t kShortRow = 16;     // rows shorter than this are walked across
constexpr int64_t kFillBlock = 4096;  // bytes of a prepared block that is copied over and over

struct Dim {
  int64_t size, to, from;  // strides in bytes
};

// The dimensions from innermost to outermost, without those of size 1, joined where both sides step through two of
// them as through one.
struct Route {
  int dims = 0;
  std::array<Dim, kMaxDim> dim;

  Route(IntList sizes, const Side& to, const Side& from) {
    for (size_t d = sizes.size(); d-- > 0;)
      if (sizes[d] != 1) dim[dims++] = {sizes[d], to.strides[d], from.strides[d]};
    insertion_sort(dim.begin(), dim.begin() + dims, [](const Dim& a, const Dim& b) {
      return a.to != b.to ? a.to < b.to : std::abs(a.from) < std::abs(b.from);
    });
    int joined = 0;
    for (int d = 0; d < dims; ++d) {
      Dim* last = joined ? &dim[joined - 1] : nullptr;
      if (last && dim[d].to == last->to * last->size && dim[d].from == last->from * last->size)
        last->size *= dim[d].size;
      else
        dim[joined++] = dim[d];
    }
    dims = joined;
    if (dims == 0) dim[dims++] = {1, itemsize(to.dtype), itemsize(from.dtype)};
  }

  int64_t count(int first) const {
    int64_t n = 1;
    for (int d = first; d < dims; ++d) n *= dim[d].size;
    return n;
  }
};

void fill_row(char* to, const char* element, int64_t size, int64_t n) {
  int64_t bytes = n * size;
  if (std::all_of(element, element + size, [](char byte) { return byte == 0; })) {
    std::memset(to, 0, bytes);
    return;
  }
  if (bytes <= kFillBlock) return fill_block(to, element, size, n);
  char block[kFillBlock];
  fill_block(block, element, size, kFillBlock / size);
  for (int64_t at = 0; at < bytes; at += kFillBlock) std::memcpy(to + at, block, std::min(kFillBlock, bytes - at));
}

class Mover {
 public:
  Mover(const Route& route, const Side& to, const Side& from)
      : route_(route), to_(to), from_(from), convert_(converter(from.dtype, to.dtype)) {}

  void run() const {
    if (route_.dims == 1) return run_rows();
    const Dim& inner = route_.dim[0];
    if (inner.size < kShortRow && route_.dim[1].size > inner.size) return run_across();
    int nearest = source_inner();
    nearest ? run_transposed_by_size(nearest) : run_rows();
  }

 private:
  // The dimension along which the source is contiguous, if that is not the destination's innermost: 0 otherwise.
  int source_inner() const {
    int64_t item = itemsize(from_.dtype);
    if (std::abs(route_.dim[0].from) <= item) return 0;
    for (int d = 1; d < route_.dims; ++d)
      if (std::abs(route_.dim[d].from) == item && route_.dim[d].size > 1) return d;
    return 0;
  }

  void row(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) const {
    if (from_step == 0 && to_step == itemsize(to_.dtype) && n > 1) {
      char element[sizeof(complex128)];
      convert_(element, to_step, from, 0, 1);
      return fill_row(to, element, to_step, n);
    }
    convert_(to, to_step, from, from_step, n);
  }

  void run_rows() const {
    const Dim& inner = route_.dim[0];
    parallel_for(0, route_.count(0), kGrain, [&](int64_t begin, int64_t end) {
      std::array<int64_t, kMaxDim> index;
      char *to = to_.data, *from = from_.data;
      int64_t outer = begin / inner.size, skip = begin % inner.size;
      for (int d = 1; d < route_.dims; ++d) {
        const Dim& dim = route_.dim[d];
        index[d] = outer % dim.size;
        outer /= dim.size;
        to += index[d] * dim.to;
        from += index[d] * dim.from;
      }
      for (int64_t left = end - begin; left > 0; skip = 0) {
        int64_t n = std::min(left, inner.size - skip);
        row(to + skip * inner.to, inner.to, from + skip * inner.from, inner.from, n);
        left -= n;
        advance(index, to, from);
      }
    });
  }

  void advance(std::array<int64_t, kMaxDim>& index, char*& to, char*& from) const {
    for (int d = 1; d < route_.dims; ++d) {
      const Dim& dim = route_.dim[d];
      to += dim.to;
      from += dim.from;
      if (++index[d] < dim.size) return;
      to -= dim.to * dim.size;
      from -= dim.from * dim.size;
      index[d] = 0;
    }
  }

  // Calls tile(to, from, length, count) for rectangles of `along` (at most along_tile) and `across`.
  template <class Tile>
  void for_tiles(int along, int across, int64_t along_tile, int64_t across_tile, const Tile& tile) const {
    const Dim &a = route_.dim[along], &b = route_.dim[across];
    int64_t a_tiles = (a.size + along_tile - 1) / along_tile, b_tiles = (b.size + across_tile - 1) / across_tile;
    int64_t tiles = a_tiles * b_tiles * (route_.count(0) / (a.size * b.size));
    int64_t tile_elements = std::min(a.size, along_tile) * std::min(b.size, across_tile);
    parallel_for(0, tiles, std::max<int64_t>(1, kGrain / tile_elements), [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        int64_t i = t % a_tiles * along_tile, j = t / a_tiles % b_tiles * across_tile, outer = t / a_tiles / b_tiles;
        char *to = to_.data + i * a.to + j * b.to, *from = from_.data + i * a.from + j * b.from;
        for (int d = 0; d < route_.dims; ++d) {
          if (d == along || d == across) continue;
          int64_t index = outer % route_.dim[d].size;
          outer /= route_.dim[d].size;
          to += index * route_.dim[d].to;
          from += index * route_.dim[d].from;
        }
        tile(to, from, std::min(along_tile, a.size - i), std::min(across_tile, b.size - j));
      }
    });
  }

  // Short rows along the first dimension: long ones along the second instead.
  void run_across() const {
    const Dim &a = route_.dim[1], &b = route_.dim[0];
    for_tiles(1, 0, kStrip, kShortRow, [&](char* to, const char* from, int64_t length, int64_t count) {
      for (int64_t k = 0; k < count; ++k) row(to + k * b.to, a.to, from + k * b.from, a.from, length);
    });
  }

  // The source runs along dimension `nearest`: squares are turned in a buffer, so that both sides see whole lines.
  template <class Bytes>
  void run_transposed(int nearest) const {
    const Dim &a = route_.dim[0], &b = route_.dim[nearest];
    for_tiles(0, nearest, kTile, kTile, [&](char* to, const char* from, int64_t length, int64_t count) {
      Bytes square[kTile][kTile + 1];  // the odd stride keeps columns out of one another's cache lines
      const int64_t step = b.from;     // what is written might be `b`, for all that the compiler knows
      for (int64_t i = 0; i < length; ++i) {
        const char* line = from + i * a.from;
        // Lines far apart: the processor does not see the next one coming.
        for (int64_t at = 0; at < count * step; at += 64) __builtin_prefetch(line + kAhead * a.from + at);
#pragma GCC unroll 4
        for (int64_t j = 0; j < count; ++j, line += step) std::memcpy(&square[j][i], line, sizeof(Bytes));
      }
      for (int64_t j = 0; j < count; ++j)
        convert_(to + j * b.to, a.to, reinterpret_cast<const char*>(square[j]), sizeof(Bytes), length);
    });
  }

  void run_transposed_by_size(int nearest) const {
    switch (itemsize(from_.dtype)) {
      case 1:
        return run_transposed<uint8_t>(nearest);
      case 2:
        return run_transposed<uint16_t>(nearest);
      case 4:
        return run_transposed<uint32_t>(nearest);
      case 8:
        return run_transposed<uint64_t>(nearest);
      default:
        return run_transposed<complex128>(nearest);
    }
  }

  const Route& route_;
  const Side &to_, &from_;
  Convert convert_;
};

// The strides in bytes of a tensor that is expanded to `sizes`; of none, zeros.
class ByteStrides {
 public:
  ByteStrides(const Tensor* t, IntList sizes) : many_(sizes.size() > kMaxDim ? sizes.size() : 0) {
    int64_t* strides = many_.empty() ? few_.data() : many_.data();
    size_t lead = t ? sizes.size() - t->sizes().size() : sizes.size();
    for (size_t d = 0; d < sizes.size(); ++d)
      strides[d] = d >= lead && t->sizes()[d - lead] == sizes[d] ? t->strides()[d - lead] * t->itemsize() : 0;
  }
  const int64_t* data() const { return many_.empty() ? few_.data() : many_.data(); }

 private:
  std::array<int64_t, kMaxDim> few_;
  std::vector<int64_t> many_;
};

void move_block(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kPiece = int64_t{1} << 19;
  parallel_for(0, bytes, kPiece,
               [&](int64_t begin, int64_t end) { std::memcpy(to + begin, from + begin, end - begin); });
}

template <class T>
bool holds_int(const Scalar& number) {
  if constexpr (std::is_integral_v<T>) {
    if (number.kind() == Scalar::Kind::UInt) return number.to<uint64_t>() <= uint64_t{std::numeric_limits<T>::max()};
    if constexpr (sizeof(T) < sizeof(int64_t)) {
      constexpr int64_t kMax = std::numeric_limits<T>::max();
      constexpr int64_t kMin = std::is_signed_v<T> ? std::numeric_limits<T>::min() : -kMax;
      return number.as_int() >= kMin && number.as_int() <= kMax;
    }
  }
  return true;
}

// Whether T has a value for the real number `x`.
template <class T>
bool holds_real(double x) {
  if constexpr (std::is_same_v<T, float>) {
    return !std::isfinite(x) || std::abs(x) <= std::numeric_limits<float>::max();
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    constexpr double max = std::is_same_v<T, Half> ? 0x1.ffcp15 : 0x1.fep127;
    return !std::isfinite(x) || std::abs(x) <= max;
  } else if constexpr (std::is_integral_v<T>) {
    double max = std::ldexp(1.0, std::numeric_limits<T>::digits);
    double min = std::is_signed_v<T> ? -max : -(max - 1);
    return x >= min && x < max;  // false for NaN
  } else {
    return true;
  }
}

template <class T>
bool holds(const Scalar& number) {
  if constexpr (std::is_same_v<T, bool>) return true;
  if (number.kind() < Scalar::Kind::Float && (std::is_integral_v<T> || sizeof(T) > sizeof(Half)))
    return holds_int<T>(number);
  complex128 value = number.to<complex128>();
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>)
    return holds_real<typename T::value_type>(value.real()) && holds_real<typename T::value_type>(value.imag());
  else if constexpr (std::is_same_v<T, ComplexHalf>)
    return holds_real<Half>(value.real()) && holds_real<Half>(value.imag());
  else
    return value.imag() == 0 && holds_real<T>(value.real());
}

}  // namespace

void check_fits(DType dtype, const Scalar& number) {
  visit_stored(dtype, [&]<class T>() {
    TAEDA_CHECK(holds<T>(number), "the number ", number, " does not fit an element of dtype ", dtype);
  });
}

void store_number(DType dtype, const Scalar& number, void* to) {
  check_fits(dtype, number);
  visit_stored(dtype, [&]<class T>() {
    T element = number.to<T>();
    std::memcpy(to, &element, sizeof element);
  });
}

void strided_copy(IntList sizes, const Side& to, const Side& from) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  Mover(Route(sizes, to, from), to, from).run();
}

void strided_copy(const Tensor& to, const Tensor& from) {
  if (to.numel() == 0) return;
  if (to.dtype() == from.dtype() && to.is_contiguous() && from.is_contiguous() && to.numel() == from.numel())
    return move_block(to.data<char>(), from.data<char>(), to.numel() * to.itemsize());
  ByteStrides to_strides(&to, to.sizes()), from_strides(&from, to.sizes());
  strided_copy(to.sizes(), {to.data<char>(), to_strides.data(), to.dtype()},
               {from.data<char>(), from_strides.data(), from.dtype()});
}

void fill_elements(const Tensor& to, const void* element) {
  if (to.numel() == 0) return;
  char value[sizeof(complex128)];
  std::memcpy(value, element, to.itemsize());
  ByteStrides strides(&to, to.sizes()), none(nullptr, to.sizes());
  strided_copy(to.sizes(), {to.data<char>(), strides.data(), to.dtype()}, {value, none.data(), to.dtype()});
}

}  // namespace taeda::cpu
