// Copies to and from devices whose memory the host cannot address.
#pragma once
#include "taeda/core/tensor.h"

namespace taeda {

inline bool host_can_use(const Tensor& t) { return t.is_cpu() || allocator(t.device().type).is_host_addressable(); }

// Elements of `from` to the same index of `to`, converted on the host if need be.
void transfer(const Tensor& to, const Tensor& from);

}  // namespace taeda
