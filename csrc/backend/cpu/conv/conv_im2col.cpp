// Convolutions as matrix products over columns of windows, one image and group at a time.
#include "backend/cpu/conv/conv.h"
#include "backend/cpu/conv/im2col.h"

namespace taeda::cpu::conv {

namespace {

// The matrices of one group of one image: weight (rows, depth), columns (depth, places), features (rows, places).
struct Plan {
  Windows windows;
  int64_t batch, groups, channels, rows, depth, places, size;
  DType dtype;
  Tensor columns;

  explicit Plan(const Problem& p)
      : windows(p.image.sizes().subspan(2), p.weight.sizes().subspan(2), p.features.sizes().subspan(2), p.stride,
                p.padding, p.dilation),
        batch(p.image.sizes()[0]),
        groups(p.groups),
        channels(p.weight.sizes()[1]),
        rows(p.weight.sizes()[0] / groups),
        depth(channels * windows.kernel_area()),
        places(windows.columns()),
        size(p.image.itemsize()),
        dtype(p.image.dtype()),
        columns(new_tensor(IntList({depth, places}), dtype)) {}

  void* image(const Problem& p, int64_t n, int64_t g) const {
    return at(p.image, (n * groups + g) * channels * windows.image_area());
  }
  void* weight(const Problem& p, int64_t g) const { return at(p.weight, g * rows * depth); }
  void* features(const Problem& p, int64_t n, int64_t g) const {
    return at(p.features, (n * groups + g) * rows * places);
  }
  void* at(const Tensor& t, int64_t elements) const { return t.data<char>() + elements * size; }

  template <class F>
  void each(const F& fn) const {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t g = 0; g < groups; ++g) fn(n, g);
  }
};

}  // namespace

void forward_columns(const Problem& p) {
  Plan plan(p);
  plan.each([&](int64_t n, int64_t g) {
    im2col(plan.dtype, plan.windows, plan.channels, plan.image(p, n, g), plan.columns.data());
    gemm({plan.dtype, 1, plan.rows, plan.places, plan.depth, plan.weight(p, g), 0, plan.depth, 1, plan.columns.data(),
          0, plan.places, 1, plan.features(p, n, g), 0, plan.places});
  });
}

void image_columns(const Problem& p) {
  Plan plan(p);
  plan.each([&](int64_t n, int64_t g) {
    gemm({plan.dtype, 1, plan.depth, plan.places, plan.rows, plan.weight(p, g), 0, 1, plan.depth,
          plan.features(p, n, g), 0, plan.places, 1, plan.columns.data(), 0, plan.places});
    col2im(plan.dtype, plan.windows, plan.channels, plan.columns.data(), plan.image(p, n, g));
  });
}

void weight_columns(const Problem& p) {
  Plan plan(p);
  plan.each([&](int64_t n, int64_t g) {
    im2col(plan.dtype, plan.windows, plan.channels, plan.image(p, n, g), plan.columns.data());
    gemm({plan.dtype, 1, plan.rows, plan.depth, plan.places, plan.features(p, n, g), 0, plan.places, 1,
          plan.columns.data(), 0, 1, plan.places, plan.weight(p, g), 0, plan.depth, Scalar(1), Scalar(n == 0 ? 0 : 1)});
  });
}

}  // namespace taeda::cpu::conv
