#include "core/elements.h"

#include "core/load.h"

namespace taeda {

Scalar read_number(DType dtype, const void* element) {
  return visit_stored(dtype, [&]<class T>() -> Scalar {
    T value = load<T>(element);
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint64_t>)
      return value;
    else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128> || std::is_same_v<T, ComplexHalf>)
      return convert<complex128>(value);
    else if constexpr (std::is_integral_v<T>)
      return convert<int64_t>(value);
    else
      return convert<double>(value);
  });
}

}  // namespace taeda
