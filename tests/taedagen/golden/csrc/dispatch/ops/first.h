// Made by taedagen from tests/taedagen/tiny/first.py.

#pragma once
#include "taeda/dispatch/call.h"

namespace taeda {
extern template struct Boxing<Tensor(const Tensor&)>;
extern template struct Boxing<Tensor(const Tensor&, double, std::optional<int64_t>)>;
extern template struct Boxing<Tensor(const Tensor&, int64_t, int64_t)>;
extern template struct Boxing<void(const Tensor&)>;
extern template struct Boxing<void(const Tensor&, const Tensor&)>;

namespace table {
TAEDA_API extern const Op first[6];
constexpr TypedOp<Tensor(const Tensor&)> twice_plain{first[0]};
constexpr TypedOp<void(const Tensor&)> twice__plain{first[1]};
constexpr TypedOp<void(const Tensor&, const Tensor&)> twice_out{first[2]};
constexpr TypedOp<Tensor(const Tensor&, int64_t, int64_t)> turned_plain{first[3]};
constexpr TypedOp<Tensor(const Tensor&, double, std::optional<int64_t>)> stretch_plain{first[4]};
constexpr TypedOp<Tensor(const Tensor&)> four_times_plain{first[5]};
}  // namespace table
}  // namespace taeda
