// Failures of the stable interface as exceptions that say why, where the library can tell (from version 2.13 on).
#pragma once
#include <torch/csrc/stable/c/shim.h>
#include <torch/headeronly/util/shim_utils.h>

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
#define STABLE_TORCH_ERROR_CODE_CHECK(call)                                                   \
  do {                                                                                        \
    if ((call) != TORCH_SUCCESS) [[unlikely]]                                                 \
      ::torch::headeronly::detail::failed_call(#call, __FILE__, __LINE__,                     \
                                               torch_exception_get_what_without_backtrace()); \
  } while (false)
#else
#define STABLE_TORCH_ERROR_CODE_CHECK(call) TORCH_ERROR_CODE_CHECK(call)
#endif
