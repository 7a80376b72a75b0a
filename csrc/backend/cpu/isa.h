// The instruction set that the CPU kernels use, chosen once. TAEDA_CPU_CAPABILITY=default|avx2|avx512 lowers it.
#pragma once
#include "core/error.h"

namespace taeda::cpu {

enum class Isa : unsigned char { Default, Avx2, Avx512 };
constexpr int kIsas = 3;

TAEDA_API extern const Isa kIsa;
TAEDA_API const char* isa_name();  // as the environment variable spells it, in capitals as PyTorch prints it

}  // namespace taeda::cpu
