// The part of the stable interface in C that came with version 2.10 and later.
#pragma once
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/version.h>

extern "C" {

// As aoti_torch_call_dispatcher and aoti_torch_library_impl; the version is TORCH_ABI_VERSION of the caller's headers.
AOTI_TORCH_EXPORT AOTITorchError torch_call_dispatcher(const char* opName, const char* overloadName,
                                                       StableIValue* stack, uint64_t extension_build_version);
AOTI_TORCH_EXPORT AOTITorchError torch_library_impl(TorchLibraryHandle self, const char* name,
                                                    void (*fn)(StableIValue* stack, uint64_t num_args,
                                                               uint64_t num_outputs),
                                                    uint64_t extension_build_version);

// --- lists, which own their elements until they are passed on, and strings
struct StableListOpaque;
typedef struct StableListOpaque* StableListHandle;
AOTI_TORCH_EXPORT AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle* ret);
AOTI_TORCH_EXPORT AOTITorchError torch_list_size(StableListHandle list_handle, size_t* size);
AOTI_TORCH_EXPORT AOTITorchError torch_list_get_item(StableListHandle list_handle, size_t index, StableIValue* element);
AOTI_TORCH_EXPORT AOTITorchError torch_list_set_item(StableListHandle list_handle, size_t index, StableIValue element);
AOTI_TORCH_EXPORT AOTITorchError torch_list_push_back(StableListHandle list_handle, StableIValue element);
AOTI_TORCH_EXPORT AOTITorchError torch_delete_list(StableListHandle list_handle);

struct StringOpaque;
typedef struct StringOpaque* StringHandle;
AOTI_TORCH_EXPORT AOTITorchError torch_new_string_handle(const char* data, size_t length, StringHandle* handle);
AOTI_TORCH_EXPORT AOTITorchError torch_delete_string(StringHandle handle);
AOTI_TORCH_EXPORT AOTITorchError torch_string_length(StringHandle handle, size_t* length);
AOTI_TORCH_EXPORT AOTITorchError torch_string_c_str(StringHandle handle, const char** data);

AOTI_TORCH_EXPORT AOTITorchError torch_new_stable_ivalue(StableIValue** ret_value);
AOTI_TORCH_EXPORT AOTITorchError torch_delete_stable_ivalue(StableIValue* value);

// --- tensors
AOTI_TORCH_EXPORT AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void** ret_data_ptr);
AOTI_TORCH_EXPORT AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void** ret_data_ptr);
AOTI_TORCH_EXPORT AOTITorchError torch_set_requires_grad(AtenTensorHandle tensor, bool requires_grad);
AOTI_TORCH_EXPORT int32_t torch_dtype_float8_e8m0fnu();
AOTI_TORCH_EXPORT int32_t torch_dtype_float4_e2m1fn_x2();
// `deleter(data, deleter_ctx)` is called once nobody uses the memory any more.
AOTI_TORCH_EXPORT AOTITorchError torch_from_blob(void* data, int64_t ndim, const int64_t* sizes_ptr,
                                                 const int64_t* strides_ptr, int64_t storage_offset, int32_t dtype,
                                                 int32_t device_type, int32_t device_index, AtenTensorHandle* ret,
                                                 int32_t layout, const uint8_t* opaque_metadata,
                                                 int64_t opaque_metadata_size, void (*deleter)(void* data, void* ctx),
                                                 void* deleter_ctx);
AOTI_TORCH_EXPORT AOTITorchError torch_parse_device_string(const char* device_string, uint32_t* out_device_type,
                                                           int32_t* out_device_index);

// --- generators
AOTI_TORCH_EXPORT AOTITorchError torch_new_generator_handle(AtenGeneratorHandle self,
                                                            AtenGeneratorHandle* ret_new_generator);
AOTI_TORCH_EXPORT AOTITorchError torch_delete_generator(AtenGeneratorHandle generator);
AOTI_TORCH_EXPORT AOTITorchError torch_generator_get_device(AtenGeneratorHandle generator, int32_t* ret_device_type,
                                                            int32_t* ret_device_index);

// --- threads: the range in pieces of `grain_size`
typedef void (*ParallelFunc)(int64_t begin, int64_t end, void* ctx);
AOTI_TORCH_EXPORT AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size, ParallelFunc func,
                                                    void* ctx);
AOTI_TORCH_EXPORT AOTITorchError torch_get_thread_idx(uint32_t* out_thread_idx);
AOTI_TORCH_EXPORT AOTITorchError torch_get_num_threads(uint32_t* out_num_threads);

// --- libraries of ops
AOTI_TORCH_EXPORT AOTITorchError torch_library_def_with_tags(TorchLibraryHandle self, const char* schema,
                                                             const int32_t* tags, int32_t num_tags);
AOTI_TORCH_EXPORT AOTITorchError torch_library_set_python_module(TorchLibraryHandle self, const char* pymodule,
                                                                 const char* context);
#define TAEDA_FORALL_SHIM_TAGS(_)  \
  _(core, 0)                       \
  _(cudagraph_unsafe, 1)           \
  _(data_dependent_output, 2)      \
  _(dynamic_output_shape, 3)       \
  _(flexible_layout, 4)            \
  _(generated, 5)                  \
  _(inplace_view, 7)               \
  _(maybe_aliasing_or_mutating, 8) \
  _(needs_contiguous_strides, 9)   \
  _(needs_exact_strides, 10)       \
  _(needs_fixed_stride_order, 11)  \
  _(nondeterministic_bitwise, 12)  \
  _(nondeterministic_seeded, 13)   \
  _(out_variant, 15)               \
  _(pointwise, 16)                 \
  _(pt2_compliant_tag, 17)         \
  _(reduction, 18)                 \
  _(view_copy, 19)
#define TAEDA_SHIM_TAG(name, number) AOTI_TORCH_EXPORT int32_t torch_tag_##name();
TAEDA_FORALL_SHIM_TAGS(TAEDA_SHIM_TAG)
#undef TAEDA_SHIM_TAG

// --- what went wrong in this thread's last call that failed; borrowed until the next
AOTI_TORCH_EXPORT const char* torch_exception_get_what();
AOTI_TORCH_EXPORT const char* torch_exception_get_what_without_backtrace();

// --- CUDA: each fails, as this build has none
AOTI_TORCH_EXPORT AOTITorchError torch_stream_native_handle(StreamHandle stream, void** ret_native_handle);
AOTI_TORCH_EXPORT AOTITorchError torch_get_current_cuda_blas_handle(void** ret_handle);
AOTI_TORCH_EXPORT AOTITorchError torch_set_current_cuda_stream(void* stream, int32_t device_index);
AOTI_TORCH_EXPORT AOTITorchError torch_get_cuda_stream_from_pool(bool isHighPriority, int32_t device_index,
                                                                 void** ret_stream);
AOTI_TORCH_EXPORT AOTITorchError torch_cuda_stream_synchronize(void* stream, int32_t device_index);
// A text for CUDA's error `err`, null for 0; given back to torch_c10_cuda_free_error_msg.
AOTI_TORCH_EXPORT AOTITorchError torch_c10_cuda_check_msg(int32_t err, const char* filename, const char* function_name,
                                                          uint32_t line_number, bool include_device_assertions,
                                                          char** error_msg);
AOTI_TORCH_EXPORT void torch_c10_cuda_free_error_msg(char* error_msg);
}
