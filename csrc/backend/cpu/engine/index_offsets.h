// Positions along dimensions as byte offsets, and the iterator over what they leave.
#pragma once
#include "backend/cpu/engine/combine.h"
#include "backend/cpu/engine/tensor_iterator.h"
#include "shape/index_rules.h"

namespace taeda::cpu {

// Contiguous int64.
Tensor as_indices(const Tensor& index);
// Raises for the i-th position, which is outside [0, size).
[[noreturn]] void fail_index(const Tensor& index, int64_t size, int64_t dim, ErrorKind kind = ErrorKind::Index);

// IndexOffsets that positions along some dimensions of a tensor name. The other dimensions are walked at each of them.
struct IndexOffsets {
  int64_t count = 0;
  const int64_t* offsets = nullptr;  // bytes from the first element of the tensor
  Tensor storage;                    // of the offsets
};
enum class Negative : uint8_t { Wraps, Raises };

IndexOffsets offsets_at(const Tensor& self, TensorList positions, const shape::Indexed& indexed);
// `index` holds positions along `dim`.
IndexOffsets offsets_along(const Tensor& self, int64_t dim, const Tensor& index, Negative negative, ErrorKind kind);
// `index` counts elements in row-major order.
IndexOffsets offsets_flat(const Tensor& self, const Tensor& index);

// to[p, rest] = from[place p, rest]: `kept` are the dimensions of `from` that are walked, `kept_steps` and `step` the
// strides in bytes of the result along them and along the places.
struct Rest {
  IntList kept;
  IntList kept_steps;
  int64_t step;
};
void read_at_offsets(char* to, const Tensor& from, const IndexOffsets& places, const Rest& rest);
void write_at_offsets(const Tensor& to, const char* from, const IndexOffsets& places, const Rest& rest,
                      Combine combine);

}  // namespace taeda::cpu
