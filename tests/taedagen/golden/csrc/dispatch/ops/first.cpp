// Made by taedagen from tests/taedagen/tiny/first.py.

#include "api/first.h"
#include "dispatch/ops/first.h"
#include "dispatch/call.h"
#include "backend/cpu/first.h"
#include "backend/meta/first.h"
#include "shape/ops/first.h"
#include "autograd/ops/first.h"

namespace taeda {
extern template struct Boxing<Tensor(const Tensor&)>;
extern template struct Caller<Tensor(const Tensor&)>;
extern template struct Boxing<Tensor(const Tensor&, double, std::optional<int64_t>)>;
extern template struct Caller<Tensor(const Tensor&, double, std::optional<int64_t>)>;
extern template struct Boxing<Tensor(const Tensor&, int64_t, int64_t)>;
extern template struct Caller<Tensor(const Tensor&, int64_t, int64_t)>;
extern template struct Boxing<void(const Tensor&)>;
extern template struct Caller<void(const Tensor&)>;
extern template struct Boxing<void(const Tensor&, const Tensor&)>;
extern template struct Caller<void(const Tensor&, const Tensor&)>;
namespace {

constexpr Param twice_plain_params[] = {
    {"self", ArgType::Tensor, false, false, false, false, 0, nullptr},
};
const StaticKernel twice_plain_kernels[] = {
    {KernelKind::Dense, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(const Tensor&)>(&cpu::twice))},
    {KernelKind::Dense, DeviceType::Meta, reinterpret_cast<void*>(static_cast<Tensor(*)(const Tensor&)>(&meta::twice))},
    {KernelKind::Autograd, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(KeySet, const Tensor&)>(&autograd::twice))},
};

constexpr Param twice__plain_params[] = {
    {"self", ArgType::Tensor, false, false, false, true, 0, nullptr},
};
const StaticKernel twice__plain_kernels[] = {
    {KernelKind::Dense, DeviceType::CPU, reinterpret_cast<void*>(static_cast<void(*)(const Tensor&)>(&cpu::twice_))},
    {KernelKind::Dense, DeviceType::Meta, reinterpret_cast<void*>(static_cast<void(*)(const Tensor&)>(&meta::twice_))},
    {KernelKind::InplaceOrView, DeviceType::CPU, reinterpret_cast<void*>(static_cast<void(*)(KeySet, const Tensor&)>(&inplace_or_view::twice_))},
    {KernelKind::Autograd, DeviceType::CPU, reinterpret_cast<void*>(static_cast<void(*)(KeySet, const Tensor&)>(&autograd::twice_))},
};

constexpr Param twice_out_params[] = {
    {"self", ArgType::Tensor, false, false, false, false, 0, nullptr},
    {"out", ArgType::Tensor, false, false, true, true, 0, nullptr},
};
const StaticKernel twice_out_kernels[] = {
    {KernelKind::Dense, DeviceType::CPU, reinterpret_cast<void*>(static_cast<void(*)(const Tensor&, const Tensor&)>(&cpu::twice_out))},
    {KernelKind::Dense, DeviceType::Meta, reinterpret_cast<void*>(static_cast<void(*)(const Tensor&, const Tensor&)>(&meta::twice_out))},
    {KernelKind::InplaceOrView, DeviceType::CPU, reinterpret_cast<void*>(static_cast<void(*)(KeySet, const Tensor&, const Tensor&)>(&inplace_or_view::twice_out))},
    {KernelKind::Autograd, DeviceType::CPU, reinterpret_cast<void*>(static_cast<void(*)(KeySet, const Tensor&, const Tensor&)>(&autograd::twice_out))},
};

constexpr Param turned_plain_params[] = {
    {"self", ArgType::Tensor, false, false, false, false, 0, nullptr},
    {"dim0", ArgType::Int, false, false, false, false, 0, nullptr},
    {"dim1", ArgType::Int, false, false, false, false, 0, nullptr},
};
const StaticKernel turned_plain_kernels[] = {
    {KernelKind::Everywhere, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(const Tensor&, int64_t, int64_t)>(&everywhere::turned))},
    {KernelKind::InplaceOrView, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(KeySet, const Tensor&, int64_t, int64_t)>(&inplace_or_view::turned))},
    {KernelKind::Autograd, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(KeySet, const Tensor&, int64_t, int64_t)>(&autograd::turned))},
};

constexpr Param stretch_plain_params[] = {
    {"self", ArgType::Tensor, false, false, false, false, 0, nullptr},
    {"by", ArgType::Float, false, true, false, false, 0, "1.5"},
    {"power", ArgType::Int, true, true, true, false, 0, "None"},
};
const StaticKernel stretch_plain_kernels[] = {
    {KernelKind::Dense, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(const Tensor&, double, std::optional<int64_t>)>(&cpu::stretch))},
    {KernelKind::Dense, DeviceType::Meta, reinterpret_cast<void*>(static_cast<Tensor(*)(const Tensor&, double, std::optional<int64_t>)>(&meta::stretch))},
    {KernelKind::Autograd, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(KeySet, const Tensor&, double, std::optional<int64_t>)>(&autograd::stretch))},
};

constexpr Param four_times_plain_params[] = {
    {"self", ArgType::Tensor, false, false, false, false, 0, nullptr},
};
const StaticKernel four_times_plain_kernels[] = {
    {KernelKind::Composite, DeviceType::CPU, reinterpret_cast<void*>(static_cast<Tensor(*)(const Tensor&)>(&composite::four_times))},
};

const OpInfo infos[] = {
    {"aten::twice", "", "aten::twice(Tensor self) -> Tensor", twice_plain_params, twice_plain_kernels, &Boxing<Tensor(const Tensor&)>::signature, "tests/taedagen/tiny/first.py", 6, 1, 1, 3, 0, false, 0},
    {"aten::twice_", "", "aten::twice_(Tensor(a!) self) -> Tensor(a!)", twice__plain_params, twice__plain_kernels, &Boxing<void(const Tensor&)>::signature, "tests/taedagen/tiny/first.py", 6, 1, 1, 4, 0, true, kInplaceOp},
    {"aten::twice", "out", "aten::twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", twice_out_params, twice_out_kernels, &Boxing<void(const Tensor&, const Tensor&)>::signature, "tests/taedagen/tiny/first.py", 6, 2, 1, 4, 1, true, kOutOp},
    {"aten::turned", "", "aten::turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", turned_plain_params, turned_plain_kernels, &Boxing<Tensor(const Tensor&, int64_t, int64_t)>::signature, "tests/taedagen/tiny/first.py", 17, 3, 1, 3, 0, false, kViewOp},
    {"aten::stretch", "", "aten::stretch(Tensor self, float by=1.5, *, int? power=None) -> Tensor", stretch_plain_params, stretch_plain_kernels, &Boxing<Tensor(const Tensor&, double, std::optional<int64_t>)>::signature, "tests/taedagen/tiny/first.py", 27, 3, 1, 3, 0, false, 0},
    {"aten::four_times", "", "aten::four_times(Tensor self) -> Tensor", four_times_plain_params, four_times_plain_kernels, &Boxing<Tensor(const Tensor&)>::signature, "tests/taedagen/tiny/first.py", 32, 1, 1, 1, 0, false, 0},
};

}  // namespace

const Op table::first[] = {
    Op(infos[0]),
    Op(infos[1]),
    Op(infos[2]),
    Op(infos[3]),
    Op(infos[4]),
    Op(infos[5]),
};

namespace ops {

// tests/taedagen/tiny/first.py:6
Tensor twice(const Tensor& self) {
  return Caller<Tensor(const Tensor&)>::call(table::first[table::twice_plain], dispatch_keys(self), self);
}

// tests/taedagen/tiny/first.py:6
void twice_(const Tensor& self) {
  return Caller<void(const Tensor&)>::call(table::first[table::twice__plain], dispatch_keys(self), self);
}

// tests/taedagen/tiny/first.py:6
void twice_out(const Tensor& self, const Tensor& out) {
  return Caller<void(const Tensor&, const Tensor&)>::call(table::first[table::twice_out], dispatch_keys(self, out), self, out);
}

// tests/taedagen/tiny/first.py:17
Tensor turned(const Tensor& self, int64_t dim0, int64_t dim1) {
  return Caller<Tensor(const Tensor&, int64_t, int64_t)>::call(table::first[table::turned_plain], dispatch_keys(self), self, dim0, dim1);
}

// tests/taedagen/tiny/first.py:27
Tensor stretch(const Tensor& self, double by, std::optional<int64_t> power) {
  return Caller<Tensor(const Tensor&, double, std::optional<int64_t>)>::call(table::first[table::stretch_plain], dispatch_keys(self), self, by, power);
}

// tests/taedagen/tiny/first.py:32
Tensor four_times(const Tensor& self) {
  return Caller<Tensor(const Tensor&)>::call(table::first[table::four_times_plain], dispatch_keys(self), self);
}

}  // namespace ops
}  // namespace taeda
