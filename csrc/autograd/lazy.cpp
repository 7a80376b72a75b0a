// Tensors that are lazily conjugated or negated. Their memory holds other numbers than they show, so a call that reads
// or writes elements is made with tensors that hold what they show. Kernels never see such a tensor.
#include <utility>

#include "taeda/autograd/record.h"
#include "taeda/ops/complex_numbers.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/unary.h"
#include "taeda/ops/view.h"

namespace taeda::autograd {
namespace {

KeySet bits_of(const Tensor& t) { return t.keys() & kLazyKeys; }

// The memory as it is.
Tensor as_stored(const Tensor& t) {
  Ref<TensorImpl> impl = t->shallow_copy();
  impl->set_keys(impl->keys() - kLazyKeys);
  return Tensor(std::move(impl));
}

// From what is stored to what is shown, and back.
Tensor turned(const Tensor& t, KeySet bits) {
  Tensor result = bits.has(Functionality::Conjugate) ? ops::_conj_physical(t) : t;
  return bits.has(Functionality::Negative) ? ops::neg(result) : result;
}

void turn(const Tensor& t, KeySet bits) {
  if (bits.has(Functionality::Conjugate)) ops::_conj_physical_out(t, t);
  if (bits.has(Functionality::Negative)) ops::neg_(t);
}

// Modes of __torch_dispatch__ see copies of the tensors that they know, and nothing of the memory.
bool mode_is_on() { return t_state.include.has(Functionality::Python); }

// A tensor that holds what `t` shows.
Tensor resolved(const Tensor& t) {
  bool is_seen = mode_is_on() || (!t_state.exclude.has(Functionality::Autograd) && (recording(t) || has_tangents(t)));
  return is_seen ? ops::clone(t) : turned(as_stored(t), bits_of(t));
}

// --- copies, which every other op resorts to

Tensor cloned(const Tensor& self, std::optional<MemoryFormat> format) {
  Tensor stored = as_stored(self);
  if (format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve && self->is_non_overlapping_and_dense())
    return turned(stored, bits_of(self));
  Tensor result = ops::clone(stored, format);
  turn(result, bits_of(self));
  return result;
}

void copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor target = as_stored(self), source = as_stored(src);
  KeySet bits = bits_of(self) ^ bits_of(src);
  bool is_alike = self.dtype() == src.dtype() && self.device() == src.device();
  if (is_alike && bits.empty()) return ops::copy_(target, source, non_blocking);
  if (is_alike && bits == Functionality::Conjugate)
    return ops::_conj_physical_out(ops::expand(source, self.sizes()), target);
  if (is_alike && bits == Functionality::Negative) return ops::neg_out(ops::expand(source, self.sizes()), target);
  if (src->is_lazy()) source = turned(source, bits_of(src));
  if (self->is_lazy()) source = turned(ops::_to_copy(source, self.dtype(), std::nullopt, self.device()), bits_of(self));
  ops::copy_(target, source, non_blocking);
}

// --- all ops

// The arguments of one call, in the places of which it gets others.
class StandIns {
 public:
  Tensor of(const Tensor& t, bool is_written) {
    if (!t.defined() || !t->is_lazy()) return t;
    if (!is_written) return resolved(t);
    for (const auto& [original, stand_in] : written_)
      if (original.is(t)) return stand_in;
    return written_.emplace_back(t, resolved(t)).second;
  }

  Value of(const Value& value, bool is_written) {
    if (value.is_tensor()) return of(value.to_tensor(), is_written);
    std::vector<Tensor> list;
    for (const Tensor& t : value.to_tensor_list()) list.push_back(of(t, is_written));
    return list;
  }

  void write_back() const {
    for (const auto& [original, stand_in] : written_) {
      resize_in_place(original, stand_in.sizes());
      ops::copy_(original, stand_in);
    }
  }

  // In-place calls give back what they were given.
  void restore(Value& result) const {
    for (const auto& [original, stand_in] : written_)
      if (result.tensor_impl() == stand_in.impl()) result = original;
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> written_;
};

void call_resolved(const Op& op, KeySet keys, Stack& stack) {
  const OpInfo& info = op.info();
  size_t base = stack.size() - info.param_count;
  StandIns stand_ins;
  for (size_t i = base; i < stack.size(); ++i)
    if (stack[i].is_tensor() || stack[i].tag() == Value::Tag::TensorList)
      stack[i] = stand_ins.of(stack[i], info.params[i - base].is_mutable);
  op.call_boxed(keys, stack);
  stand_ins.write_back();
  for (size_t i = base; i < stack.size(); ++i) stand_ins.restore(stack[i]);
}

void call_lazily(const Op& op, KeySet keys, Stack& stack) {
  keys = keys & KeySet::below(Functionality::Conjugate);
  std::string_view name = op.info().name;
  bool is_clone = name == "aten::clone" && !op.info().out_count, is_copy = name == "aten::copy_";
  if (!is_clone && !is_copy) return call_resolved(op, keys, stack);
  if (mode_is_on()) return op.call_boxed(keys, stack);
  size_t base = stack.size() - op.info().param_count;
  Tensor self = stack[base].to_tensor();
  if (is_copy) {
    copy(self, stack[base + 1].to_tensor(), stack[base + 2].to_bool());
    stack.resize(base + 1);
    return;
  }
  Value format = std::move(stack[base + 1]);
  stack.resize(base);
  stack.push_back(cloned(self, format.is_none() ? std::nullopt : std::optional(format.to_memory_format())));
}

}  // namespace
}  // namespace taeda::autograd

namespace taeda {
const Kernel lazy_kernel{autograd::call_lazily, "csrc/autograd/lazy.cpp"};
}  // namespace taeda
