// Functions that are an op of another name: the schema that programs know, and the op that serves it.
#include <algorithm>

#include "jit/primitives/typed.h"

namespace taeda::jit {

namespace {

template <size_t n>
struct Text {
  char text[n];
  constexpr Text(const char (&from)[n]) { std::copy_n(from, n, text); }
};

// The op takes the same arguments, and those that it has more of at their defaults.
template <Text name, Text overload>
void forwarded(Stack& stack, size_t count) {
  static const Op* const op = find_op(name.text, overload.text);
  TAEDA_CHECK(op, "this build has no op ", name.text);
  const OpInfo& info = op->info();
  for (size_t i = count; i < info.param_count; ++i) stack.push_back(default_value(info.params[i]));
  for (size_t i = 0; i < info.param_count; ++i)
    to_argument(stack[stack.size() - info.param_count + i], info.params[i].type);
  op->call_boxed(stack);
}

// a to another device, as a.to("cuda") gives it.
template <DeviceType type>
void moved(Stack& stack, size_t) {
  static const Op* const op = find_op("aten::to", "device");
  stack.push_back(Device{type, static_cast<int8_t>(type == DeviceType::CPU ? -1 : 0)});
  stack.push_back(Value());
  const OpInfo& info = op->info();
  for (size_t i = 3; i < info.param_count; ++i) stack.push_back(default_value(info.params[i]));
  if (info.params[2].type == ArgType::DType && !info.params[2].optional)
    stack[stack.size() - info.param_count + 2] = stack[stack.size() - info.param_count].to_tensor().dtype();
  op->call_boxed(stack);
}

// to(dtype, non_blocking, copy) where the dtype may be absent.
void to_dtype(Stack& stack, size_t) {
  static const Op* const op = find_op("aten::to", "dtype");
  size_t base = stack.size() - 4;
  if (stack[base + 1].is_none()) stack[base + 1] = stack[base].to_tensor().dtype();
  to_argument(stack[base + 1], ArgType::DType);
  stack.push_back(Value());
  op->call_boxed(stack);
}
void to_other(Stack& stack, size_t) {
  stack.insert(stack.end() - 2, Value());
  to_dtype(stack, 4);
}

#define TAEDA_BITWISE(python, op)                                                                                     \
  {"aten::__" python "__.Scalar(Tensor self, Scalar other) -> Tensor", forwarded<"aten::" op, "Scalar">},             \
      {"aten::__" python "__.Tensor(Tensor self, Tensor other) -> Tensor", forwarded<"aten::" op, "Tensor">},         \
      {"aten::__i" python "__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",                                   \
       forwarded<"aten::" op "_", "Scalar">},                                                                         \
  {                                                                                                                   \
    "aten::__i" python "__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", forwarded<"aten::" op "_", "Tensor"> \
  }
#define TAEDA_SHIFT(python, op)                                                                                       \
  {"aten::__" python "__.Scalar(Tensor self, Scalar other) -> Tensor", forwarded<"aten::" op, "Tensor_Scalar">},      \
      {"aten::__" python "__.Tensor(Tensor self, Tensor other) -> Tensor", forwarded<"aten::" op, "Tensor">},         \
      {"aten::__i" python "__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",                                   \
       forwarded<"aten::" op "_", "Tensor_Scalar">},                                                                  \
  {                                                                                                                   \
    "aten::__i" python "__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", forwarded<"aten::" op "_", "Tensor"> \
  }

constexpr Primitive kTable[] = {
    TAEDA_BITWISE("and", "bitwise_and"),
    TAEDA_BITWISE("or", "bitwise_or"),
    TAEDA_BITWISE("xor", "bitwise_xor"),
    TAEDA_SHIFT("lshift", "bitwise_left_shift"),
    TAEDA_SHIFT("rshift", "bitwise_right_shift"),
    {"prim::abs(Tensor x) -> Tensor", forwarded<"aten::abs", "">},
    {"aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", forwarded<"aten::pow_", "Tensor_Scalar">},
    {"aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", forwarded<"aten::pow_", "Tensor_Tensor">},
    {"aten::copy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", forwarded<"aten::copy_", "">},
    {"aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
     forwarded<"aten::split_with_sizes", "">},
    {"aten::cpu(Tensor(a) self) -> Tensor(b|a)", moved<DeviceType::CPU>},
    {"aten::cuda(Tensor(a) self) -> Tensor(b|a)", moved<DeviceType::CUDA>},
    {"aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
     to_dtype},
    {"aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)", to_other},
    {"aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", forwarded<"aten::index", "Tensor">},
    {"aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
     forwarded<"aten::index_put", "">},
    {"aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False) -> "
     "Tensor(a!)",
     forwarded<"aten::index_put_", "">},
    {"aten::_no_grad_zero_(Tensor(a!) tensor) -> Tensor(a!)", forwarded<"aten::zero_", "">},
};

}  // namespace

PrimitiveTable forwarding_primitives() { return kTable; }

}  // namespace taeda::jit
