#include "backend/cpu/ops/quantized_table.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu::quantized {

Tensor _map(const Tensor& integers, const Tensor& table) {
  TAEDA_CHECK(itemsize(integers.dtype()) == 1 && table.dtype() == integers.dtype() && table.numel() == 256 &&
                  table.is_contiguous(),
              "takes 8-bit integers and a contiguous table of 256; got ", integers.dtype(), " and ", table.numel(),
              " of ", table.dtype());
  Tensor x = integers->is_non_overlapping_and_dense() ? integers : ops::clone(integers);
  Tensor result = new_tensor_strided(x.sizes(), x.strides(), x.dtype());
  auto from = static_cast<const uint8_t*>(x.data());
  auto entries = static_cast<const uint8_t*>(table.data());
  auto to = static_cast<uint8_t*>(result.data());
  uint8_t shift = x.dtype() == DType::Int8 ? 128 : 0;
  parallel_for(0, x.numel(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = entries[static_cast<uint8_t>(from[i] + shift)];
  });
  return result;
}

}  // namespace taeda::cpu::quantized
