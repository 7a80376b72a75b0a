// Ops that have functions of their own in the stable interface.
#include "frontend/stable/guarded.h"

using namespace taeda::stable;

namespace {

at::TensorOptions options_of(const int32_t* dtype, const int32_t* layout, const int32_t* device, int32_t device_index,
                             const int32_t* pin_memory) {
  at::TensorOptions options;
  if (dtype) options = options.dtype(c10::to_scalar_type(dtype_numbered(*dtype)));
  if (layout) options = options.layout(layout_numbered(*layout));
  if (device) options = options.device(device_numbered(*device, device_index));
  if (pin_memory) options = options.pinned_memory(*pin_memory != 0);
  return options;
}

}  // namespace

extern "C" {

AOTITorchError aoti_torch_aten_amax(AtenTensorHandle self, const int64_t* dim, int64_t dims, int32_t keepdim,
                                    AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(at::amax(tensor_of(self), ints(dim, dims), keepdim != 0)); });
}
AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self, double value) {
  return guarded([&] { tensor_of(self).fill_(value); });
}
AOTITorchError aoti_torch_aten_full(const int64_t* size, int64_t dims, double value, int32_t* dtype, int32_t* layout,
                                    int32_t* device, int32_t device_index, int32_t* pin_memory, AtenTensorHandle* ret) {
  return guarded([&] {
    auto options = options_of(dtype, layout, device, device_index, pin_memory);
    *ret = new_handle(at::full(ints(size, dims), value, options));
  });
}
AOTITorchError aoti_torch_aten_narrow(AtenTensorHandle self, int64_t dim, int64_t start, int64_t length,
                                      AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(tensor_of(self).narrow(dim, start, length)); });
}
AOTITorchError aoti_torch_aten_new_empty(AtenTensorHandle self, const int64_t* size, int64_t dims, int32_t* dtype,
                                         int32_t* layout, int32_t* device, int32_t device_index, int32_t* pin_memory,
                                         AtenTensorHandle* ret) {
  return guarded([&] {
    auto options = options_of(dtype, layout, device, device_index, pin_memory);
    *ret = new_handle(tensor_of(self).new_empty(ints(size, dims), options));
  });
}
AOTITorchError aoti_torch_aten_new_zeros(AtenTensorHandle self, const int64_t* size, int64_t dims, int32_t* dtype,
                                         int32_t* layout, int32_t* device, int32_t device_index, int32_t* pin_memory,
                                         AtenTensorHandle* ret) {
  return guarded([&] {
    auto options = options_of(dtype, layout, device, device_index, pin_memory);
    *ret = new_handle(tensor_of(self).new_zeros(ints(size, dims), options));
  });
}
AOTITorchError aoti_torch_aten_pad(AtenTensorHandle self, const int64_t* pad, int64_t pads, const char* mode,
                                   double* value, AtenTensorHandle* ret) {
  return guarded([&] {
    std::optional<double> fill = value ? std::optional(*value) : std::nullopt;
    *ret = new_handle(at::pad(tensor_of(self), ints(pad, pads), mode, fill));
  });
}
AOTITorchError aoti_torch_aten_subtract_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha,
                                               AtenTensorHandle* ret) {
  return guarded([&] { *ret = new_handle(at::subtract(tensor_of(self), tensor_of(other), alpha)); });
}
}
