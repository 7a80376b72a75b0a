// Plans carried out.
#pragma once
#include "backend/cpu/fft/fft_plan.h"
#include "taeda/core/allocator.h"

namespace taeda::cpu::fft {

// Room for `n` complex numbers in two parts; not initialised.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t n)
      : part_(n), memory_(allocator(DeviceType::CPU).allocate(2 * n * sizeof(T), Device(DeviceType::CPU))) {}
  Split<T> split() const { return {static_cast<T*>(memory_.get()), static_cast<T*>(memory_.get()) + part_}; }
  T* data() const { return static_cast<T*>(memory_.get()); }

 private:
  int64_t part_;
  DataPtr memory_;
};

// Of `lanes` interleaved lines (1, or as many as loops<T>().lanes), from a, by way of b. Returns where the result is.
// Both hold plan.rows numbers a line.
template <class T>
Split<T> run(const Plan<T>& plan, int64_t lanes, Split<T> a, Split<T> b);

// Of the one line `from` into `to`, which may be the same memory; results are scaled.
template <class T>
void run_matrix(const Matrix<T>& m, bool backward, const Strided<const T>& from, T scale, const Strided<T>& to);

}  // namespace taeda::cpu::fft
