// The table of ops, asked by name: c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor").
#pragma once
#include <ATen/core/function_schema.h>
#include <c10/core/DispatchKey.h>

namespace c10 {

namespace detail {

// What a call left on the stack as the C++ function's result; a reference is the first tensor that was written to.
template <class R>
struct Returned {
  static R take(::taeda::Stack& stack) { return Box<R>::from(stack.back()); }
};
template <>
struct Returned<void> {
  static void take(::taeda::Stack&) {}
};
template <class... Ts>
struct Returned<std::tuple<Ts...>> {
  static std::tuple<Ts...> take(::taeda::Stack& stack) {
    TORCH_CHECK(stack.size() == sizeof...(Ts), "the op gave ", stack.size(), " results for ", sizeof...(Ts));
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts...>(Box<std::remove_cvref_t<Ts>>::from(stack[I])...);
    }(std::index_sequence_for<Ts...>());
  }
};
template <class First, class... Rest>
at::Tensor& first_written(First& first, Rest&... rest) {
  if constexpr (std::is_same_v<First, at::Tensor>)
    return first;
  else
    return first_written(rest...);
}

}  // namespace detail

template <class Signature>
class TypedOperatorHandle;

class OperatorHandle {
 public:
  explicit OperatorHandle(const ::taeda::Op& op) : op_(&op) {}
  const ::taeda::Op& op() const { return *op_; }
  OperatorName operator_name() const { return {op_->info().name, op_->info().overload}; }
  FunctionSchema schema() const { return ::taeda::parse_schema(op_->info().schema); }
  bool hasSchema() const { return true; }
  bool hasKernelForDispatchKey(DispatchKey key) const { return op_->kernel_at(slot_of(key)) != nullptr; }
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    return TypedOperatorHandle<Signature>(*op_);
  }
  // Arguments in, results out, on a stack of values.
  void callBoxed(torch::jit::Stack& stack) const {
    ::taeda::Stack values(stack.begin(), stack.end());
    op_->call_boxed(values);
    stack.assign(values.begin(), values.end());
  }
  void callBoxed(torch::jit::Stack* stack) const { callBoxed(*stack); }
  void redispatchBoxed(DispatchKeySet keys, torch::jit::Stack* stack) const {
    ::taeda::Stack values(stack->begin(), stack->end());
    op_->call_boxed(keys, values);
    stack->assign(values.begin(), values.end());
  }
  friend bool operator==(const OperatorHandle& a, const OperatorHandle& b) { return a.op_ == b.op_; }

 protected:
  const ::taeda::Op* op_;
};
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> : public OperatorHandle {
 public:
  using OperatorHandle::OperatorHandle;
  R call(Args... args) const {
    return run([&](::taeda::Stack& stack) { op_->call_boxed(stack); }, args...);
  }
  // On what is left of a key set: below the layers that have had their turn.
  R redispatch(DispatchKeySet keys, Args... args) const {
    return run([&](::taeda::Stack& stack) { op_->call_boxed(keys, stack); }, args...);
  }

 private:
  template <class Call>
  R run(const Call& call, std::remove_reference_t<Args>&... args) const {
    TORCH_CHECK(op_->info().param_count == sizeof...(Args), op_->qualified_name(), " takes ",
                static_cast<int>(op_->info().param_count), " arguments; the signature that was given takes ",
                sizeof...(Args));
    ::taeda::Stack stack;
    stack.reserve(sizeof...(Args) + 1);
    (stack.push_back(detail::Box<std::remove_cvref_t<Args>>::to(args)), ...);
    call(stack);
    if constexpr (std::is_reference_v<R>)
      return detail::first_written(args...);
    else
      return detail::Returned<R>::take(stack);
  }
};

class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher instance;
    return instance;
  }
  static Dispatcher& realSingleton() { return singleton(); }
  std::optional<OperatorHandle> findSchema(const OperatorName& name) const {
    const ::taeda::Op* op = ::taeda::find_op(name.name, name.overload_name);
    return op ? std::optional<OperatorHandle>(*op) : std::nullopt;
  }
  std::optional<OperatorHandle> findOp(const OperatorName& name) const { return findSchema(name); }
  OperatorHandle findSchemaOrThrow(const char* name, const char* overload) const {
    std::optional<OperatorHandle> found = findSchema({name, overload});
    TORCH_CHECK(found, "there is no op ", OperatorName{name, overload},
                "; is the library that defines it loaded, and the overload's name right?");
    return *found;
  }
};

}  // namespace c10
