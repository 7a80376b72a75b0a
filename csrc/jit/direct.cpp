#include "jit/direct.h"

#include "taeda/dispatch/call.h"

namespace taeda::jit {

namespace {

const Value& value_of(const Site& site, size_t i, Value* values) {
  const Operand& operand = site.inputs[i];
  return operand.kind == Operand::Kind::Constant ? site.code->constants[operand.index] : values[operand.index];
}
bool is_number(const Operand& operand) { return operand.kind >= Operand::Kind::Int; }

// A tensor of a register, for the length of a call: nobody counts it.
class Lent {
 public:
  Lent(const Value& value, bool may_be_absent) : tensor_(Ref<TensorImpl>::adopt(impl_of(value, may_be_absent))) {}
  ~Lent() { tensor_.detach_ref(); }
  Lent(const Lent&) = delete;
  operator const Tensor&() const { return tensor_; }
  const Tensor& get() const { return tensor_; }

 private:
  static TensorImpl* impl_of(const Value& value, bool may_be_absent) {
    if (!value.is_tensor()) [[unlikely]] {
      TAEDA_CHECK_TYPE(!value.is_none() || may_be_absent, "a tensor was expected; got None");
      value.to_tensor();  // says what it is
    }
    return value.tensor_impl();
  }
  Tensor tensor_;
};

// How one argument of a C++ type is read from the registers.
template <class T>
struct Argument {
  using Held = T;
  static bool fits(const Operand& operand) { return !is_number(operand); }
  static Held read(const Site& site, size_t i, Value* values, Number*) {
    return Unbox<T>::read(value_of(site, i, values));
  }
};
template <>
struct Argument<const Tensor&> {
  using Held = Lent;
  static bool fits(const Operand& operand) { return !is_number(operand); }
  static Held read(const Site& site, size_t i, Value* values, Number*) {
    return Lent(value_of(site, i, values), site.op->info().params[i].optional);
  }
};
template <class T, Operand::Kind kind>
struct NumberArgument {
  using Held = T;
  static bool fits(const Operand& operand) { return !is_number(operand) || operand.kind == kind; }
  static Held read(const Site& site, size_t i, Value* values, Number* numbers) {
    const Operand& operand = site.inputs[i];
    if (!is_number(operand)) return Unbox<T>::read(value_of(site, i, values));
    if constexpr (kind == Operand::Kind::Float)
      return numbers[operand.index].f;
    else
      return static_cast<T>(numbers[operand.index].i);
  }
};
template <>
struct Argument<int64_t> : NumberArgument<int64_t, Operand::Kind::Int> {};
template <>
struct Argument<double> : NumberArgument<double, Operand::Kind::Float> {};
template <>
struct Argument<bool> : NumberArgument<bool, Operand::Kind::Bool> {};
template <>
struct Argument<const Scalar&> {
  using Held = Scalar;
  static bool fits(const Operand&) { return true; }
  static Held read(const Site& site, size_t i, Value* values, Number* numbers) {
    const Operand& operand = site.inputs[i];
    switch (operand.kind) {
      case Operand::Kind::Int:
        return numbers[operand.index].i;
      case Operand::Kind::Float:
        return numbers[operand.index].f;
      case Operand::Kind::Bool:
        return numbers[operand.index].i != 0;
      default:
        return value_of(site, i, values).to_scalar();
    }
  }
};

[[maybe_unused]] KeySet keys_of_argument(const Tensor& tensor) {  // not used where few ops are built
  return keys_of(tensor);
}
KeySet keys_of_argument(const Lent& tensor) { return keys_of(tensor.get()); }
KeySet keys_of_argument(const TensorList& list) { return keys_of(list); }
template <class T>
KeySet keys_of_argument(const T&) {
  return {};
}

template <class Sig>
struct Caller;
template <class R, class... Args>
struct Caller<R(Args...)> {
  static bool serves(const Site& site) {
    if (site.op->info().signature != &Boxing<R(Args...)>::signature || site.takes_dtypes) return false;
    if (site.outputs.size() != 1 || is_number(site.outputs[0])) return false;
    return fits(site, std::index_sequence_for<Args...>());
  }
  template <size_t... I>
  static bool fits(const Site& site, std::index_sequence<I...>) {
    return (Argument<Args>::fits(site.inputs[I]) && ...);
  }
  static void call(const Site& site, Value* values, Number* numbers) {
    call(site, values, numbers, std::index_sequence_for<Args...>());
  }
  template <size_t... I>
  static void call(const Site& site, Value* values, Number* numbers, std::index_sequence<I...>) {
    Value result;
    {
      std::tuple<typename Argument<Args>::Held...> held{Reader<Args>{site, I, values, numbers}...};
      KeySet keys = effective((keys_of_argument(std::get<I>(held)) | ... | KeySet()));
      result = Value(Boxing<R(Args...)>::dispatch(*site.op, keys, std::get<I>(held)...));
    }
    for (const Operand& input : site.inputs)
      if (input.kind == Operand::Kind::Move) values[input.index] = Value();
    values[site.outputs[0].index] = std::move(result);
  }
  // Makes what is held in its place, as it may not be moved.
  template <class T>
  struct Reader {
    const Site& site;
    size_t i;
    Value* values;
    Number* numbers;
    operator typename Argument<T>::Held() const { return Argument<T>::read(site, i, values, numbers); }
  };
};

struct Entry {
  bool (*serves)(const Site&);
  Direct call;
};
template <class Sig>
constexpr Entry kEntry{Caller<Sig>::serves, Caller<Sig>::call};

using T = const Tensor&;
using S = const Scalar&;
constexpr Entry kEntries[] = {
    kEntry<Tensor(T)>,                                 // relu, t
    kEntry<Tensor(T, T)>,                              // mul, matmul
    kEntry<Tensor(T, T, S)>,                           // add, sub
    kEntry<Tensor(T, S)>,                              // mul with a number
    kEntry<Tensor(T, S, S)>,                           // add with a number
    kEntry<Tensor(T, T, T)>,                           // linear, where
    kEntry<Tensor(T, T, T, S, S)>,                     // addmm
    kEntry<Tensor(T, int64_t)>,                        // unsqueeze
    kEntry<Tensor(T, int64_t, int64_t)>,               // transpose, select
    kEntry<Tensor(T, IntList)>,                        // view
    kEntry<Tensor(T, bool)>,                           //
    kEntry<Tensor(TensorList, int64_t)>,               // cat
    kEntry<std::vector<Tensor>(T, int64_t, int64_t)>,  // chunk
};

}  // namespace

Direct direct_call(const Site& site) {
  for (const Entry& entry : kEntries)
    if (entry.serves(site)) return entry.call;
  return nullptr;
}

}  // namespace taeda::jit
