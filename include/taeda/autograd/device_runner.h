// What a device that is not the CPU offers the backward engine. One without a runner, a PrivateUse device say, has
// its nodes run in the calling thread with nothing set up around them.
#pragma once
#include "taeda/core/device.h"

namespace taeda::autograd {

class TAEDA_API DeviceRunner {
 public:
  virtual ~DeviceRunner() = default;
  // Whether nodes of this device run in a thread of their own instead of the calling one.
  virtual bool has_own_thread(Device) const { return false; }
  virtual void* current_stream(Device) { return nullptr; }
  // Makes the device and the stream of the forward call current, and puts back what was.
  virtual void* enter(Device device, void* stream) = 0;
  virtual void leave(void* token) = 0;
  // Work queued on `consumer` from now on waits for what `producer` holds already.
  virtual void wait(Device, void* /*producer*/, void* /*consumer*/) {}
};

TAEDA_API DeviceRunner* device_runner(DeviceType type);  // null if none
TAEDA_API void set_device_runner(DeviceType type, DeviceRunner* runner);

}  // namespace taeda::autograd
