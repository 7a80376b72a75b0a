#include <ATen/ExpandUtils.h>

namespace at {

std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  std::vector<int64_t> sizes(std::max(a.size(), b.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {  // from the last dimension on
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    TORCH_CHECK(x == y || x == 1 || y == 1, "sizes ", a, " and ", b, " cannot be broadcast: ", x, " against ", y,
                " at dimension ", sizes.size() - 1 - i);
    sizes[sizes.size() - 1 - i] = x == 1 ? y : x;
  }
  return sizes;
}

}  // namespace at
