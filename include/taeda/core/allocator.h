// Memory: a pointer that knows how to free itself, and who gives it out.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "taeda/core/device.h"

namespace taeda {

class DataPtr {
 public:
  using Deleter = void (*)(void* context);
  DataPtr() = default;
  explicit DataPtr(Device device) : device_(std::bit_cast<uint16_t>(device)) {}
  DataPtr(void* data, void* context, Deleter deleter, Device device)
      : data_(data), context_(context), deleter_(deleter), device_(std::bit_cast<uint16_t>(device)) {}
  DataPtr(DataPtr&& other) noexcept
      : data_(other.data_),
        context_(other.context_),
        deleter_(std::exchange(other.deleter_, nullptr)),
        device_(other.device_) {}
  DataPtr& operator=(DataPtr&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DataPtr() {
    if (deleter_) deleter_(context_);
  }
  void* get() const { return data_; }
  void* context() const { return context_; }
  Deleter deleter() const { return deleter_; }
  void* get_context() const { return context_; }
  Deleter get_deleter() const { return deleter_; }
  void* operator->() const { return data_; }
  explicit operator bool() const { return data_ || context_; }
  void clear() { *this = DataPtr(); }
  void* release_context() {  // the caller's to free
    deleter_ = nullptr;
    return std::exchange(context_, nullptr);
  }
  Device device() const { return std::bit_cast<Device>(device_); }

 private:
  void swap(DataPtr& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(context_, other.context_);
    std::swap(deleter_, other.deleter_);
    std::swap(device_, other.device_);
  }
  void* data_ = nullptr;
  void* context_ = nullptr;
  Deleter deleter_ = nullptr;
  // A Device: stored as two bytes and loaded as one word, it would stall every move.
  uint16_t device_ = std::bit_cast<uint16_t>(Device());
};

class TAEDA_API Allocator {
 public:
  virtual ~Allocator() = default;
  virtual DataPtr allocate(size_t bytes, Device device, void* stream = nullptr) = 0;
  // The block may be reused only after work queued on `stream` so far is done.
  virtual void record_stream(const DataPtr&, void* /*stream*/) {}
  // Between two blocks of this device; what resizing a storage needs.
  virtual void copy(void* to, const void* from, size_t bytes);
  // Whether the host may use the addresses of blocks. If not, bytes move by the two functions below.
  virtual bool is_host_addressable() const { return true; }
  virtual void read(void* host, const void* block, size_t bytes) { copy(host, block, bytes); }
  virtual void write(void* block, const void* host, size_t bytes) { copy(block, host, bytes); }
};

TAEDA_API Allocator& allocator(DeviceType type);  // RuntimeError if the device has none
TAEDA_API void set_allocator(DeviceType type, Allocator* allocator);

// The CPU's caching allocator: freed blocks are kept by size class, since giving pages back to the system and
// faulting them in again costs more than most kernels that fill them.
struct MemoryStats {
  uint64_t allocated;       // bytes in live blocks, rounded up to their size classes
  uint64_t peak_allocated;  // of what small blocks add, known whenever memory comes from the system
  uint64_t cached;          // bytes held for reuse
  uint64_t allocations;     // calls since the start
  uint64_t system_allocations;
  uint64_t limit;  // bytes that may be held, live and cached; 0: none
};
TAEDA_API MemoryStats cpu_memory_stats();
TAEDA_API void cpu_empty_cache();  // what other threads keep for themselves (1 MiB each at most) stays
// Beyond it, and after idle blocks were given back, allocating is a RuntimeError.
TAEDA_API void cpu_set_memory_limit(uint64_t bytes);
TAEDA_API void cpu_reset_peak();
constexpr size_t kAlignment = 64;

}  // namespace taeda
