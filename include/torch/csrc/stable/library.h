// Ops of one's own through the stable interface: a binary that is built once loads into every version from then on.
//
//   torch::stable::Tensor twice(torch::stable::Tensor x);
//   STABLE_TORCH_LIBRARY(mine, m) { m.def("twice(Tensor x) -> Tensor"); }
//   STABLE_TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("twice", TORCH_BOX(&twice)); }
#pragma once
#include <string_view>
#include <tuple>

#include <c10/macros/Macros.h>
#include <torch/csrc/stable/conversions.h>

namespace torch::stable::detail {

using BoxedKernel = void (*)(StableIValue* stack, uint64_t num_args, uint64_t num_outputs);

class StableLibrary {
 public:
  enum class Kind { DEF, IMPL, FRAGMENT };
  StableLibrary(Kind kind, const char* ns, const char* key, const char* file, uint32_t line) {
    if (kind == Kind::IMPL)
      STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_init_impl(ns, key, file, line, &library_));
    else if (kind == Kind::DEF)
      STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_init_def(ns, file, line, &library_));
    else
      STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_init_fragment(ns, file, line, &library_));
  }
  StableLibrary(const StableLibrary&) = delete;
  ~StableLibrary() { aoti_torch_delete_library_object(library_); }

  StableLibrary& def(const char* schema) {
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_def(library_, schema));
    return *this;
  }
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_12_0
  StableLibrary& def(const char* schema, const std::vector<at::Tag>& tags) {
    std::vector<int32_t> numbers;
    for (at::Tag tag : tags) numbers.push_back(number_of(tag));
    STABLE_TORCH_ERROR_CODE_CHECK(
        torch_library_def_with_tags(library_, schema, numbers.data(), static_cast<int32_t>(numbers.size())));
    return *this;
  }
#endif
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_0
  StableLibrary& set_python_module(const char* module, const char* context = "") {
    STABLE_TORCH_ERROR_CODE_CHECK(torch_library_set_python_module(library_, module, context));
    return *this;
  }
#endif
  StableLibrary& impl(const char* name, BoxedKernel kernel) {
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_10_0
    STABLE_TORCH_ERROR_CODE_CHECK(torch_library_impl(library_, name, kernel, TORCH_ABI_VERSION));
#else
    STABLE_TORCH_ERROR_CODE_CHECK(aoti_torch_library_impl(library_, name, kernel));
#endif
    return *this;
  }

 private:
  TorchLibraryHandle library_ = nullptr;
};

struct StableTorchLibraryInit {
  StableTorchLibraryInit(StableLibrary::Kind kind, void (*fill)(StableLibrary&), const char* ns, const char* key,
                         const char* file, uint32_t line)
      : library(kind, ns, key, file, line) {
    fill(library);
  }
  StableLibrary library;
};

// What is read from the stack for a parameter: views become what they look at.
template <class T>
struct HeldAs {
  using type = T;
};
template <class T>
struct HeldAs<headeronly::HeaderOnlyArrayRef<T>> {
  using type = std::vector<T>;
};
template <class T>
struct HeldAs<std::optional<headeronly::HeaderOnlyArrayRef<T>>> {
  using type = std::optional<std::vector<T>>;
};
template <>
struct HeldAs<std::string_view> {
  using type = std::string;
};

template <class Result>
constexpr uint64_t kOutputs = 1;
template <>
inline constexpr uint64_t kOutputs<void> = 0;
template <class... Parts>
constexpr uint64_t kOutputs<std::tuple<Parts...>> = sizeof...(Parts);

template <auto function>
struct Boxer;
template <class Result, class... Args, Result (*function)(Args...)>
struct Boxer<function> {
  static void boxed_fn(StableIValue* stack, uint64_t num_args, uint64_t num_outputs) {
    STD_TORCH_CHECK(num_args == sizeof...(Args), "the op's schema has ", num_args, " arguments, its kernel ",
                    sizeof...(Args));
    STD_TORCH_CHECK(num_outputs == kOutputs<Result>, "the op's schema has ", num_outputs, " results, its kernel ",
                    kOutputs<Result>);
    call(stack, std::index_sequence_for<Args...>());
  }

 private:
  template <size_t... I>
  static void call(StableIValue* stack, std::index_sequence<I...>) {
    std::tuple<typename HeldAs<std::remove_cvref_t<Args>>::type...> held{
        to<typename HeldAs<std::remove_cvref_t<Args>>::type>(stack[I])...};
    if constexpr (std::is_void_v<Result>) {
      function(std::get<I>(held)...);
    } else if constexpr (requires { std::tuple_size<Result>::value; }) {
      auto results = function(std::get<I>(held)...);
      std::apply([&, i = 0](const auto&... parts) mutable { ((stack[i++] = from(parts)), ...); }, results);
    } else {
      stack[0] = from(static_cast<const std::remove_cvref_t<Result>&>(function(std::get<I>(held)...)));
    }
  }
};

}  // namespace torch::stable::detail

// A function of C++ types as one of the stack.
#define TORCH_BOX(func) (::torch::stable::detail::Boxer<(func)>::boxed_fn)

#define TAEDA_STABLE_LIBRARY(ns, kind, key, m, uid)                                                      \
  static void C10_CONCATENATE(taeda_stable_fill_, uid)(::torch::stable::detail::StableLibrary&);         \
  static const ::torch::stable::detail::StableTorchLibraryInit C10_CONCATENATE(taeda_stable_init_, uid)( \
      ::torch::stable::detail::StableLibrary::Kind::kind, &C10_CONCATENATE(taeda_stable_fill_, uid),     \
      C10_STRINGIZE(ns), key, __FILE__, __LINE__);                                                       \
  void C10_CONCATENATE(taeda_stable_fill_, uid)(::torch::stable::detail::StableLibrary & m)
#define STABLE_TORCH_LIBRARY(ns, m) TAEDA_STABLE_LIBRARY(ns, DEF, nullptr, m, C10_UID)
#define STABLE_TORCH_LIBRARY_FRAGMENT(ns, m) TAEDA_STABLE_LIBRARY(ns, FRAGMENT, nullptr, m, C10_UID)
#define STABLE_TORCH_LIBRARY_IMPL(ns, k, m) TAEDA_STABLE_LIBRARY(ns, IMPL, C10_STRINGIZE(k), m, C10_UID)
