#include <ATen/TensorIterator.h>

#include <algorithm>
#include <numeric>

#include <ATen/ExpandUtils.h>

namespace at {

TensorIteratorConfig& TensorIteratorConfig::add_output(const Tensor& t) {
  TORCH_CHECK(inputs_.empty(), "TensorIterator: outputs are added before inputs");
  outputs_.push_back(t);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::add_input(const Tensor& t) {
  TORCH_CHECK(t.defined(), "TensorIterator: an input is undefined");
  inputs_.push_back(t);
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype(ScalarType dtype) {
  dtype_ = dtype;
  return *this;
}
TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntArrayRef shape) {
  shape_ = shape.vec();
  return *this;
}
TensorIterator TensorIteratorConfig::build() {
  TensorIterator made;
  made.TensorIteratorBase::build(*this);
  return made;
}

void TensorIteratorBase::build(TensorIteratorConfig& config) {
  outputs_ = static_cast<int>(config.outputs_.size());
  std::vector<int64_t> sizes;
  find_sizes(config, sizes);

  // --- dtypes
  for (const Tensor& input : config.inputs_)
    common_dtype_ = common_dtype_ == ScalarType::Undefined ? input.scalar_type()
                                                           : c10::promoteTypes(common_dtype_, input.scalar_type());
  if (config.to_float_ && c10::isIntegralType(common_dtype_, true))
    common_dtype_ = c10::get_default_dtype_as_scalartype();
  if (config.dtype_) common_dtype_ = *config.dtype_;
  const bool converts = config.promote_ || config.to_float_ || config.dtype_;
  for (const Tensor& output : config.outputs_) {
    if (common_dtype_ == ScalarType::Undefined && output.defined()) common_dtype_ = output.scalar_type();
    TORCH_CHECK(!output.defined() || !config.same_dtype_ || converts || output.scalar_type() == common_dtype_,
                "TensorIterator: expected all tensors to have dtype ", common_dtype_, "; an output has ",
                output.scalar_type());
  }
  const Device device = !config.inputs_.empty()        ? config.inputs_[0].device()
                        : config.outputs_[0].defined() ? config.outputs_[0].device()
                                                       : Device(c10::kCPU);

  // --- operands: outputs that are made or computed in another dtype, inputs as they are computed with
  for (Tensor& output : config.outputs_) {
    Operand operand{output, output, {}};
    if (!output.defined()) {
      operand.tensor = operand.given = at::empty(sizes, TensorOptions(device).dtype(common_dtype_));
    } else {
      if (output.sizes() != IntArrayRef(sizes)) {
        TORCH_CHECK(config.resize_, "TensorIterator: an output has sizes ", output.sizes(), "; expected ",
                    IntArrayRef(sizes));
        output.resize_(sizes);
      }
      if (config.check_overlap_)
        TORCH_CHECK(output.is_non_overlapping_and_dense() || output.numel() < 2 ||
                        *std::min_element(output.strides().begin(), output.strides().end()) > 0,
                    "TensorIterator: several elements of an output share memory: call clone() on it first");
      if (config.cast_outputs_ && output.scalar_type() != common_dtype_)
        operand.tensor = at::empty(sizes, output.options().dtype(common_dtype_));
    }
    operands_.push_back(std::move(operand));
  }
  for (const Tensor& input : config.inputs_) {
    TORCH_CHECK(!config.same_device_ || input.device() == device || (config.cpu_scalars_ && input.dim() == 0),
                "TensorIterator: expected all tensors on ", device, "; one is on ", input.device());
    TORCH_CHECK(!config.same_dtype_ || converts || input.scalar_type() == common_dtype_,
                "TensorIterator: expected all tensors to have dtype ", common_dtype_, "; an input has ",
                input.scalar_type());
    Tensor used = converts && input.scalar_type() != common_dtype_ ? input.to(common_dtype_) : input;
    operands_.push_back({used, input, {}});
  }
  find_strides(sizes);
  coalesce();
}

void TensorIteratorBase::find_sizes(const TensorIteratorConfig& config, std::vector<int64_t>& sizes) {
  TORCH_CHECK(!config.outputs_.empty() || !config.inputs_.empty(), "TensorIterator: there are no tensors");
  if (config.shape_) {
    sizes = *config.shape_;
    return;
  }
  if (config.inputs_.empty()) {
    TORCH_CHECK(config.outputs_[0].defined(), "TensorIterator: nothing says what size the output shall have");
    sizes = config.outputs_[0].sizes().vec();
  }
  for (const Tensor& input : config.inputs_) sizes = infer_size(sizes, input.sizes());
}

// Bytes from one element to the next in each dimension, the last one first; 0 where a tensor is broadcast.
void TensorIteratorBase::find_strides(IntArrayRef sizes) {
  const size_t dims = sizes.size();
  for (Operand& operand : operands_) {
    operand.strides.assign(dims, 0);
    IntArrayRef own = operand.tensor.sizes(), strides = operand.tensor.strides();
    for (size_t i = 0; i < own.size(); ++i)
      if (own[own.size() - 1 - i] != 1 || sizes[dims - 1 - i] == 1)
        operand.strides[i] = strides[own.size() - 1 - i] * static_cast<int64_t>(operand.tensor.itemsize());
  }
  // The first tensor's memory order is the loops'.
  std::vector<size_t> order(dims);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return operands_[0].strides[a] < operands_[0].strides[b]; });
  for (size_t d : order) shape_.push_back(sizes[dims - 1 - d]);
  for (Operand& operand : operands_) {
    std::vector<int64_t> sorted;
    for (size_t d : order) sorted.push_back(operand.strides[d]);
    operand.strides = sorted;
  }
}

// Dimensions of size 1 vanish; neighbours that lie one after another in all tensors are one.
void TensorIteratorBase::coalesce() {
  std::vector<int64_t> kept_shape;
  std::vector<std::vector<int64_t>> kept(operands_.size());
  for (size_t d = 0; d < shape_.size(); ++d) {
    if (shape_[d] == 1) continue;
    bool joins = !kept_shape.empty();
    for (size_t t = 0; t < operands_.size() && joins; ++t)
      joins = kept[t].back() * kept_shape.back() == operands_[t].strides[d];
    if (joins) {
      kept_shape.back() *= shape_[d];
      continue;
    }
    kept_shape.push_back(shape_[d]);
    for (size_t t = 0; t < operands_.size(); ++t) kept[t].push_back(operands_[t].strides[d]);
  }
  if (kept_shape.empty()) {
    kept_shape.push_back(
        shape_.empty() ? 1 : std::accumulate(shape_.begin(), shape_.end(), int64_t{1}, std::multiplies<>()));
    for (size_t t = 0; t < operands_.size(); ++t) kept[t].push_back(0);
  }
  shape_ = kept_shape;
  for (size_t t = 0; t < operands_.size(); ++t) operands_[t].strides = kept[t];
}

int64_t TensorIteratorBase::numel() const {
  return std::accumulate(shape_.begin(), shape_.end(), int64_t{1}, std::multiplies<>());
}
bool TensorIteratorBase::is_contiguous() const {
  if (ndim() > 1) return false;
  for (int i = 0; i < ntensors(); ++i)
    if (numel() > 1 && strides(i)[0] != element_size(i)) return false;
  return true;
}

void TensorIteratorBase::serial_for_each(const loop1d_t& loop, std::pair<int64_t, int64_t> range) const {
  std::vector<int64_t> inner;
  for (const Operand& operand : operands_) inner.push_back(operand.strides[0]);
  std::vector<char*> data(operands_.size());
  for (int64_t at = range.first; at < range.second;) {
    const int64_t first = at % shape_[0], count = std::min(shape_[0] - first, range.second - at);
    for (size_t t = 0; t < operands_.size(); ++t) {
      int64_t rest = at, offset = 0;
      for (size_t d = 0; d < shape_.size(); ++d) {
        offset += rest % shape_[d] * operands_[t].strides[d];
        rest /= shape_[d];
      }
      data[t] = static_cast<char*>(operands_[t].tensor.data_ptr()) + offset;
    }
    loop(data.data(), inner.data(), count);
    at += count;
  }
}
void TensorIteratorBase::for_each(const loop1d_t& loop, int64_t grain_size) {
  if (numel() == 0) return;
  at::parallel_for(0, numel(), grain_size, [&](int64_t begin, int64_t end) { serial_for_each(loop, {begin, end}); });
}
void TensorIteratorBase::for_each(const loop2d_t& loop, int64_t grain_size) {
  for_each(loop1d_t([&](char** data, const int64_t* strides, int64_t n) {
             std::vector<int64_t> both(strides, strides + operands_.size());
             both.resize(2 * operands_.size(), 0);
             loop(data, both.data(), n, 1);
           }),
           grain_size);
}
void TensorIteratorBase::cast_outputs() {
  for (int i = 0; i < outputs_; ++i) {
    Operand& operand = operands_[static_cast<size_t>(i)];
    if (!operand.tensor.is_same(operand.given)) operand.given.copy_(operand.tensor);
  }
}

TensorIterator TensorIterator::binary_op(Tensor& out, const Tensor& a, const Tensor& b) {
  TensorIterator made = TensorIteratorConfig()
                            .add_output(out)
                            .add_input(a)
                            .add_input(b)
                            .promote_inputs_to_common_dtype(true)
                            .cast_common_dtype_to_outputs(true)
                            .build();
  out = made.operands_[0].given;
  return made;
}
TensorIterator TensorIterator::unary_op(Tensor& out, const Tensor& a) {
  TensorIterator made = TensorIteratorConfig().add_output(out).add_input(a).cast_common_dtype_to_outputs(true).build();
  out = made.operands_[0].given;
  return made;
}
TensorIterator TensorIterator::nullary_op(Tensor& out) {
  return TensorIteratorConfig().add_output(out).resize_outputs(false).build();
}

}  // namespace at
