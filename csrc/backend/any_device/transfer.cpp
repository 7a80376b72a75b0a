#include "backend/any_device/transfer.h"

#include <algorithm>

#include "backend/cpu/engine/strided_copy.h"

namespace taeda {

namespace {

size_t bytes_spanned(const Tensor& t) {
  return static_cast<size_t>(extent(t.sizes(), t.strides(), 0)) * static_cast<size_t>(t.itemsize());
}

// A host tensor of the same geometry and, if wanted, the same bytes, gaps between the elements included.
Tensor staged(const Tensor& t, bool with_contents) {
  Tensor host = new_tensor_strided(t.sizes(), t.strides(), t.dtype());
  if (with_contents) allocator(t.device().type).read(host.data(), t.data(), bytes_spanned(t));
  return host;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a->is_non_overlapping_and_dense() && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides());
}

}  // namespace

void transfer(const Tensor& to, const Tensor& from) {
  if (to.numel() == 0) return;
  if (to.device() == from.device() && same_bytes(to, from))
    return allocator(to.device().type).copy(to.data(), from.data(), bytes_spanned(to));
  Tensor source = host_can_use(from) ? from : staged(from, true);
  if (host_can_use(to)) return cpu::strided_copy(to, source);
  // What lies between the elements of `to` must stay as it is.
  Tensor target = staged(to, !to->is_non_overlapping_and_dense());
  cpu::strided_copy(target, source);
  allocator(to.device().type).write(to.data(), target.data(), bytes_spanned(to));
}

}  // namespace taeda
