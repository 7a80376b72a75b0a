#include "taeda/core/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <ctime>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "core/machine_memory.h"
#include "taeda/core/fork.h"
#include "taeda/core/thread_state.h"

namespace taeda {

namespace {

// --- Size classes: four to a doubling, all multiples of 64 bytes. Classes up to kSmallBytes have lists per thread;
// a block's class travels in the low six bits of its deleter's context, which its alignment leaves free.
constexpr int kSmallClasses = 36;
constexpr size_t kSmallBytes = size_t{64} << 10;
constexpr int kClasses = kSmallClasses + 4 * 31;  // up to 2^47
constexpr size_t kMaxBytes = size_t{1} << 47;     // what x86-64 can address
static_assert(kSmallClasses < kAlignment);

int class_of(size_t bytes) {
  size_t units = (bytes + kAlignment - 1) / kAlignment;
  if (units <= 8) return static_cast<int>(units) - 1;
  int doubling = std::bit_width(units - 1) - 1;  // units lie in (2^doubling, 2^(doubling + 1)]
  return 4 * (doubling - 1) + static_cast<int>((units - 1) >> (doubling - 2) & 3);
}

constexpr size_t class_bytes(int size_class) {
  if (size_class < 8) return (static_cast<size_t>(size_class) + 1) * kAlignment;
  int doubling = size_class / 4 + 1, quarter = size_class % 4;
  return (static_cast<size_t>(quarter) + 5) * (size_t{1} << (doubling - 2)) * kAlignment;
}
static_assert(class_bytes(kSmallClasses - 1) == kSmallBytes);
static_assert(class_bytes(kClasses - 1) == kMaxBytes);

// --- System memory
constexpr size_t kHugePage = size_t{2} << 20;

void* map_huge(size_t bytes) {
  // Mapped with room to spare and trimmed, so that huge pages fit from the first byte on.
  void* raw = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(raw);
  size_t before = -reinterpret_cast<uintptr_t>(begin) & (kHugePage - 1);
  if (before) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

void* system_new(size_t bytes) { return bytes >= kHugePage ? map_huge(bytes) : std::aligned_alloc(kAlignment, bytes); }
void system_delete(void* data, size_t bytes) {
  if (bytes >= kHugePage)
    munmap(data, bytes);
  else
    std::free(data);
}
// What was freed but lies between blocks in use goes back to the system.
void system_trim() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

uint64_t nanoseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// --- What a thread keeps. Only its owner writes; the statistics read.
struct FreeBlock {
  FreeBlock* next;
};
struct ThreadCache {
  FreeBlock* heads[kSmallClasses] = {};
  std::atomic<uint64_t> cached{0};  // bytes in the lists
  std::atomic<uint64_t> allocations{0};
  ThreadCache* next = nullptr;
};
constexpr uint64_t kThreadCacheBytes = 1 << 20;

void add(std::atomic<uint64_t>& counter, uint64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// Stands for the cache of a thread that has none, before its first or after its last: always empty and always full.
constinit ThreadCache g_no_cache{.cached = UINT64_MAX / 2};
constinit thread_local ThreadCache* t_cache TAEDA_TLS = &g_no_cache;

// --- What all threads share
struct LargeBlock {
  char* data;
  size_t bytes;  // of its class
  int size_class;
  LargeBlock* newer = nullptr;  // neighbours in the list of idle blocks of its class
  LargeBlock* older = nullptr;
  uint64_t freed_at = 0;
};

class Pool {
 public:
  void* take_small(int size_class);
  void give_small(int size_class, void* data);
  LargeBlock* take_large(size_t bytes);
  void give_large(LargeBlock* block);
  ThreadCache* adopt_thread();
  void drop_thread(ThreadCache* cache);
  MemoryStats stats();
  void empty();
  void set_limit(uint64_t bytes);
  void reset_peak();

 private:
  struct IdleList {
    LargeBlock* newest = nullptr;
    LargeBlock* oldest = nullptr;
  };

  void* from_system(size_t bytes);
  void unlink(LargeBlock* block);
  bool evict_oldest();
  void make_room(uint64_t bytes, uint64_t bound);
  void release_small(uint64_t bytes);
  void empty_locked();
  void spill_locked(ThreadCache& cache, uint64_t keep);
  uint64_t cached_locked() const;
  uint64_t live_locked() const { return held_ - std::min(held_, cached_locked()); }
  void note_peak() {
    uint64_t live = live_locked();
    peak_ = std::max(peak_, live);
    recent_peak_ = std::max(recent_peak_, live);
  }
  void forget_old_peak();
  // Idle memory is kept as long as the whole stays near what was lately needed at the same time.
  uint64_t usual_bound() const {
    uint64_t usual = std::max(recent_peak_, previous_peak_);
    return usual + std::max<uint64_t>(usual / 4, uint64_t{64} << 20);
  }
  [[noreturn]] void out_of_memory(size_t bytes, std::string_view why) const;

  Mutex mutex_;
  ThreadCache* threads_ = nullptr;
  std::array<FreeBlock*, kSmallClasses> small_{};
  std::array<IdleList, kClasses> large_{};
  uint64_t held_ = 0;        // bytes from the system, live or idle
  uint64_t idle_small_ = 0;  // bytes in small_
  uint64_t idle_large_ = 0;  // bytes in large_
  uint64_t peak_ = 0;
  uint64_t recent_peak_ = 0;    // since window_start_
  uint64_t previous_peak_ = 0;  // in the window before
  uint64_t window_start_ = 0;   // in nanoseconds
  uint64_t limit_ = 0;
  uint64_t allocations_ = 0;  // of large blocks and of threads that are gone
  uint64_t system_allocations_ = 0;
  uint64_t clock_ = 0;
};

Pool& pool() {
  static Pool* instance = new Pool;  // outlives the tensors that static objects hold
  return *instance;
}

struct ThreadExit {
  ~ThreadExit() {
    ThreadCache* cache = t_cache;
    t_cache = &g_no_cache;
    finished = true;
    if (cache != &g_no_cache) pool().drop_thread(cache);
  }
  bool finished = false;
};
thread_local ThreadExit t_exit;

// This thread's cache, made at first use; the stand-in once the thread is exiting.
ThreadCache& own_cache() {
  if (t_cache == &g_no_cache && !t_exit.finished) t_cache = pool().adopt_thread();
  return *t_cache;
}

void Pool::out_of_memory(size_t bytes, std::string_view why) const {
  uint64_t live = live_locked();
  TAEDA_FAIL(Runtime, "cannot allocate ", bytes, " bytes on the CPU: ", why, ". Live tensors hold ", live,
             " bytes, idle blocks ", held_ - std::min(held_, live), ", the limit is ",
             limit_ ? str(limit_, " bytes") : std::string("not set"),
             ". Free tensors, use smaller batches or a smaller dtype, or raise the limit");
}

void* Pool::from_system(size_t bytes) {
  // The system would grant it, and end the process when it is written to.
  if (bytes >= kHugePage && bytes > machine_memory())
    out_of_memory(bytes, str("this machine, or what its control groups allow, has only ", machine_memory(), " bytes"));
  if (limit_) {
    if (bytes > limit_) out_of_memory(bytes, "the request alone exceeds the limit");
    make_room(bytes, limit_);
    if (held_ + bytes > limit_) empty_locked();
    if (held_ + bytes > limit_) out_of_memory(bytes, "the limit would be exceeded");
  }
  forget_old_peak();
  make_room(bytes, usual_bound());
  void* data = system_new(bytes);
  if (!data) {
    empty_locked();
    data = system_new(bytes);
  }
  if (!data) out_of_memory(bytes, "the system has no more memory to give");
  held_ += bytes;
  ++system_allocations_;
  return data;
}

// Gives idle blocks back, large ones that are unused for longest first, until `bytes` more fit the bound.
void Pool::make_room(uint64_t bytes, uint64_t bound) {
  while (idle_large_ && held_ + bytes > bound && evict_oldest()) {
  }
  if (idle_small_ && held_ + bytes > bound) release_small(held_ + bytes - bound);
}

// Small blocks go to malloc, which joins neighbours and can serve other sizes with them; many at a time, as most of
// their neighbours must be free for that.
void Pool::release_small(uint64_t bytes) {
  constexpr uint64_t kAtLeast = 4 << 20;
  uint64_t keep = held_ - std::min(held_, std::max(bytes, kAtLeast));
  for (int c = kSmallClasses - 1; c >= 0; --c) {
    uint64_t size = class_bytes(c);
    while (held_ > keep && small_[c]) {
      FreeBlock* block = std::exchange(small_[c], small_[c]->next);
      system_delete(block, size);
      held_ -= size;
      idle_small_ -= size;
    }
  }
}

// A window is so long that fetching its peak from the system once more takes a few percent of it.
void Pool::forget_old_peak() {
  constexpr uint64_t kLeast = 1'000'000'000, kPerByte = 10;
  uint64_t now = nanoseconds_now();
  if (now - window_start_ < std::max(kLeast, kPerByte * std::max(recent_peak_, previous_peak_))) return;
  previous_peak_ = std::exchange(recent_peak_, live_locked());
  window_start_ = now;
}

bool Pool::evict_oldest() {
  LargeBlock* victim = nullptr;
  for (const IdleList& list : large_)
    if (list.oldest && (!victim || list.oldest->freed_at < victim->freed_at)) victim = list.oldest;
  if (!victim) return false;
  unlink(victim);
  held_ -= victim->bytes;
  system_delete(victim->data, victim->bytes);
  delete victim;
  return true;
}

void Pool::unlink(LargeBlock* block) {
  IdleList& list = large_[block->size_class];
  (block->newer ? block->newer->older : list.newest) = block->older;
  (block->older ? block->older->newer : list.oldest) = block->newer;
  block->newer = block->older = nullptr;
  idle_large_ -= block->bytes;
}

void* Pool::take_small(int size_class) {
  ThreadCache& cache = own_cache();
  size_t bytes = class_bytes(size_class);
  Lock lock(mutex_);
  void* data;
  if (FreeBlock*& head = small_[size_class]) {
    data = std::exchange(head, head->next);
    idle_small_ -= bytes;
  } else {
    data = from_system(bytes);
    note_peak();
  }
  if (&cache == &g_no_cache)
    ++allocations_;
  else
    add(cache.allocations, 1);
  return data;
}

void Pool::give_small(int size_class, void* data) {
  ThreadCache& cache = own_cache();
  size_t bytes = class_bytes(size_class);
  FreeBlock* block = static_cast<FreeBlock*>(data);
  Lock lock(mutex_);
  if (&cache == &g_no_cache) {
    block->next = std::exchange(small_[size_class], block);
    idle_small_ += bytes;
    return;
  }
  block->next = std::exchange(cache.heads[size_class], block);
  add(cache.cached, bytes);
  if (cache.cached.load(std::memory_order_relaxed) > kThreadCacheBytes) spill_locked(cache, kThreadCacheBytes / 2);
}

LargeBlock* Pool::take_large(size_t bytes) {
  if (bytes > kMaxBytes) {
    Lock lock(mutex_);
    out_of_memory(bytes, "no machine can address that much, so a size must be wrong");
  }
  int size_class = class_of(bytes);
  Lock lock(mutex_);
  ++allocations_;
  // The next class up wastes at most a quarter more and saves a trip to the system.
  for (int c = size_class; c < std::min(size_class + 2, kClasses); ++c) {
    if (LargeBlock* block = large_[c].newest) {
      unlink(block);
      note_peak();
      return block;
    }
  }
  size_t rounded = class_bytes(size_class);
  void* data = from_system(rounded);
  LargeBlock* block = new LargeBlock{static_cast<char*>(data), rounded, size_class};
  note_peak();
  return block;
}

void Pool::give_large(LargeBlock* block) {
  Lock lock(mutex_);
  IdleList& list = large_[block->size_class];
  block->freed_at = ++clock_;
  block->older = list.newest;
  (list.newest ? list.newest->newer : list.oldest) = block;
  list.newest = block;
  idle_large_ += block->bytes;
  forget_old_peak();
  make_room(0, usual_bound());
}

ThreadCache* Pool::adopt_thread() {
  ThreadCache* cache = new ThreadCache;
  Lock lock(mutex_);
  cache->next = std::exchange(threads_, cache);
  return cache;
}

void Pool::drop_thread(ThreadCache* cache) {
  {
    Lock lock(mutex_);
    spill_locked(*cache, 0);
    allocations_ += cache->allocations.load(std::memory_order_relaxed);
    ThreadCache** link = &threads_;
    while (*link != cache) link = &(*link)->next;
    *link = cache->next;
  }
  delete cache;
}

// Moves blocks to the shared lists, the largest first, until at most `keep` bytes are left.
void Pool::spill_locked(ThreadCache& cache, uint64_t keep) {
  uint64_t cached = cache.cached.load(std::memory_order_relaxed);
  for (int c = kSmallClasses - 1; c >= 0; --c) {
    while (cached > keep && cache.heads[c]) {
      FreeBlock* block = std::exchange(cache.heads[c], cache.heads[c]->next);
      block->next = std::exchange(small_[c], block);
      cached -= class_bytes(c);
      idle_small_ += class_bytes(c);
    }
  }
  cache.cached.store(cached, std::memory_order_relaxed);
}

uint64_t Pool::cached_locked() const {
  uint64_t cached = idle_small_ + idle_large_;
  for (const ThreadCache* cache = threads_; cache; cache = cache->next)
    cached += cache->cached.load(std::memory_order_relaxed);
  return cached;
}

void Pool::empty_locked() {
  if (t_cache != &g_no_cache) spill_locked(*t_cache, 0);
  while (evict_oldest()) {
  }
  release_small(idle_small_);
}

void Pool::empty() {
  Lock lock(mutex_);
  empty_locked();
  recent_peak_ = previous_peak_ = live_locked();
  system_trim();
}

void Pool::set_limit(uint64_t bytes) {
  Lock lock(mutex_);
  limit_ = bytes;
  if (bytes && held_ > bytes) empty_locked();
}

void Pool::reset_peak() {
  Lock lock(mutex_);
  peak_ = live_locked();
}

MemoryStats Pool::stats() {
  Lock lock(mutex_);
  note_peak();
  uint64_t allocations = allocations_;
  for (const ThreadCache* cache = threads_; cache; cache = cache->next)
    allocations += cache->allocations.load(std::memory_order_relaxed);
  return {live_locked(), peak_, cached_locked(), allocations, system_allocations_, limit_};
}

// --- Hot paths
void free_small(void* context) {
  uintptr_t tagged = reinterpret_cast<uintptr_t>(context);
  int size_class = static_cast<int>(tagged & (kAlignment - 1));
  FreeBlock* block = reinterpret_cast<FreeBlock*>(tagged & ~uintptr_t{kAlignment - 1});
  ThreadCache& cache = *t_cache;
  uint64_t cached = cache.cached.load(std::memory_order_relaxed) + class_bytes(size_class);
  if (cached > kThreadCacheBytes) [[unlikely]]
    return pool().give_small(size_class, block);
  block->next = cache.heads[size_class];
  cache.heads[size_class] = block;
  cache.cached.store(cached, std::memory_order_relaxed);
}

void free_large(void* context) { pool().give_large(static_cast<LargeBlock*>(context)); }

class CpuAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes, Device device, void*) override {
    if (bytes == 0) return DataPtr(device);
    if (bytes > kSmallBytes) {
      LargeBlock* block = pool().take_large(bytes);
      return DataPtr(block->data, block, free_large, device);
    }
    int size_class = class_of(bytes);
    char* data = static_cast<char*>(take_small(size_class));
    return DataPtr(data, data + size_class, free_small, device);
  }

 private:
  static void* take_small(int size_class) {
    ThreadCache& cache = *t_cache;
    FreeBlock* block = cache.heads[size_class];
    if (!block) [[unlikely]]
      return pool().take_small(size_class);
    cache.heads[size_class] = block->next;
    add(cache.cached, -class_bytes(size_class));
    add(cache.allocations, 1);
    return block;
  }
};

// Shapes without memory.
class MetaAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t, Device device, void*) override { return DataPtr(device); }
  void copy(void*, const void*, size_t) override {}
};

CpuAllocator g_cpu;
MetaAllocator g_meta;
constinit std::atomic<Allocator*> g_allocators[kDeviceTypes] = {&g_cpu,  nullptr, nullptr, nullptr,
                                                                &g_meta, nullptr, nullptr, nullptr};

}  // namespace

void Allocator::copy(void* to, const void* from, size_t bytes) {
  if (bytes) std::memcpy(to, from, bytes);
}

Allocator& allocator(DeviceType type) {
  Allocator* found = nullptr;
  if (!is_name_alone(type)) found = g_allocators[static_cast<int>(type)].load(std::memory_order_acquire);
  if (!found && type == DeviceType::CUDA)
    TAEDA_FAIL(Assertion, "this build of Taeda has no CUDA; taeda.cuda.is_available() tells");
  if (!found && (type == DeviceType::XPU || type == DeviceType::MTIA))
    TAEDA_FAIL(Assertion, "this build of Taeda has no allocator for '", device_type_name(type), "'");
  TAEDA_CHECK_KIND(NotImplemented, found, "no allocator for the device '", device_type_name(type),
                   "': its backend is not loaded");
  return *found;
}

void set_allocator(DeviceType type, Allocator* allocator) {
  TAEDA_CHECK(!is_name_alone(type), "an allocator for '", device_type_name(type), "', which is a name alone");
  g_allocators[static_cast<int>(type)].store(allocator, std::memory_order_release);
}

MemoryStats cpu_memory_stats() { return pool().stats(); }
void cpu_empty_cache() { pool().empty(); }
void cpu_set_memory_limit(uint64_t bytes) { pool().set_limit(bytes); }
void cpu_reset_peak() { pool().reset_peak(); }

}  // namespace taeda
