// Repetitions and rotations made of other ops.
#include "shape/ops/rearrange.h"
#include "shape/spec.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"
#include "taeda/ops/rearrange.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

Tensor repeat_backward(const Tensor& grad_output, IntList input_sizes, IntList repeats) {
  shape::Dims sizes;
  std::vector<int64_t> summed;
  size_t lead = repeats.size() - input_sizes.size();
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] == 0) return ops::new_zeros(grad_output, input_sizes);
    if (repeats[d] != 1 || d < lead) {
      summed.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(repeats[d]);
    }
    if (d >= lead) sizes.push_back(input_sizes[d - lead]);
  }
  if (summed.empty()) return grad_output;
  return ops::sum(ops::reshape(grad_output, sizes), summed);
}

Tensor tile(const Tensor& self, IntList dims) {
  shape::Dims repeats;
  for (int64_t d = static_cast<int64_t>(dims.size()); d < self.dim(); ++d) repeats.push_back(1);
  for (int64_t count : dims) repeats.push_back(count);
  return ops::repeat(self, repeats);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  Tensor input = dim ? self : ops::flatten(self);
  if (input.dim() == 0) input = ops::unsqueeze(input, 0);
  int64_t along = wrap_dim(dim.value_or(0), input.dim()), size = input.sizes()[along];
  TAEDA_CHECK(repeats.dim() <= 1, "repeats must have at most one dimension; got shape ", repeats.sizes());
  Tensor counts = repeats;
  if (repeats.numel() == 1 && size != 1)
    counts = ops::expand(ops::reshape(repeats, kList<int64_t, 1, 1>), IntList(&size, 1));
  else if (repeats.dim() == 0)
    counts = ops::unsqueeze(repeats, 0);
  TAEDA_CHECK(counts.numel() == size, "repeats must have one number, or one for each of the ", size,
              " slices of dimension ", along, "; got ", counts.numel());
  return ops::index_select(input, along, ops::repeat_interleave(counts, output_size));
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim,
                         std::optional<int64_t> output_size) {
  TAEDA_CHECK(repeats >= 0, "repeats must not be negative; got ", repeats);
  Tensor input = dim ? self : ops::flatten(self);
  if (input.dim() == 0) input = ops::unsqueeze(input, 0);
  int64_t along = wrap_dim(dim.value_or(0), input.dim());
  shape::Dims sizes(input.sizes());
  sizes.insert(along + 1, repeats);
  Tensor wide = ops::clone(ops::expand(ops::unsqueeze(input, along + 1), sizes), MemoryFormat::Contiguous);
  sizes.erase(along + 1);
  sizes[along] *= repeats;
  TAEDA_CHECK(output_size.value_or(sizes[along]) == sizes[along], "output_size is ", *output_size,
              ", but there will be ", sizes[along], " slices");
  return ops::_unsafe_view(wide, sizes);
}

Tensor fliplr(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 2, "takes a tensor with at least two dimensions; got shape ", self.sizes());
  return ops::flip(self, kList<int64_t, 1, 1>);
}

Tensor flipud(const Tensor& self) {
  TAEDA_CHECK(self.dim() >= 1, "takes a tensor with at least one dimension; got shape ", self.sizes());
  return ops::flip(self, kList<int64_t, 1, 0>);
}

Tensor roll_backward(const Tensor& grad_output, IntList shifts, IntList dims) {
  shape::Dims back;
  for (int64_t shift : shifts) {
    TAEDA_CHECK(shift != INT64_MIN, "there is no shift back from ", shift);
    back.push_back(-shift);
  }
  return ops::roll(grad_output, back, dims);
}

Tensor rot90(const Tensor& self, int64_t k, IntList dims) {
  TAEDA_CHECK(dims.size() == 2, "dims must name the two dimensions of a plane; got ", dims);
  TAEDA_CHECK(self.dim() >= 2, "takes a tensor with at least two dimensions; got shape ", self.sizes());
  int64_t from = wrap_dim(dims[0], self.dim()), towards = wrap_dim(dims[1], self.dim());
  TAEDA_CHECK(from != towards, "dims must name two dimensions; got ", dims);
  switch (((k % 4) + 4) % 4) {
    case 1:
      return ops::transpose(ops::flip(self, IntList(&towards, 1)), from, towards);
    case 2:
      return ops::flip(self, std::vector<int64_t>{from, towards});
    case 3:
      return ops::transpose(ops::flip(self, IntList(&from, 1)), from, towards);
    default:
      return ops::clone(self, MemoryFormat::Contiguous);
  }
}

}  // namespace taeda::composite
