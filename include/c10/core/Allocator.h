// Memory that knows how to free itself, and who gives it out.
#pragma once
#include <functional>
#include <memory>

#include <c10/core/Device.h>
#include <taeda/core/allocator.h>

namespace c10 {

using DeleterFnPtr = void (*)(void*);

class DataPtr : public ::taeda::DataPtr {
  using Base = ::taeda::DataPtr;

 public:
  DataPtr() = default;
  DataPtr(Base&& base) : Base(std::move(base)) {}
  DataPtr(void* data, Device device) : Base(data, nullptr, nullptr, device) {}
  DataPtr(void* data, void* context, DeleterFnPtr deleter, Device device) : Base(data, context, deleter, device) {}
  operator bool() const { return get() || context(); }
  void* mutable_get() { return get(); }
  Device device() const { return Base::device(); }
};

// Gives out blocks of one device. A class of this kind is given to the core by SetAllocator.
struct C10_API Allocator {
  virtual ~Allocator() = default;
  virtual DataPtr allocate(size_t bytes) = 0;
  virtual void copy_data(void* to, const void* from, std::size_t bytes) const = 0;
  virtual DeleterFnPtr raw_deleter() const { return nullptr; }
  void* raw_allocate(size_t bytes);
  void raw_deallocate(void* block);
  DataPtr clone(const void* data, std::size_t bytes);
  void default_copy_data(void* to, const void* from, std::size_t bytes) const;
};
C10_API void SetAllocator(DeviceType type, Allocator* allocator, uint8_t priority = 0);
C10_API Allocator* GetAllocator(const DeviceType& type);
inline Allocator* GetDefaultCPUAllocator() { return GetAllocator(DeviceType::CPU); }
inline Allocator* GetCPUAllocator() { return GetAllocator(DeviceType::CPU); }
#define REGISTER_ALLOCATOR(type, allocator)                                               \
  namespace {                                                                             \
  struct C10_CONCATENATE(TaedaAllocator, __LINE__) {                                      \
    C10_CONCATENATE(TaedaAllocator, __LINE__)() { ::c10::SetAllocator(type, allocator); } \
  } C10_CONCATENATE(taeda_allocator, __LINE__);                                           \
  }

// Memory of someone else's, freed by a function of any kind.
struct InefficientStdFunctionContext {
  void* data;
  std::function<void(void*)> free;
  ~InefficientStdFunctionContext() {
    if (free) free(data);
  }
  static DataPtr makeDataPtr(void* data, std::function<void(void*)> free, Device device) {
    auto* context = new InefficientStdFunctionContext{data, std::move(free)};
    return {data, context, [](void* c) { delete static_cast<InefficientStdFunctionContext*>(c); }, device};
  }
};

}  // namespace c10
namespace at {
using c10::Allocator, c10::DataPtr, c10::DeleterFnPtr;
inline c10::Allocator* getCPUAllocator() { return c10::GetCPUAllocator(); }
}  // namespace at
