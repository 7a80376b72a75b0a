// What a device offers beside memory and kernels.
#pragma once
#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>

namespace at {

struct TORCH_API AcceleratorHooksInterface {
  virtual ~AcceleratorHooksInterface() = default;
  virtual bool isBuilt() const { return false; }
  virtual bool isAvailable() const { return false; }
  virtual bool hasPrimaryContext(DeviceIndex device_index) const = 0;
  virtual void init() const { refuse("init"); }  // once, before the first use
  virtual DeviceIndex deviceCount() const { return 0; }
  virtual void setCurrentDevice(DeviceIndex) const { refuse("setCurrentDevice"); }
  virtual DeviceIndex getCurrentDevice() const { refuse("getCurrentDevice"); }
  virtual DeviceIndex exchangeDevice(DeviceIndex) const { refuse("exchangeDevice"); }
  virtual DeviceIndex maybeExchangeDevice(DeviceIndex) const { refuse("maybeExchangeDevice"); }
  // The host's memory that the device reaches sooner.
  virtual bool isPinnedPtr(const void*) const { return false; }
  virtual Allocator* getPinnedMemoryAllocator() const { refuse("getPinnedMemoryAllocator"); }
  virtual Device getDeviceFromPtr(void*) const { refuse("getDeviceFromPtr"); }
  virtual const Generator& getDefaultGenerator(DeviceIndex = -1) const { refuse("getDefaultGenerator"); }
  virtual Generator getNewGenerator(DeviceIndex = -1) const { refuse("getNewGenerator"); }

 protected:
  [[noreturn]] static void refuse(const char* what) {
    C10_THROW_ERROR(NotImplementedError, c10::str("the device's hooks do not override ", what, "()"));
  }
};

}  // namespace at
