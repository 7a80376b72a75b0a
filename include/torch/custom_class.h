// Classes of one's own for programs: torch.classes.ns.Name in Python, a type of schemas and of values.
//
//   struct Stack : torch::CustomClassHolder { ... };
//   TORCH_LIBRARY(mine, m) {
//     m.class_<Stack>("Stack").def(torch::init<std::vector<std::string>>()).def("push", &Stack::push);
//   }
#pragma once
#include <ATen/core/ivalue.h>
#include <taeda/dispatch/class_type.h>
#include <taeda/dispatch/schema.h>

namespace torch {

// Names and defaults of a method's arguments: {torch::arg("x"), torch::arg("n") = 3}.
struct arg {
  explicit arg(std::string name) : name_(std::move(name)) {}
  arg& operator=(const c10::IValue& value) {
    value_ = value;
    return *this;
  }
  static c10::IValue none() { return {}; }
  std::string name_;
  std::optional<c10::IValue> value_;
};

namespace detail {

template <class... Types>
struct types {};

// Errors of blocks that ran while a library was loaded, for the loader to raise; false while nobody collects them.
TORCH_API bool keep_load_error(const char* message);

// What a class's C++ type is called, and its methods.
class TORCH_API ClassBuilder {
 public:
  ClassBuilder(const std::string& ns, const std::string& name, std::type_index type);
  using Run = std::function<void(::taeda::Stack&)>;
  void add(const std::string& name, std::vector<::taeda::TypePtr> parameters, ::taeda::TypePtr result,
           const std::string& doc, std::vector<arg> args, bool is_static, Run run) const;
  ::taeda::TypePtr type() const { return type_; }

 private:
  ::taeda::ClassType* type_;
};

template <class R>
void leave(::taeda::Stack& stack, size_t base, R&& result) {
  stack.resize(base);
  stack.push_back(c10::detail::Box<std::remove_cvref_t<R>>::to(result));
}

}  // namespace detail

template <class... Types>
detail::types<void, Types...> init() {
  return {};
}
template <class F, class... Types>
struct InitLambda {
  F f;
};
template <class F>
InitLambda<F> init(F&& f) {
  return {std::forward<F>(f)};
}

template <class T>
class class_ {
  static_assert(std::is_base_of_v<CustomClassHolder, T>, "the class must derive from torch::CustomClassHolder");
  using Pointer = c10::intrusive_ptr<T>;

 public:
  class_(const std::string& ns, const std::string& name, std::string = "") : builder_(ns, name, typeid(T)) {}

  // The constructor of those types; in Python, the call of the class.
  template <class... Types>
  class_& def(detail::types<void, Types...>, std::string doc = "", std::vector<arg> args = {}) {
    return put<Types...>(
        "__init__", [](Types... given) { return c10::make_intrusive<T>(std::move(given)...); }, doc, args, true);
  }
  template <class F>
  class_& def(InitLambda<F> made_by, std::string doc = "", std::vector<arg> args = {}) {
    return def_function("__init__", std::move(made_by.f), &std::decay_t<F>::operator(), doc, args, true);
  }
  // A method, or a function that takes the object first.
  template <class R, class C, class... Args>
  class_& def(std::string name, R (C::*method)(Args...), std::string doc = "", std::vector<arg> args = {}) {
    return put<Pointer, Args...>(
        name, [method](Pointer self, Args... given) -> R { return ((*self).*method)(std::forward<Args>(given)...); },
        doc, args);
  }
  template <class R, class C, class... Args>
  class_& def(std::string name, R (C::*method)(Args...) const, std::string doc = "", std::vector<arg> args = {}) {
    return put<Pointer, Args...>(
        name, [method](Pointer self, Args... given) -> R { return ((*self).*method)(std::forward<Args>(given)...); },
        doc, args);
  }
  template <class F>
  class_& def(std::string name, F f, std::string doc = "", std::vector<arg> args = {}) {
    if constexpr (std::is_pointer_v<F>)
      return def_pointer(name, f, doc, args, false);
    else
      return def_function(name, std::move(f), &F::operator(), doc, args, false);
  }
  template <class F>
  class_& def_static(std::string name, F f, std::string doc = "") {
    if constexpr (std::is_pointer_v<F>)
      return def_pointer(name, f, doc, {}, true);
    else
      return def_function(name, std::move(f), &F::operator(), doc, {}, true);
  }
  template <class D>
  class_& def_readonly(const std::string& name, D T::* field) {
    return put<Pointer>("__get_" + name, [field](Pointer self) -> D { return (*self).*field; });
  }
  template <class D>
  class_& def_readwrite(const std::string& name, D T::* field) {
    def_readonly(name, field);
    return put<Pointer, D>("__set_" + name, [field](Pointer self, D value) { (*self).*field = std::move(value); });
  }
  template <class Get>
  class_& def_property(const std::string& name, Get get, std::string doc = "") {
    return def("__get_" + name, get, doc);
  }
  template <class Get, class Set>
  class_& def_property(const std::string& name, Get get, Set set, std::string doc = "") {
    def("__get_" + name, get, doc);
    return def("__set_" + name, set, doc);
  }
  // How an object is written to a file, and made again of what was written.
  template <class GetState, class SetState>
  class_& def_pickle(GetState&& get, SetState&& set) {
    def("__getstate__", std::forward<GetState>(get));
    return def_static("__setstate__", std::forward<SetState>(set));
  }

 private:
  template <class... Args, class F>
  class_& put(const std::string& name, F f, const std::string& doc = "", const std::vector<arg>& args = {},
              bool is_static = false) {
    using R = std::invoke_result_t<F&, Args...>;
    ::taeda::TypePtr result = [] {
      if constexpr (std::is_void_v<R>)
        return ::taeda::plain_type(::taeda::TypeKind::None);
      else
        return c10::detail::Box<std::remove_cvref_t<R>>::type();
    }();
    builder_.add(name, {c10::detail::Box<std::remove_cvref_t<Args>>::type()...}, result, doc, args, is_static,
                 [f = std::move(f)](::taeda::Stack& stack) mutable {
                   [&]<size_t... I>(std::index_sequence<I...>) {
                     const size_t base = stack.size() - sizeof...(Args);
                     std::tuple<c10::detail::Argument<Args>...> given(stack[base + I]...);
                     if constexpr (std::is_void_v<R>) {
                       f(static_cast<Args>(std::get<I>(given).get())...);
                       stack.resize(base);
                       stack.emplace_back();
                     } else {
                       detail::leave(stack, base, f(static_cast<Args>(std::get<I>(given).get())...));
                     }
                   }(std::index_sequence_for<Args...>());
                 });
    return *this;
  }
  template <class R, class... Args>
  class_& def_pointer(const std::string& name, R (*f)(Args...), const std::string& doc, const std::vector<arg>& args,
                      bool is_static) {
    return put<Args...>(name, f, doc, args, is_static);
  }
  template <class F, class R, class... Args>
  class_& def_function(const std::string& name, F f, R (std::decay_t<F>::*)(Args...) const, const std::string& doc,
                       const std::vector<arg>& args, bool is_static) {
    return put<Args...>(name, std::move(f), doc, args, is_static);
  }
  template <class F, class R, class... Args>
  class_& def_function(const std::string& name, F f, R (std::decay_t<F>::*)(Args...), const std::string& doc,
                       const std::vector<arg>& args, bool is_static) {
    return put<Args...>(name, std::move(f), doc, args, is_static);
  }
  detail::ClassBuilder builder_;
};

template <class T, class... Args>
c10::IValue make_custom_class(Args&&... args) {
  return c10::make_intrusive<T>(std::forward<Args>(args)...);
}

}  // namespace torch
