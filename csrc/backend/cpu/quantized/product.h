// Sums of products of 8-bit integers by oneDNN.
#pragma once
#include "backend/cpu/libraries/onednn.h"

namespace taeda::cpu::quantized {

// a (m, k), of dtype uint8 or int8, row by row; b (k, n) int8 with these strides; the result (m, n) int32, row by row.
std::shared_ptr<onednn::Operation> byte_product(DType dtype, int64_t m, int64_t n, int64_t k, IntList strides);

}  // namespace taeda::cpu::quantized
