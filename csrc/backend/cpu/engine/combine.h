// Writing rows of elements to places that indices name: plainly, or combined with what is there.
#pragma once
#include <string_view>

#include "taeda/core/tensor.h"

namespace taeda::cpu {

enum class Combine : uint8_t { Put, Sum, Prod, Max, Min };

// Steps count bytes. Elements are handled in order, so later ones win and sums do not depend on threads.
struct RowOps {
  // to[i] = to[i] . from[i]
  void (*row)(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n);
  // The same at to + i * to_step + index[i] * stride; stops at the first index outside [0, size) and returns its i,
  // n when there is none.
  int64_t (*at)(char* to, int64_t to_step, const char* index, int64_t index_step, int64_t size, int64_t stride,
                const char* from, int64_t from_step, int64_t n);
};
// NotImplementedError for the largest and smallest of complex numbers.
RowOps row_ops(Combine combine, DType dtype);
// The element that changes nothing, 0 for Put.
void neutral_element(Combine combine, DType dtype, void* to);
// Sums to means: integers round down.
void divide_mean(const Tensor& sums, const Tensor& count);

// Reading: to[i] = from[i * from_step + index[i] * stride], with the same answer.
using Pick = int64_t (*)(char* to, int64_t to_step, const char* from, int64_t from_step, const char* index,
                         int64_t index_step, int64_t size, int64_t stride, int64_t n);
Pick pick_of(int64_t itemsize);

}  // namespace taeda::cpu
