// Hooks of a device of a program's own, as the core asks for them.
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <taeda/core/device_hooks.h>

#include <atomic>
#include <mutex>

namespace at {

namespace {

std::atomic<const PrivateUse1HooksInterface*> g_hooks{nullptr};

// Those that were registered; a device may have a maker of generators alone.
const PrivateUse1HooksInterface& hooks() {
  static const PrivateUse1HooksInterface plain;
  return isPrivateUse1HooksRegistered() ? *g_hooks.load() : plain;
}

struct Adapter final : ::taeda::DeviceHooks {
  ::taeda::Ref<::taeda::Generator> new_generator(int8_t index) const override {
    if (isPrivateUse1HooksRegistered()) detail::initPrivateUse1();
    return hooks().getNewGenerator(index).ref();
  }
  bool is_pinned(const void* address) const override { return hooks().isPinnedPtr(address); }
  ::taeda::DataPtr allocate_pinned(size_t bytes) const override {
    if (!isPrivateUse1HooksRegistered()) return c10::GetCPUAllocator()->allocate(bytes);  // any will do
    Allocator* allocator = hooks().getPinnedMemoryAllocator();
    TORCH_CHECK(allocator, "getPinnedMemoryAllocator() of the device's hooks gave none");
    return allocator->allocate(bytes);
  }
  void resize(::taeda::StorageImpl& storage, size_t bytes) const override {
    hooks().resizePrivateUse1Bytes(::taeda::Storage(&storage), bytes);
    TORCH_CHECK(storage.nbytes() >= bytes, "resizePrivateUse1Bytes() of the device's hooks left ", storage.nbytes(),
                " bytes; wanted ", bytes);
  }
};

void offer() {
  static const Adapter adapter;
  ::taeda::set_device_hooks(c10::DeviceType::PrivateUse1, &adapter);
}

}  // namespace

void PrivateUse1HooksInterface::resizePrivateUse1Bytes(const c10::Storage& storage, size_t newsize) const {
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  Allocator* allocator = c10::GetAllocator(c10::DeviceType::PrivateUse1);
  const c10::OptionalDeviceGuard guard(storage.device());
  c10::DataPtr fresh = allocator->allocate(std::max(newsize, impl->reach()));  // views made before may still be used
  allocator->copy_data(fresh.mutable_get(), impl->data(), std::min(newsize, impl->nbytes()));
  impl->replace(std::move(fresh), newsize);
}

void RegisterPrivateUse1HooksInterface(PrivateUse1HooksInterface* hooks) {
  const PrivateUse1HooksInterface* none = nullptr;
  TORCH_CHECK(hooks, "RegisterPrivateUse1HooksInterface: the hooks are null");
  TORCH_CHECK(g_hooks.compare_exchange_strong(none, hooks),
              "RegisterPrivateUse1HooksInterface: there are hooks already; a process takes one device of its own");
  offer();
}
bool isPrivateUse1HooksRegistered() { return g_hooks.load() != nullptr; }

namespace detail {
const PrivateUse1HooksInterface& getPrivateUse1Hooks() {
  TORCH_CHECK(isPrivateUse1HooksRegistered(),
              "the device has no hooks: at::RegisterPrivateUse1HooksInterface adds them");
  return *g_hooks.load();
}
void initPrivateUse1() {
  static std::once_flag once;
  std::call_once(once, [] { getPrivateUse1Hooks().init(); });
}
}  // namespace detail

std::optional<GeneratorFuncType>& GetGeneratorPrivate() {
  static auto* maker = new std::optional<GeneratorFuncType>;
  return *maker;
}
Generator GetGeneratorForPrivateuse1(c10::DeviceIndex device_index) {
  TORCH_CHECK(GetGeneratorPrivate(), "the device has no generators: override getNewGenerator() in its hooks");
  return (*GetGeneratorPrivate())(device_index);
}
_GeneratorRegister::_GeneratorRegister(const GeneratorFuncType& func) {
  TORCH_CHECK(!GetGeneratorPrivate(), "a maker of generators is registered already");
  GetGeneratorPrivate() = func;
  offer();
}

}  // namespace at
