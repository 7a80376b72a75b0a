// Ops of one's own: TORCH_LIBRARY(ns, m) { m.def("scale(Tensor x, float by) -> Tensor"); }.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <torch/custom_class.h>
#include <torch/types.h>

namespace torch {

// A function that the compiler knows, as a type: TORCH_FN(add).
template <auto function>
struct CompileTimeFunction {};
template <class T>
constexpr bool is_compile_time = false;
template <auto function>
constexpr bool is_compile_time<CompileTimeFunction<function>> = true;
#define TORCH_FN(function) ::torch::CompileTimeFunction<function>()
#define TORCH_FN_TYPE(function) ::torch::CompileTimeFunction<function>

namespace detail {

template <class F>
struct Callable : Callable<decltype(&F::operator())> {};
template <class R, class... Args>
struct Callable<R (*)(Args...)> {
  using Signature = R(Args...);
};
template <class R, class... Args>
struct Callable<R(Args...)> : Callable<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Callable<R (C::*)(Args...) const> : Callable<R (*)(Args...)> {};
template <class C, class R, class... Args>
struct Callable<R (C::*)(Args...)> : Callable<R (*)(Args...)> {};

// The part of a signature that a schema tells of, without the key set that a kernel may ask for.
template <class Signature>
struct Plain {
  using type = Signature;
  static constexpr bool takes_keys = false;
};
template <class R, class... Args>
struct Plain<R(c10::DispatchKeySet, Args...)> {
  using type = R(Args...);
  static constexpr bool takes_keys = true;
};

template <class R>
void push_result(::taeda::Stack& stack, R&& result) {
  using Held = std::remove_cvref_t<R>;
  if constexpr (requires { std::tuple_size<Held>::value; } && !std::is_same_v<Held, std::array<at::Tensor, 2>>)
    std::apply([&](auto&... parts) { (push_result(stack, parts), ...); }, result);
  else
    stack.push_back(c10::detail::Box<Held>::to(result));
}

template <class Signature>
struct Boxed;
template <class R, class... Args>
struct Boxed<R(Args...)> {
  template <bool takes_keys, class F>
  static ::taeda::BoxedFunction make(F f) {
    return [f = std::move(f)](const ::taeda::Op& op, ::taeda::KeySet keys, ::taeda::Stack& stack) mutable {
      TORCH_CHECK(stack.size() >= sizeof...(Args), "the op's schema has fewer arguments than its kernel");
      [&]<size_t... I>(std::index_sequence<I...>) {
        const size_t base = stack.size() - sizeof...(Args);
        std::tuple<c10::detail::Argument<Args>...> args(stack[base + I]...);
        auto call = [&]() -> decltype(auto) {
          if constexpr (takes_keys)
            return f(c10::DispatchKeySet(keys), static_cast<Args>(std::get<I>(args).get())...);
          else
            return f(static_cast<Args>(std::get<I>(args).get())...);
        };
        if constexpr (std::is_void_v<R>) {
          call();
          if (op.info().returns_mutable)
            ::taeda::keep_mutable_arguments(op, stack);
          else
            stack.resize(base);
        } else {
          R result = call();
          stack.resize(base);
          push_result(stack, result);
        }
      }(std::index_sequence_for<Args...>());
    };
  }
  // The schema of a function, whose parameters have no names.
  static std::string schema(const std::string& name) {
    std::string text = name + "(";
    int i = 0;
    ((text += (i ? ", " : "") + c10::detail::type_of<std::remove_cvref_t<Args>>()->str() + " _" + std::to_string(i),
      ++i),
     ...);
    return text + ") -> " + results<R>();
  }

 private:
  template <class Result>
  static std::string results() {
    using Held = std::remove_cvref_t<Result>;
    if constexpr (std::is_void_v<Result>)
      return "()";
    else
      return c10::detail::type_of<Held>()->str();
  }
};

}  // namespace detail

// A kernel on its way to an op.
class CppFunction {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, CppFunction> && !is_compile_time<std::remove_cvref_t<F>>)
  CppFunction(F&& f) {
    take(std::decay_t<F>(std::forward<F>(f)));
  }
  template <auto function>
  CppFunction(CompileTimeFunction<function>) {
    take([](auto&&... args) -> decltype(auto) { return function(std::forward<decltype(args)>(args)...); },
         static_cast<typename detail::Callable<decltype(function)>::Signature*>(nullptr));
  }
  // A kernel of any op: void(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*), or without the keys.
  template <auto function>
  static CppFunction makeFromBoxedFunction() {
    return makeFromBoxedFunctor([](const c10::OperatorHandle& op, c10::DispatchKeySet keys, jit::Stack* stack) {
      if constexpr (std::is_invocable_v<decltype(function), const c10::OperatorHandle&, c10::DispatchKeySet,
                                        jit::Stack*>)
        function(op, keys, stack);
      else
        function(op, stack);
    });
  }
  template <class F>
  static CppFunction makeFromBoxedFunctor(F f) {
    return makeFromBoxedKernel([f = std::move(f)](const ::taeda::Op& op, ::taeda::KeySet keys, ::taeda::Stack& stack) {
      // The op's own arguments: there may be others' below.
      const size_t base = stack.size() - op.info().param_count;
      jit::Stack values(stack.begin() + static_cast<std::ptrdiff_t>(base), stack.end());
      f(c10::OperatorHandle(op), c10::DispatchKeySet(keys), &values);
      stack.resize(base);
      stack.insert(stack.end(), values.begin(), values.end());
    });
  }
  static CppFunction makeFromBoxedKernel(::taeda::BoxedFunction kernel) {
    CppFunction made;
    made.kernel_->boxed = std::move(kernel);
    return made;
  }
  static CppFunction makeFallthrough() {
    CppFunction made;
    made.kernel_->fallthrough = true;
    return made;
  }
  template <class F>
  static CppFunction makeFromUnboxedFunction(F* f) {
    return CppFunction(f);
  }
  template <class F>
  static CppFunction makeUnboxedOnly(F* f) {
    return CppFunction(f);
  }
  CppFunction&& debug(std::string where) && {
    kernel_->where = std::move(where);
    return std::move(*this);
  }

 private:
  friend class Library;
  template <class F>
  friend CppFunction dispatch(c10::DispatchKey key, F&& f);
  CppFunction() = default;
  template <class F>
  void take(F f) {
    take(std::move(f), static_cast<typename detail::Callable<F>::Signature*>(nullptr));
  }
  template <class F, class Signature>
  void take(F f, Signature*) {
    using Plain = detail::Plain<Signature>;
    kernel_->boxed = detail::Boxed<typename Plain::type>::template make<Plain::takes_keys>(std::move(f));
    schema_ = &detail::Boxed<typename Plain::type>::schema;
  }
  std::shared_ptr<::taeda::Kernel> kernel_ = std::make_shared<::taeda::Kernel>();
  std::string (*schema_)(const std::string& name) = nullptr;
  std::optional<c10::DispatchKey> key_;
};

template <class F>
CppFunction dispatch(c10::DispatchKey key, F&& f) {
  CppFunction made(std::forward<F>(f));
  made.key_ = key;
  return made;
}
template <class F>
CppFunction dispatch(c10::DeviceType type, F&& f) {
  return dispatch(c10::computeDispatchKey(type), std::forward<F>(f));
}

// A schema that was read: m.def(torch::schema("scale(Tensor x) -> Tensor"), &scale).
inline c10::FunctionSchema schema(const std::string& text, c10::AliasAnalysisKind = c10::AliasAnalysisKind::FROM_SCHEMA,
                                  bool = false) {
  return ::taeda::parse_schema(text);
}

class Library {
 public:
  enum Kind { DEF, IMPL, FRAGMENT };
  Library(Kind kind, std::string ns, std::optional<c10::DispatchKey> key, const char* file, uint32_t line)
      : ns_(ns),
        key_(key),
        file_(file),
        line_(static_cast<int>(line)),
        library_(std::move(ns),
                 kind == DEF    ? ::taeda::Library::Kind::Def
                 : kind == IMPL ? ::taeda::Library::Kind::Impl
                                : ::taeda::Library::Kind::Fragment,
                 where()) {}
  Library(const Library&) = delete;

  // An op by its schema. Tags are for compilers of PyTorch's; nothing here reads them.
  Library& def(const char* schema, const std::vector<at::Tag>& = {}) & {
    library_.def(schema, file_, line_);
    return *this;
  }
  Library& def(const std::string& schema, const std::vector<at::Tag>& = {}) & { return def(schema.c_str()); }
  Library& def(const c10::FunctionSchema& schema, const std::vector<at::Tag>& = {}) & { return def(c10::str(schema)); }
  template <class F>
    requires(!std::is_convertible_v<F, const std::vector<at::Tag>&>)
  Library& def(const c10::FunctionSchema& schema, F&& f, const std::vector<at::Tag>& = {}) & {
    return def(c10::str(schema), std::forward<F>(f));
  }
  // With the function that is all of it: by its schema, or by a name, with a schema made of the function's types.
  template <class F>
    requires(!std::is_convertible_v<F, const std::vector<at::Tag>&>)
  Library& def(const std::string& name_or_schema, F&& f, const std::vector<at::Tag>& = {}) & {
    CppFunction function(std::forward<F>(f));
    bool is_name = name_or_schema.find('(') == std::string::npos;
    TORCH_CHECK(!is_name || function.schema_, "a schema cannot be made of a boxed function: write it out");
    const ::taeda::Op& op = library_.def(is_name ? function.schema_(name_or_schema) : name_or_schema, file_, line_);
    put(op.qualified_name(), std::move(function));
    return *this;
  }
  template <class F>
  Library& impl(const std::string& name, F&& f) & {
    put(name, CppFunction(std::forward<F>(f)));
    return *this;
  }
  template <class Key, class F>
  Library& impl(const std::string& name, Key key, F&& f) & {
    return impl(name, dispatch(key, std::forward<F>(f)));
  }
  template <class F>
  Library& impl_UNBOXED(const std::string& name, F* f) & {
    return impl(name, f);
  }
  // For every op that has no kernel for the library's key.
  template <class F>
  Library& fallback(F&& f) & {
    TORCH_CHECK(key_, "a fallback is for one dispatch key: use TORCH_LIBRARY_IMPL(_, Key, m)");
    CppFunction function(std::forward<F>(f));
    library_.fallback(c10::slot_of(*key_), std::move(function.kernel_));
    return *this;
  }
  Library& set_python_module(const char*, const char* = "") { return *this; }
  Library& impl_abstract_pystub(const char*, const char* = "") { return *this; }
  void reset() {}
  // A class that programs know as ns.Name; see torch/custom_class.h.
  template <class T>
  class_<T> class_(const std::string& name);

 private:
  std::string where() const { return std::string(file_) + ":" + std::to_string(line_); }
  void put(const std::string& name, CppFunction function) {
    auto key = function.key_ ? function.key_ : key_;
    if (function.kernel_->where.empty()) function.kernel_->where = where();
    library_.impl(name, c10::slot_of(key.value_or(c10::DispatchKey::CompositeImplicitAutograd)),
                  std::move(function.kernel_));
  }
  std::string ns_;
  std::optional<c10::DispatchKey> key_;
  const char* file_;
  int line_;
  ::taeda::Library library_;
};

template <class T>
class_<T> Library::class_(const std::string& name) {
  return torch::class_<T>(ns_, name);
}

namespace detail {

// Runs a block when the library that holds it is loaded. While Taeda loads it, an error is kept for the loader to
// raise.
class TorchLibraryInit {
 public:
  TorchLibraryInit(Library::Kind kind, void (*fill)(Library&), const char* ns, std::optional<c10::DispatchKey> key,
                   const char* file, uint32_t line) {
    try {
      library_.emplace(kind, ns, key, file, line);
      fill(*library_);
    } catch (const std::exception& error) {
      if (!keep_load_error(error.what())) throw;
    }
  }

 private:
  std::optional<Library> library_;
};

}  // namespace detail

}  // namespace torch

#define TORCH_LIBRARY(ns, m)                                                                               \
  static void TORCH_LIBRARY_init_##ns(torch::Library&);                                                    \
  static torch::detail::TorchLibraryInit TORCH_LIBRARY_static_init_##ns(                                   \
      torch::Library::DEF, &TORCH_LIBRARY_init_##ns, C10_STRINGIZE(ns), std::nullopt, __FILE__, __LINE__); \
  void TORCH_LIBRARY_init_##ns(torch::Library& m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) TAEDA_TORCH_LIBRARY_FRAGMENT(ns, m, C10_UID)
#define TAEDA_TORCH_LIBRARY_FRAGMENT(ns, m, uid)                                                               \
  static void C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid)(torch::Library&);                      \
  static torch::detail::TorchLibraryInit C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_static_init_##ns##_, uid)(     \
      torch::Library::FRAGMENT, &C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid), C10_STRINGIZE(ns), \
      std::nullopt, __FILE__, __LINE__);                                                                       \
  void C10_CONCATENATE(TORCH_LIBRARY_FRAGMENT_init_##ns##_, uid)(torch::Library & m)
#define TORCH_LIBRARY_IMPL(ns, k, m) TAEDA_TORCH_LIBRARY_IMPL(ns, k, m, C10_UID)
#define TAEDA_TORCH_LIBRARY_IMPL(ns, k, m, uid)                                                              \
  static void C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid)(torch::Library&);                  \
  static torch::detail::TorchLibraryInit C10_CONCATENATE(TORCH_LIBRARY_IMPL_static_init_##ns##_##k##_, uid)( \
      torch::Library::IMPL, &C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid), C10_STRINGIZE(ns), \
      c10::DispatchKey::k, __FILE__, __LINE__);                                                              \
  void C10_CONCATENATE(TORCH_LIBRARY_IMPL_init_##ns##_##k##_, uid)(torch::Library & m)
#define MAKE_TORCH_LIBRARY(ns) torch::Library(torch::Library::DEF, C10_STRINGIZE(ns), std::nullopt, __FILE__, __LINE__)
#define MAKE_TORCH_LIBRARY_IMPL(ns, k) \
  torch::Library(torch::Library::IMPL, C10_STRINGIZE(ns), c10::DispatchKey::k, __FILE__, __LINE__)

namespace torch {
// The older way: static auto registry = torch::RegisterOperators("ns::name", &function).
class RegisterOperators {
 public:
  RegisterOperators() = default;
  template <class F>
  RegisterOperators(const std::string& schema, F&& f) {
    op(schema, std::forward<F>(f));
  }
  template <class F>
  RegisterOperators&& op(const std::string& schema, F&& f) && {
    add(schema, std::forward<F>(f));
    return std::move(*this);
  }
  template <class F>
  RegisterOperators& op(const std::string& schema, F&& f) & {
    add(schema, std::forward<F>(f));
    return *this;
  }

 private:
  template <class F>
  void add(const std::string& schema, F&& f) {
    size_t colons = schema.find("::");
    TORCH_CHECK(colons != std::string::npos, "an op's name begins with its namespace: ns::", schema);
    auto& library = libraries_.emplace_back(std::make_unique<Library>(Library::FRAGMENT, schema.substr(0, colons),
                                                                      std::nullopt, "torch::RegisterOperators", 0));
    library->def(schema, std::forward<F>(f));
  }
  std::vector<std::unique_ptr<Library>> libraries_;
};
}  // namespace torch
namespace c10 {
using RegisterOperators = torch::RegisterOperators;
}
