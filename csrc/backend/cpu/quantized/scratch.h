// Memory of a thread that is kept between calls: fresh pages cost more than what is computed in them.
#pragma once
#include <cstdint>
#include <memory>

namespace taeda::cpu::quantized {

// At least so many bytes, aligned for vectors; the same ones for each call on a thread with that `use`.
enum class Scratch : uint8_t { Sums, Image, Elements, Weights };
template <Scratch use>
void* scratch(int64_t bytes) {
  constexpr size_t kAlign = 64;
  thread_local std::unique_ptr<char[]> kept;
  thread_local size_t size = 0;
  size_t wanted = static_cast<size_t>(bytes) + kAlign;
  if (size < wanted) {
    kept.reset();
    kept.reset(new char[wanted]);
    size = wanted;
  }
  void* start = kept.get();
  return std::align(kAlign, static_cast<size_t>(bytes), start, wanted);
}

}  // namespace taeda::cpu::quantized
