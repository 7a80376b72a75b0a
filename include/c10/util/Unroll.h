// Calls f with std::integral_constant<int, 0> to <int, n - 1>.
#pragma once
#include <type_traits>
#include <utility>

namespace c10 {

template <int n>
struct ForcedUnroll {
  template <class F, class... Args>
  void operator()(const F& f, Args... args) const {
    [&]<int... i>(std::integer_sequence<int, i...>) {
      (f(std::integral_constant<int, i>(), args...), ...);
    }(std::make_integer_sequence<int, n>());
  }
};

}  // namespace c10
