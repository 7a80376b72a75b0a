// Current devices and streams of accelerators; recording; and CUDA, of which there is none.
#include <c10/core/DeviceGuard.h>

#include <cstdlib>
#include <cstring>

#include "frontend/stable/guarded.h"

namespace taeda::stable {

namespace {

// The device that extensions bring, if one did.
const c10::impl::DeviceGuardImplInterface* accelerator() { return c10::impl::find_guard(DeviceType::PrivateUse1); }
c10::Device device_at(int32_t index) {
  return accelerator() ? c10::Device(DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(index))
                       : c10::Device(DeviceType::CPU);
}

AOTITorchError no_cuda(const char* function) {
  return guarded([&] { TORCH_CHECK(false, function, ": this build has no CUDA"); });
}

}  // namespace

}  // namespace taeda::stable

using namespace taeda::stable;

extern "C" {

AOTITorchError aoti_torch_create_device_guard(int32_t index, DeviceGuardHandle* ret) {
  return guarded([&] { *ret = reinterpret_cast<DeviceGuardHandle>(new c10::DeviceGuard(device_at(index))); });
}
AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle guard) {
  return guarded([&] { delete reinterpret_cast<c10::DeviceGuard*>(guard); });
}
AOTITorchError aoti_torch_device_guard_set_index(DeviceGuardHandle guard, int32_t index) {
  return guarded([&] { reinterpret_cast<c10::DeviceGuard*>(guard)->set_index(static_cast<c10::DeviceIndex>(index)); });
}
AOTITorchError aoti_torch_get_current_device_index(int32_t* ret) {
  return guarded([&] { *ret = accelerator() ? accelerator()->getDevice().index() : 0; });
}
AOTITorchError aoti_torch_get_current_stream(int32_t index, StreamHandle* ret) {
  return guarded([&] {
    c10::Stream stream = accelerator() ? accelerator()->getStream(device_at(index))
                                       : c10::Stream(c10::Stream::DEFAULT, device_at(index));
    *ret = reinterpret_cast<StreamHandle>(new c10::Stream(stream));
  });
}
AOTITorchError aoti_torch_delete_stream(StreamHandle stream) {
  return guarded([&] { delete reinterpret_cast<c10::Stream*>(stream); });
}
AOTITorchError aoti_torch_stream_id(StreamHandle stream, int64_t* ret) {
  return guarded([&] { *ret = reinterpret_cast<c10::Stream*>(stream)->id(); });
}

AOTITorchError torch_parse_device_string(const char* text, uint32_t* type, int32_t* index) {
  return guarded([&] {
    c10::Device device{std::string(text)};
    *type = static_cast<uint32_t>(number_of(device.type()));
    *index = device.index();
  });
}

bool aoti_torch_grad_mode_is_enabled() { return taeda::t_state.grad_mode; }
void aoti_torch_grad_mode_set_enabled(bool enabled) { taeda::t_state.grad_mode = enabled; }

AOTITorchError aoti_torch_get_current_cuda_stream(int32_t, void**) { return no_cuda(__func__); }
AOTITorchError torch_stream_native_handle(StreamHandle, void**) { return no_cuda(__func__); }
AOTITorchError torch_get_current_cuda_blas_handle(void**) { return no_cuda(__func__); }
AOTITorchError torch_set_current_cuda_stream(void*, int32_t) { return no_cuda(__func__); }
AOTITorchError torch_get_cuda_stream_from_pool(bool, int32_t, void**) { return no_cuda(__func__); }
AOTITorchError torch_cuda_stream_synchronize(void*, int32_t) { return no_cuda(__func__); }
AOTITorchError torch_c10_cuda_check_msg(int32_t error, const char* file, const char* function, uint32_t line, bool,
                                        char** message) {
  *message = nullptr;
  if (error == 0) return AOTI_TORCH_SUCCESS;
  return guarded([&] {
    *message =
        strdup(c10::str("CUDA's error ", error, " in ", function, " at ", file, ":", line, ": this build has no CUDA")
                   .c_str());
  });
}
void torch_c10_cuda_free_error_msg(char* message) { std::free(message); }
}
