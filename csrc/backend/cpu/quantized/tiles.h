// Products of bytes with signed bytes in tiles whose sums become results within the registers' reach: what oneDNN
// leaves to be desired on machines without AMX.
#pragma once
#include <span>

#include "backend/cpu/quantized/epilogue.h"

namespace taeda::cpu::quantized {

// A row of the left matrix lies in `taps` pieces of `run` elements each, at the same distances for every row. Steps
// are of four elements.
struct Shape {
  int64_t columns, taps, run;
  int64_t steps_of_piece() const { return (run + 3) / 4; }
  int64_t steps() const { return taps * steps_of_piece(); }
};

// Elements behind a row that kernels may read, whatever they are.
constexpr int64_t kBehind = 16;

// The sum of two products of unsigned bytes up to this one with signed bytes has 16 bits. Activations of 7 bits, which
// rounding may take to it, are as small.
constexpr uint8_t kSmall = 128;

// Where rows begin.
using Rows = std::span<const char* const>;

// `taps`: where the pieces lie in a row, in bytes. `weights` as Tiles::place_of has them.
struct Product {
  Shape shape;
  const int64_t* taps;
  const int8_t* weights;
  const Epilogue& epilogue;
};

// Of each channel with filters of its own.
struct Depthwise {
  int64_t channels, taps;
};

// The kernels of an instruction set, and how they want their operands.
struct Tiles {
  int64_t panel;      // columns whose weights lie side by side: for each step, four elements of each of them
  int64_t lanes;      // columns are filled up to a multiple of it
  int64_t element;    // bytes of an element of the rows
  bool is_unsigned;   // elements that were signed have 128 added
  bool takes_groups;  // of filters: oneDNN is no better at them

  // Bytes to elements.
  void (*read)(const char* from, int64_t count, bool is_signed, char* to);
  // The results of `rows` for the columns [first, last), `first` a multiple of the panel. Row i's go to `to` + i *
  // `step`, column 0 at its beginning. Four elements at a time are read, the last ones of a piece as well.
  void (*multiply)(const Product& p, Rows rows, char* to, int64_t step, int64_t first, int64_t last);
  // The results of `rows`, one after the other.
  void (*depthwise)(const Depthwise& s, const int64_t* taps, const int8_t* weights, const Epilogue& e, Rows rows,
                    char* to);
  int64_t (*depthwise_place)(const Depthwise& s, int64_t channel, int64_t tap);
  int64_t (*depthwise_bytes)(const Depthwise& s);
  // Others that multiply elements up to kSmall sooner, by the same weights; null where there are none.
  const Tiles* of_small = nullptr;

  // Those for such unsigned elements.
  const Tiles& fitting(const char* elements, int64_t count) const;
  int64_t padded_columns(const Shape& s) const { return (s.columns + lanes - 1) / lanes * lanes; }
  int64_t bytes(const Shape& s) const { return padded_columns(s) * s.steps() * 4; }
  // Where the weight of a column for element i of a piece goes.
  int64_t place_of(const Shape& s, int64_t column, int64_t tap, int64_t i) const {
    const int64_t first = column / panel * panel, width = std::min(panel, padded_columns(s) - first);
    const int64_t step = tap * s.steps_of_piece() + i / 4;
    return first * s.steps() * 4 + (step * width + column - first) * 4 + i % 4;
  }
  // What becomes of sums of such elements.
  Epilogue epilogue(Epilogue e, bool is_signed) const {
    if (e.result == DType::Int32) e.x_zero = 0;
    if (is_signed && is_unsigned) e.x_zero += 128;
    return e;
  }
};

// Of all elements of a row.
template <class Element>
int32_t row_sum(const Shape& s, const int64_t* taps, const char* row) {
  int32_t sum = 0;
  for (int64_t tap = 0; tap < s.taps; ++tap) {
    auto piece = reinterpret_cast<const Element*>(row + taps[tap]);
    for (int64_t i = 0; i < s.run; ++i) sum += piece[i];
  }
  return sum;
}

// Calls body with a null pointer to the type of results.
template <class F>
void with_result(DType dtype, const F& body) {
  if (dtype == DType::Float32) return body(static_cast<float*>(nullptr));
  if (dtype == DType::UInt8) return body(static_cast<uint8_t*>(nullptr));
  if (dtype == DType::Int8) return body(static_cast<int8_t*>(nullptr));
  body(static_cast<int32_t*>(nullptr));
}

#if defined(__x86_64__)
extern const Tiles kVnniTiles, kAvx2Tiles;
#endif

// Those of this machine; null where oneDNN's kernels are better, or where there are none.
const Tiles* tiles();

}  // namespace taeda::cpu::quantized
