// The row loops of the instruction set that was chosen at start.
#include "backend/cpu/engine/row_kernels.h"

#include "backend/cpu/engine/isa.h"

namespace taeda::cpu {

#define TAEDA_ROWS(isa)                        \
  namespace isa {                              \
  extern const RowKernels<float> kFloatRows;   \
  extern const RowKernels<double> kDoubleRows; \
  }
TAEDA_ROWS(baseline)
#if defined(__x86_64__)
TAEDA_ROWS(avx2)
TAEDA_ROWS(avx512)
#endif
#undef TAEDA_ROWS

template <>
const RowKernels<float>& row_kernels<float>() {
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512) return avx512::kFloatRows;
  if (kIsa == Isa::Avx2) return avx2::kFloatRows;
#endif
  return baseline::kFloatRows;
}

template <>
const RowKernels<double>& row_kernels<double>() {
#if defined(__x86_64__)
  if (kIsa == Isa::Avx512) return avx512::kDoubleRows;
  if (kIsa == Isa::Avx2) return avx2::kDoubleRows;
#endif
  return baseline::kDoubleRows;
}

}  // namespace taeda::cpu
