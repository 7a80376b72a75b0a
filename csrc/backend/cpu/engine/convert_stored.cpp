// Conversions from and to the dtypes that are only stored: one loop for each pair, not tuned.
#include <cstring>

#include "backend/cpu/engine/convert.h"
#include "core/load.h"

namespace taeda::cpu {

namespace {

template <class To, class From>
void convert_loop(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    To result = convert<To>(load<From>(from + i * from_step));
    std::memcpy(to + i * to_step, &result, sizeof result);
  }
}

}  // namespace

Convert stored_converter(DType from, DType to) {
  return visit_stored(from, [&]<class From>() {
    return visit_stored(to, [&]<class To>() -> Convert {
      if constexpr (is_stored_only(dtype_of<From>) || is_stored_only(dtype_of<To>))
        return convert_loop<To, From>;
      else
        TAEDA_FAIL(Runtime, "there is another table for ", from, " and ", to);
    });
  });
}

}  // namespace taeda::cpu
