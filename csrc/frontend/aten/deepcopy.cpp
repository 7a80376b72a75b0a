// Boxed values copied with all that they refer to.
#include <ATen/core/ivalue.h>
#include <taeda/jit/module.h>
#include <torch/types.h>

namespace c10 {

namespace {

using ::taeda::Value;

class DeepCopy {
 public:
  explicit DeepCopy(std::optional<Device> device) : device_(device) {}

  Value operator()(const Value& from) {
    using Tag = Value::Tag;
    for (const auto& [old, copy] : made_)
      if (old.is_same(from)) return copy;
    switch (from.tag()) {
      case Tag::Tensor:
        return tensor(from);
      case Tag::Tuple:
        return ::taeda::make_ref<::taeda::Tuple>(items(from.to_tuple().items), from.to_tuple().type);
      case Tag::TensorList:
      case Tag::List:
        return list(from);
      case Tag::IntList:
      case Tag::FloatList:
      case Tag::BoolList:
      case Tag::ScalarList:
        return keep(from, ::taeda::copied(from));
      case Tag::Dict:
        return dict(from);
      case Tag::Instance:
        return instance(from);
      default:
        return from;  // does not change, or is not ours to copy
    }
  }

 private:
  const Value& keep(const Value& from, Value copy) { return made_.emplace_back(from, std::move(copy)).second; }

  std::vector<Value> items(const std::vector<Value>& from) {
    std::vector<Value> copies;
    for (const Value& item : from) copies.push_back((*this)(item));
    return copies;
  }
  Value tensor(const Value& from) {
    const at::Tensor t(from.to_tensor());
    if (!t.defined()) return from;
    return keep(
        from, static_cast<const ::taeda::Tensor&>(device_ ? t.to(*device_, t.scalar_type(), false, true) : t.clone()));
  }
  Value list(const Value& from) {
    ::taeda::ListRef copy(keep(from, ::taeda::copied(from)));
    for (size_t i = 0; i < copy.size(); ++i) copy.set(i, (*this)(copy.get(i)));
    return copy.value();
  }
  Value dict(const Value& from) {
    ::taeda::Dict& old = from.to_dict();
    auto copy = ::taeda::make_ref<::taeda::Dict>(old.key_type, old.value_type);
    keep(from, copy);
    for (const auto& [key, value] : old.entries()) copy->set((*this)(key), (*this)(value));
    return copy;
  }
  Value instance(const Value& from) {
    const ::taeda::Instance& old = from.to_instance();
    auto copy = ::taeda::make_ref<::taeda::Instance>(old.type);
    keep(from, copy);
    if (std::optional<Value> state = ::taeda::jit::state_of(::taeda::Ref<::taeda::Instance>(&from.to_instance()))) {
      ::taeda::jit::set_state(copy, (*this)(*state));
    } else {
      for (const Value& slot : old.slots)
        TORCH_CHECK(slot.tag() != Value::Tag::Object, "deepcopy: the class ", old.type->name(),
                    " is one of C++ without def_pickle, which would say how it is copied");
      copy->slots = items(old.slots);
    }
    return copy;
  }

  std::optional<Device> device_;
  std::vector<std::pair<Value, Value>> made_;
};

}  // namespace

IValue IValue::deepcopy(std::optional<Device> device) const { return DeepCopy(device)(*this); }

}  // namespace c10
