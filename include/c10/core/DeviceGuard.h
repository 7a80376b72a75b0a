// The current device and stream of a type of device, and scopes in which it is another.
#pragma once
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

namespace c10 {

using StreamId = int64_t;
class Stream {
 public:
  enum Unsafe { UNSAFE };
  enum Default { DEFAULT };
  Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  Stream(Default, Device device) : device_(device), id_(0) {}
  Device device() const { return device_; }
  DeviceType device_type() const { return device_.type(); }
  DeviceIndex device_index() const { return device_.index(); }
  StreamId id() const { return id_; }
  friend bool operator==(const Stream& a, const Stream& b) { return a.device_ == b.device_ && a.id_ == b.id_; }

 private:
  Device device_;
  StreamId id_;
};
enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT, INVALID };

namespace impl {

// What a device of one's own says of its devices and streams; registered by C10_REGISTER_GUARD_IMPL.
struct C10_API DeviceGuardImplInterface {
  DeviceGuardImplInterface() = default;
  DeviceGuardImplInterface(const DeviceGuardImplInterface&) = default;
  virtual ~DeviceGuardImplInterface() = default;
  virtual DeviceType type() const = 0;
  virtual Device exchangeDevice(Device device) const = 0;
  virtual Device getDevice() const = 0;
  virtual void setDevice(Device device) const = 0;
  virtual void uncheckedSetDevice(Device device) const noexcept = 0;
  virtual Stream getStream(Device device) const = 0;
  virtual Stream getDefaultStream(Device device) const { return Stream(Stream::DEFAULT, device); }
  virtual Stream getNewStream(Device device, int = 0) const { return Stream(Stream::DEFAULT, device); }
  virtual Stream getStreamFromGlobalPool(Device device, bool = false) const { return getNewStream(device); }
  virtual void* getStreamNativeHandle(const Stream) const { refuse("native handles of streams"); }
  virtual Stream exchangeStream(Stream stream) const = 0;
  virtual DeviceIndex deviceCount() const noexcept = 0;
  virtual void destroyEvent(void*, const DeviceIndex) const noexcept {}
  virtual void record(void**, const Stream&, const DeviceIndex, const EventFlag) const { refuse("events"); }
  virtual void block(void*, const Stream&) const { refuse("events"); }
  virtual bool queryEvent(void*) const { return true; }
  virtual bool queryStream(const Stream&) const { return true; }
  virtual void synchronizeStream(const Stream&) const {}
  virtual bool isStreamCapturing(const Stream&) const { return false; }
  virtual void synchronizeEvent(void*) const {}
  virtual void synchronizeDevice(const DeviceIndex) const {}
  // The block may be used again only after work that is on the stream now.
  virtual void recordDataPtrOnStream(const DataPtr&, const Stream&) const {}
  virtual double elapsedTime(void*, void*, const DeviceIndex) const { refuse("times of events"); }  // in milliseconds

 private:
  [[noreturn]] void refuse(const char* what) const {
    C10_THROW_ERROR(NotImplementedError, ::c10::str("there are no ", what, " for ", type()));
  }
};
C10_API void register_guard(DeviceType type, const DeviceGuardImplInterface* guard);
C10_API const DeviceGuardImplInterface* find_guard(DeviceType type);  // null if none
inline const DeviceGuardImplInterface* getDeviceGuardImpl(DeviceType type) {
  const DeviceGuardImplInterface* found = find_guard(type);
  TORCH_CHECK(found, "no guard is registered for ", type, ": C10_REGISTER_GUARD_IMPL registers one");
  return found;
}
inline bool hasDeviceGuardImpl(DeviceType type) { return find_guard(type) != nullptr; }
struct DeviceGuardImplRegistrar {
  DeviceGuardImplRegistrar(DeviceType type, const DeviceGuardImplInterface* guard) { register_guard(type, guard); }
};
#define C10_REGISTER_GUARD_IMPL(Device, Impl)                                                                     \
  static ::c10::impl::DeviceGuardImplRegistrar C10_CONCATENATE(taeda_guard_, __LINE__)(::c10::DeviceType::Device, \
                                                                                       new Impl())

}  // namespace impl

// The CPU has one device: its guards do nothing.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) : guard_(impl::find_guard(device.type())), current_(device) {
    if (guard_) before_ = guard_->exchangeDevice(device);
  }
  ~DeviceGuard() {
    if (guard_) guard_->uncheckedSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  void reset_device(Device device) { set(device); }
  void set_index(DeviceIndex index) { set(Device(current_.type(), index)); }
  Device original_device() const { return before_; }
  Device current_device() const { return current_; }

 private:
  void set(Device device) {
    if (guard_) guard_->setDevice(device);
    current_ = device;
  }
  const impl::DeviceGuardImplInterface* guard_;
  Device before_, current_;
};
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  void reset_device(Device device) {
    guard_.reset();
    guard_.emplace(device);
  }

 private:
  std::optional<DeviceGuard> guard_;
};

}  // namespace c10
namespace at {
using c10::DeviceGuard, c10::OptionalDeviceGuard;
}
