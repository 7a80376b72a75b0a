// Scale and zero point by the range of what is to be quantised.
#pragma once
#include <cstdint>

namespace taeda::shape {

struct QParams {
  double scale;
  int32_t zero_point;
};

// What the scale is rounded to before the zero point is found, which differs by one between the two.
enum class Scale : uint8_t { Double, Single };

// Such that `quant_min` to `quant_max` span `low` to `high` and zero, which is met exactly. `symmetric`: a range with
// numbers of both signs is widened to lie around zero. Scales are kept above 6.1e-5, as PyTorch's are.
QParams choose_qparams(float low, float high, int64_t quant_min, int64_t quant_max, bool symmetric, Scale precision);

}  // namespace taeda::shape
