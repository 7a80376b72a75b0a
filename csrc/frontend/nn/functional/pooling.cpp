#include <torch/nn/functional/pooling.h>

namespace torch::nn::functional {

Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& o) {
  return at::avg_pool1d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& o) {
  return at::avg_pool2d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                        o.divisor_override());
}
Tensor avg_pool3d(const Tensor& input, const AvgPool3dFuncOptions& o) {
  return at::avg_pool3d(input, o.kernel_size(), o.stride(), o.padding(), o.ceil_mode(), o.count_include_pad(),
                        o.divisor_override());
}

#define TAEDA_MAX_POOL(D)                                                                                          \
  Tensor max_pool##D##d(const Tensor& input, const MaxPool##D##dFuncOptions& o) {                                  \
    return at::max_pool##D##d(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(), o.ceil_mode());       \
  }                                                                                                                \
  std::tuple<Tensor, Tensor> max_pool##D##d_with_indices(const Tensor& input, const MaxPool##D##dFuncOptions& o) { \
    return at::max_pool##D##d_with_indices(input, o.kernel_size(), o.stride(), o.padding(), o.dilation(),          \
                                           o.ceil_mode());                                                         \
  }
TAEDA_MAX_POOL(1)
TAEDA_MAX_POOL(2)
TAEDA_MAX_POOL(3)
#undef TAEDA_MAX_POOL

namespace {

// What is left open is the input's own size.
template <size_t D>
std::vector<int64_t> size_of(const ExpandingArrayWithOptionalElem<D>& wanted, const Tensor& input) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < D; ++i)
    sizes.push_back(wanted[i] ? *wanted[i] : input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D)));
  return sizes;
}
std::vector<int64_t> size_of(const ExpandingArray<1>& wanted, const Tensor&) { return {wanted[0]}; }

}  // namespace

#define TAEDA_ADAPTIVE_POOL(D)                                                                                 \
  std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices(const Tensor& input,                         \
                                                                  const AdaptiveMaxPool##D##dFuncOptions& o) { \
    return at::adaptive_max_pool##D##d(input, size_of(o.output_size(), input));                                \
  }                                                                                                            \
  Tensor adaptive_max_pool##D##d(const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& o) {             \
    return std::get<0>(adaptive_max_pool##D##d_with_indices(input, o));                                        \
  }                                                                                                            \
  Tensor adaptive_avg_pool##D##d(const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& o) {             \
    return at::adaptive_avg_pool##D##d(input, size_of(o.output_size(), input));                                \
  }
TAEDA_ADAPTIVE_POOL(1)
TAEDA_ADAPTIVE_POOL(2)
TAEDA_ADAPTIVE_POOL(3)
#undef TAEDA_ADAPTIVE_POOL

namespace {

// The size that was pooled: what is asked for, if it could have been, else the smallest.
template <size_t D>
std::vector<int64_t> unpooled_size(const Tensor& input, const MaxUnpoolFuncOptions<D>& o) {
  std::vector<int64_t> usual;
  for (size_t i = 0; i < D; ++i)
    usual.push_back((input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D)) - 1) * o.stride()[i] +
                    o.kernel_size()[i] - 2 * o.padding()[i]);
  if (!o.output_size()) return usual;
  std::vector<int64_t> wanted = *o.output_size();
  if (wanted.size() > D) wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(D));
  TORCH_CHECK(wanted.size() == D, "max_unpool: output_size has a size for each of the last ", D, " dimensions; got ",
              wanted.size());
  for (size_t i = 0; i < D; ++i)
    TORCH_CHECK(wanted[i] > usual[i] - o.stride()[i] && wanted[i] < usual[i] + o.stride()[i], "output_size ",
                IntArrayRef(wanted), " (dim ", i, " must be between ", usual[i] - o.stride()[i], " and ",
                usual[i] + o.stride()[i], ")");
  return wanted;
}

}  // namespace

Tensor max_unpool1d(const Tensor& input, const Tensor& indices, const MaxUnpool1dFuncOptions& o) {
  std::vector<int64_t> size = unpooled_size(input, o);
  return at::max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), {size[0], 1}).squeeze(-1);
}
Tensor max_unpool2d(const Tensor& input, const Tensor& indices, const MaxUnpool2dFuncOptions& o) {
  return at::max_unpool2d(input, indices, unpooled_size(input, o));
}
Tensor max_unpool3d(const Tensor& input, const Tensor& indices, const MaxUnpool3dFuncOptions& o) {
  return at::max_unpool3d(input, indices, unpooled_size(input, o), o.stride(), o.padding());
}

namespace {

template <size_t D, class Pool>
std::tuple<Tensor, Tensor> fractional(const Tensor& input, const FractionalMaxPoolOptions<D>& o, const Pool& pool) {
  TORCH_CHECK(o.output_size() || o.output_ratio(), "fractional_max_pool", D,
              "d requires specifying either an output_size or an output_ratio");
  std::vector<int64_t> size;
  for (size_t i = 0; i < D; ++i) {
    if (o.output_size())
      size.push_back((*o.output_size())[i]);
    else
      size.push_back(static_cast<int64_t>(
          static_cast<double>(input.size(static_cast<int64_t>(i) - static_cast<int64_t>(D))) * (*o.output_ratio())[i]));
  }
  Tensor samples = o._random_samples();
  if (!samples.defined()) {
    int64_t batch = input.dim() == D + 1 ? 1 : input.size(0);
    samples = at::rand({batch, input.size(-static_cast<int64_t>(D) - 1), static_cast<int64_t>(D)}, input.options());
  }
  return pool(input, o.kernel_size(), size, samples);
}

}  // namespace

#define TAEDA_FRACTIONAL_POOL(D)                                                                                      \
  std::tuple<Tensor, Tensor> fractional_max_pool##D##d_with_indices(const Tensor& input,                              \
                                                                    const FractionalMaxPool##D##dFuncOptions& o) {    \
    return fractional<D>(input, o, [](const Tensor& x, IntArrayRef kernel, IntArrayRef size, const Tensor& samples) { \
      return at::fractional_max_pool##D##d(x, kernel, size, samples);                                                 \
    });                                                                                                               \
  }                                                                                                                   \
  Tensor fractional_max_pool##D##d(const Tensor& input, const FractionalMaxPool##D##dFuncOptions& o) {                \
    return std::get<0>(fractional_max_pool##D##d_with_indices(input, o));                                             \
  }
TAEDA_FRACTIONAL_POOL(2)
TAEDA_FRACTIONAL_POOL(3)
#undef TAEDA_FRACTIONAL_POOL

namespace {

// The norm of each window, of its mean power.
template <size_t D>
Tensor power_pool(const Tensor& mean, const LPPoolOptions<D>& o) {
  int64_t window = 1;
  for (int64_t size : *o.kernel_size()) window *= size;
  return (mean.sign() * mean.abs().relu()).mul(window).pow(1.0 / o.norm_type());
}

}  // namespace

Tensor lp_pool1d(const Tensor& input, const LPPool1dFuncOptions& o) {
  return power_pool(at::avg_pool1d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode()), o);
}
Tensor lp_pool2d(const Tensor& input, const LPPool2dFuncOptions& o) {
  return power_pool(at::avg_pool2d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode()), o);
}
Tensor lp_pool3d(const Tensor& input, const LPPool3dFuncOptions& o) {
  return power_pool(at::avg_pool3d(input.pow(o.norm_type()), o.kernel_size(), o.stride(), 0, o.ceil_mode()), o);
}

}  // namespace torch::nn::functional
