#include <torch/nn/functional/vision.h>

#include <cmath>

#include <torch/nn/functional/upsampling.h>

namespace torch::nn::functional {

Tensor affine_grid(const Tensor& theta, const IntArrayRef& size, bool align_corners) {
  return at::affine_grid_generator(theta, size, align_corners);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options) {
  if (!options.align_corners())
    TORCH_WARN("Default grid_sample and affine_grid behavior has changed to align_corners=false; set it to say so");
  std::string padding = enumtype::get_enum_name(options.padding_mode());
  return at::grid_sampler(input, grid, std::holds_alternative<enumtype::kBilinear>(options.mode()) ? 0 : 1,
                          padding == "kZeros"    ? 0
                          : padding == "kBorder" ? 1
                                                 : 2,
                          options.align_corners().value_or(false));
}

namespace {

struct Scaled {
  std::vector<int64_t> size;
  std::vector<std::optional<double>> scales;  // what kernels compute places with, where it is not the sizes' ratio
};

Scaled scaled(const Tensor& input, const InterpolateFuncOptions& options) {
  const auto dims = static_cast<size_t>(input.dim() - 2);
  TORCH_CHECK(options.size() || options.scale_factor(), "interpolate: takes size or scale_factor; got neither");
  TORCH_CHECK(!(options.size() && options.scale_factor()), "interpolate: takes size or scale_factor; got both");
  auto checked = [&](const auto& list) {
    TORCH_CHECK(list.size() == dims, "interpolate: expected one number for each of ", dims, " dimensions; got ",
                list.size());
    return list;
  };
  bool recompute = options.recompute_scale_factor().value_or(false);
  TORCH_CHECK(!(options.size() && recompute), "interpolate: recompute_scale_factor goes with scale_factor alone");
  Scaled made{{}, std::vector<std::optional<double>>(dims)};
  if (options.size()) {
    made.size = checked(*options.size());
    return made;
  }
  std::vector<double> factors = checked(*options.scale_factor());
  for (size_t i = 0; i < dims; ++i) {
    made.size.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(input.size(static_cast<int64_t>(i) + 2)) * factors[i])));
    if (!recompute) made.scales[i] = factors[i];
  }
  return made;
}

}  // namespace

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options) {
  const std::string mode = enumtype::get_enum_name(options.mode());
  const int64_t dims = input.dim() - 2;
  TORCH_CHECK(dims >= 1 && dims <= 3, "interpolate: expected (batch, channels) and 1 to 3 dimensions; got ",
              input.sizes());
  bool nearest = mode == "kNearest" || mode == "kNearestExact" || mode == "kArea";
  TORCH_CHECK(!nearest || !options.align_corners(), "interpolate: align_corners is for linear, bilinear, bicubic and ",
              "trilinear; got ", mode);
  auto [size, scales] = scaled(input, options);
  bool align = options.align_corners().value_or(false);
  if (options.antialias()) {
    TORCH_CHECK(dims == 2 && (mode == "kBilinear" || mode == "kBicubic"),
                "interpolate: antialias is for images, and kBilinear or kBicubic; got ", mode);
    return mode == "kBilinear" ? at::_upsample_bilinear2d_aa(input, size, align, scales[0], scales[1])
                               : at::_upsample_bicubic2d_aa(input, size, align, scales[0], scales[1]);
  }
  if (mode == "kArea")
    return dims == 1   ? at::adaptive_avg_pool1d(input, size)
           : dims == 2 ? at::adaptive_avg_pool2d(input, size)
                       : at::adaptive_avg_pool3d(input, size);
  if (mode == "kNearest")
    return dims == 1   ? at::upsample_nearest1d(input, size, scales[0])
           : dims == 2 ? at::upsample_nearest2d(input, size, scales[0], scales[1])
                       : at::upsample_nearest3d(input, size, scales[0], scales[1], scales[2]);
  if (mode == "kNearestExact")
    return dims == 1   ? at::_upsample_nearest_exact1d(input, size, scales[0])
           : dims == 2 ? at::_upsample_nearest_exact2d(input, size, scales[0], scales[1])
                       : at::_upsample_nearest_exact3d(input, size, scales[0], scales[1], scales[2]);
  if (dims == 1 && mode == "kLinear") return at::upsample_linear1d(input, size, align, scales[0]);
  if (dims == 2 && mode == "kBilinear") return at::upsample_bilinear2d(input, size, align, scales[0], scales[1]);
  if (dims == 2 && mode == "kBicubic") return at::upsample_bicubic2d(input, size, align, scales[0], scales[1]);
  if (dims == 3 && mode == "kTrilinear")
    return at::upsample_trilinear3d(input, size, align, scales[0], scales[1], scales[2]);
  TORCH_CHECK(false, "interpolate: ", mode, " is not for ", dims, " dimension(s): kLinear is for 1, kBilinear and ",
              "kBicubic for 2, kTrilinear for 3");
}

}  // namespace torch::nn::functional
