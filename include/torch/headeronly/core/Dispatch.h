// THO_DISPATCH_SWITCH(dtype, "name", THO_DISPATCH_CASE(type, [&] { ... scalar_t ... })): as AT_DISPATCH_SWITCH, without
// a library.
#pragma once
#include <torch/headeronly/core/types.h>

#define THO_PRIVATE_CASE_TYPE_USING_HINT(enum_type, HINT, ...)                                \
  case enum_type: {                                                                           \
    using HINT [[maybe_unused]] = ::torch::headeronly::impl::ScalarTypeToCPPTypeT<enum_type>; \
    return __VA_ARGS__();                                                                     \
  }
#define THO_DISPATCH_CASE(enum_type, ...) THO_PRIVATE_CASE_TYPE_USING_HINT(enum_type, scalar_t, __VA_ARGS__)
#define THO_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                        \
  [&] {                                                                                                             \
    const ::torch::headeronly::ScalarType tho_type = TYPE;                                                          \
    switch (tho_type) {                                                                                             \
      __VA_ARGS__                                                                                                   \
      default:                                                                                                      \
        STD_TORCH_CHECK(false, '"', NAME, "\" is not for '", ::torch::headeronly::toString(tho_type), "' tensors"); \
    }                                                                                                               \
  }()
