#include "core/guard_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "taeda/core/allocator.h"

namespace taeda {

namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
constexpr unsigned char kFresh = 0xEB;  // what nobody has written yet: NaN, or a number that is no index
constexpr size_t kMostFilled = size_t{1} << 20;

// A page that cannot be touched, the pages of the block, and another such page.
struct GuardedBlock {
  char* begin;  // of the first guard
  size_t room;  // of the pages between the guards
  size_t bytes;

  char* first() const { return begin + kPage; }
  char* data() const { return first() + room - bytes; }
};

void release(void* context) {
  auto* block = static_cast<GuardedBlock*>(context);
  // Before the block there is what is left of its first page.
  if (std::any_of(block->first(), block->data(), [](char c) { return static_cast<unsigned char>(c) != kFresh; })) {
    std::fprintf(stderr, "taeda: something was written before a block of %zu bytes\n", block->bytes);
    std::abort();
  }
  munmap(block->begin, block->room + 2 * kPage);
  delete block;
}

class GuardedAllocator final : public Allocator {
 public:
  DataPtr allocate(size_t bytes, Device device, void*) override {
    if (bytes == 0) return DataPtr(device);
    uint64_t limit = cpu_memory_stats().limit;
    TAEDA_CHECK(bytes <= limit || !limit, "cannot allocate ", bytes, " bytes on the CPU: the limit is ", limit);
    size_t room = (bytes + kPage - 1) / kPage * kPage;
    void* mapped = mmap(nullptr, room + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TAEDA_CHECK(mapped != MAP_FAILED, "cannot allocate ", bytes, " bytes on the CPU");
    auto* block = new GuardedBlock{static_cast<char*>(mapped), room, bytes};
    TAEDA_CHECK(mprotect(block->first(), room, PROT_READ | PROT_WRITE) == 0, "cannot allocate ", bytes, " bytes");
    std::memset(block->first(), kFresh, std::min(room, kMostFilled));
    return DataPtr(block->data(), block, release, device);
  }
};

}  // namespace

void cpu_guard_pages() { set_allocator(DeviceType::CPU, new GuardedAllocator); }

}  // namespace taeda
