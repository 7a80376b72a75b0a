// Words that extensions write: what is exported, what is likely, what the GPU's compiler would see.
#pragma once
#include <cassert>

#include <c10/macros/Version.h>

#define C10_EXPORT __attribute__((__visibility__("default")))
#define C10_HIDDEN __attribute__((__visibility__("hidden")))
#define C10_IMPORT C10_EXPORT
#define C10_API C10_EXPORT
#define C10_API_ENUM
#define TORCH_API C10_EXPORT
#define TORCH_PYTHON_API C10_EXPORT
#define TORCH_CUDA_CPP_API C10_EXPORT
#define TORCH_CUDA_CU_API C10_EXPORT
#define TORCH_XPU_API C10_EXPORT
#define CAFFE2_API C10_EXPORT

#define C10_CONCATENATE_IMPL(s1, s2) s1##s2
#define C10_CONCATENATE(s1, s2) C10_CONCATENATE_IMPL(s1, s2)
#define C10_MACRO_EXPAND(args) args
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_UID __COUNTER__
#define C10_ANONYMOUS_VARIABLE(str) C10_CONCATENATE(str, __COUNTER__)

// In code that a GPU runs, too; on the CPU an assert().
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_ASSERT_MSG(condition, message) assert((condition) && (message))
#define CUDA_KERNEL_ASSERT_PRINTF(condition, ...) assert(condition)

#define C10_NODISCARD [[nodiscard]]
#define C10_UNUSED __attribute__((__unused__))
#define C10_USED __attribute__((__used__))
#define C10_RESTRICT __restrict
#define C10_LIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 1))
#define C10_UNLIKELY(expr) (__builtin_expect(static_cast<bool>(expr), 0))
#define C10_LIKELY_OR_CONST(e) C10_LIKELY(e)
#define C10_UNLIKELY_OR_CONST(e) C10_UNLIKELY(e)
#define C10_NOINLINE __attribute__((noinline))
#define C10_ALWAYS_INLINE __attribute__((__always_inline__)) inline
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((__always_inline__))
#define C10_ERASE C10_ALWAYS_INLINE C10_HIDDEN
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_ATTR_VISIBILITY_HIDDEN C10_HIDDEN
#define C10_DEPRECATED [[deprecated]]
#define C10_DEPRECATED_MESSAGE(message) [[deprecated(message)]]
#define C10_UNUSED_DISPATCH_CUDA_WORKAROUND C10_UNUSED
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning) _Pragma("GCC diagnostic push")
#define C10_DIAGNOSTIC_POP() _Pragma("GCC diagnostic pop")

#if defined(__CUDACC__) || defined(__HIPCC__)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#define AT_CPP14_CONSTEXPR constexpr
#define CONSTEXPR_EXCEPT_WIN_CUDA constexpr

#define C10_DISABLE_COPY_AND_ASSIGN(classname) \
  classname(const classname&) = delete;        \
  classname& operator=(const classname&) = delete
#define AT_DISALLOW_COPY_AND_ASSIGN(TypeName) C10_DISABLE_COPY_AND_ASSIGN(TypeName)

#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag)

// Whoever compiles these headers compiles them of Taeda.
#define TAEDA_CPP 1

namespace c10 {}
namespace at {
using namespace c10;
}
namespace at::cuda {}
