// Products of unsigned bytes with signed ones by AVX-512's instruction for them, with the results made in registers'
// reach: what oneDNN leaves to be desired on machines without AMX.
#pragma once
#include <span>
#include <vector>

#include "backend/cpu/quantized/epilogue.h"

namespace taeda::cpu::quantized::vnni {

// Whether the machine has the instruction, and nothing better.
bool available();

// What becomes of sums whose x, where it was signed, had 128 added.
inline Epilogue of_unsigned(Epilogue e, bool was_signed) {
  if (e.result == DType::Int32) e.x_zero = 0;
  if (was_signed) e.x_zero += 128;
  return e;
}

// A row of the left matrix lies in `taps` pieces of `run` bytes each, at the same distances for every row. Weights are
// packed for it by 64 columns: for each piece, four of its bytes, for all the columns.
struct Shape {
  int64_t columns, taps, run;
  int64_t steps() const { return (run + 3) / 4; }
  int64_t padded_columns() const { return (columns + 15) / 16 * 16; }
  int64_t bytes() const { return padded_columns() * taps * steps() * 4; }
};
constexpr int64_t kColumns = 64;

// Where the weight of a column for byte i of a piece goes.
inline int64_t place_of(const Shape& s, int64_t column, int64_t tap, int64_t i) {
  int64_t panel = column / kColumns * kColumns, width = std::min(kColumns, s.padded_columns() - panel);
  int64_t step = tap * s.steps() + i / 4;
  return panel * s.taps * s.steps() * 4 + (step * width + column - panel) * 4 + i % 4;
}

// The results of `rows` (where each begins; four bytes at a time are read, also the last ones of a piece) for the
// columns [first, last), `first` a multiple of 64. Row i's go to `to` + i * `step`, column 0 at its beginning.
struct Product {
  Shape shape;
  const int64_t* taps;
  const int8_t* weights;
  const Epilogue& epilogue;
};
void multiply(const Product& p, std::span<const uint8_t* const> rows, char* to, int64_t step, int64_t first,
              int64_t last);

// Of each channel with filters of its own: `taps` bytes of it, at those distances. `weights` as packed below.
struct Depthwise {
  int64_t channels, taps;
  int64_t groups() const { return (taps + 3) / 4; }
  int64_t bytes() const { return (channels + 63) / 64 * 64 * groups() * 4; }
};
int64_t place_of(const Depthwise& s, int64_t channel, int64_t tap);
void depthwise(const Depthwise& s, const int64_t* taps, const int8_t* weights, const Epilogue& e,
               std::span<const uint8_t* const> rows, char* to);

}  // namespace taeda::cpu::quantized::vnni
