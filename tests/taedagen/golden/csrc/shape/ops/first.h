// Made by taedagen from tests/taedagen/tiny/first.py.
#pragma once
#include "taeda/ops/defaults.h"

namespace taeda {
// tests/taedagen/tiny/first.py:17
namespace everywhere { Tensor turned(const Tensor& self, int64_t dim0, int64_t dim1); }
// tests/taedagen/tiny/first.py:27
namespace cpu { Tensor stretch(const Tensor& self, double by, std::optional<int64_t> power); }
namespace meta { Tensor stretch(const Tensor& self, double by, std::optional<int64_t> power); }
namespace cpu { void stretch(const Tensor& self, double by, std::optional<int64_t> power, const Tensor& out); }
// tests/taedagen/tiny/first.py:32
namespace composite { Tensor four_times(const Tensor& self); }
}  // namespace taeda
