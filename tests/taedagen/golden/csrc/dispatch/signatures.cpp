// Made by taedagen from all families.

#include "dispatch/call.h"

namespace taeda {
template struct Boxing<Tensor(const Tensor&)>;
template struct Caller<Tensor(const Tensor&)>;
template struct Boxing<Tensor(const Tensor&, double, std::optional<int64_t>)>;
template struct Caller<Tensor(const Tensor&, double, std::optional<int64_t>)>;
template struct Boxing<Tensor(const Tensor&, int64_t, int64_t)>;
template struct Caller<Tensor(const Tensor&, int64_t, int64_t)>;
template struct Boxing<void(const Tensor&)>;
template struct Caller<void(const Tensor&)>;
template struct Boxing<void(const Tensor&, const Tensor&)>;
template struct Caller<void(const Tensor&, const Tensor&)>;
}  // namespace taeda
