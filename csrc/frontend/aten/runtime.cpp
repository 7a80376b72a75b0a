// Allocators of devices, the pool of threads, custom classes: what headers ask of the process.
#include <ATen/Parallel.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/DeviceGuard.h>
#include <omp.h>

#include <atomic>

#include "dispatch/profiler.h"

namespace at {

int get_thread_num() { return omp_get_thread_num(); }
bool in_parallel_region() { return omp_in_parallel(); }

std::string get_parallel_info() {
  return c10::str("taeda: one pool of OpenMP's threads\n  threads: ", get_num_threads(),
                  "\n  of the machine: ", omp_get_num_procs(), "\n");
}

RecordFunction::RecordFunction(std::string name)
    : event_(::taeda::is_profiled() ? ::taeda::begin_event(std::move(name), ::taeda::ProfileKind::User) : 0) {}
RecordFunction::~RecordFunction() {
  if (event_) ::taeda::end_event(event_);
}

}  // namespace at

namespace c10 {

namespace impl {
namespace {
std::atomic<const DeviceGuardImplInterface*> g_guards[::taeda::kDeviceTypes];
}  // namespace
void register_guard(DeviceType type, const DeviceGuardImplInterface* guard) {
  TORCH_CHECK(!::taeda::is_name_alone(type), "a guard for ", type, ", which is a name alone");
  g_guards[static_cast<int>(type)].store(guard);
}
const DeviceGuardImplInterface* find_guard(DeviceType type) {
  return ::taeda::is_name_alone(type) ? nullptr : g_guards[static_cast<int>(type)].load();
}
}  // namespace impl

namespace {

// An allocator of a program's as one of the core's, and the reverse.
struct Adapter final : ::taeda::Allocator {
  explicit Adapter(c10::Allocator* of) : inner(of) {}
  c10::Allocator* inner;
  ::taeda::DataPtr allocate(size_t bytes, ::taeda::Device device, void*) override {
    // It gives memory of the current device.
    const OptionalDeviceGuard guard(device.index < 0 ? std::nullopt : std::optional<Device>(device));
    return inner->allocate(bytes);
  }
  void copy(void* to, const void* from, size_t bytes) override { inner->copy_data(to, from, bytes); }
};
struct CoreAllocator final : c10::Allocator {
  explicit CoreAllocator(DeviceType of) : type(of) {}
  DeviceType type;
  DataPtr allocate(size_t bytes) override { return ::taeda::allocator(type).allocate(bytes, ::taeda::Device{type}); }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    ::taeda::allocator(type).copy(to, from, bytes);
  }
};

}  // namespace

void* Allocator::raw_allocate(size_t bytes) {
  TORCH_CHECK(raw_deleter(), "raw_allocate: the allocator has no deleter for bare pointers");
  DataPtr block = allocate(bytes);
  void* data = block.get();
  alignas(DataPtr) std::byte kept[sizeof(DataPtr)];
  new (kept) DataPtr(std::move(block));  // never destroyed: the block lives until raw_deallocate
  return data;
}
void Allocator::raw_deallocate(void* block) {
  DeleterFnPtr deleter = raw_deleter();
  TORCH_CHECK(deleter, "raw_deallocate: the allocator has no deleter for bare pointers");
  deleter(block);
}
DataPtr Allocator::clone(const void* data, std::size_t bytes) {
  DataPtr made = allocate(bytes);
  copy_data(made.mutable_get(), data, bytes);
  return made;
}
void Allocator::default_copy_data(void* to, const void* from, std::size_t bytes) const {
  if (bytes) std::memcpy(to, from, bytes);  // empty blocks may be null
}

void SetAllocator(DeviceType type, Allocator* allocator, uint8_t) {
  ::taeda::set_allocator(type, new Adapter(allocator));  // as long as the process, as tensors may be
}

Allocator* GetAllocator(const DeviceType& type) {
  if (auto* adapter = dynamic_cast<Adapter*>(&::taeda::allocator(type))) return adapter->inner;
  static CoreAllocator* const all = [] {
    auto* table = static_cast<CoreAllocator*>(::operator new(sizeof(CoreAllocator) * ::taeda::kDeviceTypes));
    for (int i = 0; i < ::taeda::kDeviceTypes; ++i) new (table + i) CoreAllocator(static_cast<DeviceType>(i));
    return table;
  }();
  return all + static_cast<int>(type);
}

}  // namespace c10
