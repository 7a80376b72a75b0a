#pragma once
#include <cstdint>

namespace taeda {

// The bytes that this process can have at most: the machine's memory and swap, or what its control groups allow.
uint64_t machine_memory();

}  // namespace taeda
