// Ops and kernels that are registered while the program runs, from C++ or Python; gone when the Library is.
//
//   TAEDA_LIBRARY(mine, m) {
//     m.def("scale(Tensor x, float by) -> Tensor");
//     m.impl("scale", DeviceType::CPU, scale_cpu);       // Tensor scale_cpu(const Tensor& x, double by)
//     m.impl("scale", "Autograd", scale_autograd);       // may take a KeySet first
//   }
#pragma once
#include <memory>
#include <string>

#include "taeda/dispatch/call.h"
#include "taeda/dispatch/schema.h"

namespace taeda {

// "CPU", "AutogradCUDA", "CompositeImplicitAutograd", ... to a slot or alias slot. RuntimeError for an unknown name.
TAEDA_API int parse_dispatch_key(std::string_view name);
TAEDA_API std::string dispatch_key_name(int slot_index);
TAEDA_API std::vector<std::string> dispatch_key_names();  // all that parse_dispatch_key knows

namespace detail {
template <class F>
struct UnboxedFunction;
template <class R, class... Args>
struct UnboxedFunction<R (*)(Args...)> {
  using Signature = R(Args...);
  static constexpr size_t kArgs = sizeof...(Args);
  static constexpr bool kTakesKeys = false;
};
template <class R, class... Args>
struct UnboxedFunction<R (*)(KeySet, Args...)> {
  using Signature = R(Args...);
  static constexpr size_t kArgs = sizeof...(Args);
  static constexpr bool kTakesKeys = true;
};
}  // namespace detail

class TAEDA_API Library {
 public:
  // DEF owns the namespace, of which there is one; FRAGMENT adds to it; IMPL only brings kernels.
  enum class Kind : uint8_t { Def, Fragment, Impl };

  Library(std::string ns, Kind kind, std::string where);
  Library(Library&&) noexcept;
  ~Library();

  // The namespace may be left out of the schema and of op names.
  const Op& def(std::string_view schema, std::string file = {}, int line = 0);
  // Registering a second kernel for a slot is a RuntimeError that names both places, unless it shall replace the first
  // for as long as this library lives.
  void impl(std::string_view op, int slot, std::shared_ptr<Kernel> kernel, bool replace = false);
  void impl(std::string_view op, int slot, BoxedFunction kernel, std::string where = {});
  void fallthrough(std::string_view op, int slot, std::string where = {});
  // For every op that has no kernel at the slot.
  void fallback(int slot, std::shared_ptr<Kernel> kernel);

  template <class R, class... Args>
  void impl(std::string_view op, int slot, R (*function)(Args...), std::string where = {}) {
    using Unboxed = detail::UnboxedFunction<R (*)(Args...)>;
    using Boxed = Boxing<typename Unboxed::Signature>;
    check_arity(op, Unboxed::kArgs, std::is_void_v<R>);
    auto kernel = std::make_shared<Kernel>();
    void* address = reinterpret_cast<void*>(function);
    kernel->unboxed = address;
    kernel->signature = &Boxed::signature;
    kernel->takes_keys = Unboxed::kTakesKeys;
    kernel->boxed = [address](const Op& called, KeySet keys, Stack& stack) {
      Boxed::call_unboxed(address, Unboxed::kTakesKeys, keys, stack);
      if constexpr (std::is_void_v<R>) keep_mutable_arguments(called, stack);
    };
    kernel->where = std::move(where);
    impl(op, slot, std::move(kernel));
  }
  template <class F>
  void impl(std::string_view op, DeviceType backend, F kernel, std::string where = {}) {
    impl(op, slot_of(Functionality::Dense, backend), std::move(kernel), std::move(where));
  }
  template <class F>
  void impl(std::string_view op, std::string_view key, F kernel, std::string where = {}) {
    impl(op, parse_dispatch_key(key), std::move(kernel), std::move(where));
  }

 private:
  struct State;
  const Op& find(std::string_view name) const;
  void check_arity(std::string_view op, size_t arguments, bool is_void) const;
  std::unique_ptr<State> state_;
};

namespace detail {
struct TAEDA_API LibraryInit {
  LibraryInit(const char* ns, Library::Kind kind, void (*fill)(Library&), const char* file, int line);
  Library library;
};
}  // namespace detail

#define TAEDA_LIBRARY_OF_KIND(ns, m, kind)                                                                       \
  static void taeda_fill_##kind##_##ns(::taeda::Library&);                                                       \
  static ::taeda::detail::LibraryInit taeda_library_##kind##_##ns(#ns, ::taeda::Library::Kind::kind,             \
                                                                  taeda_fill_##kind##_##ns, __FILE__, __LINE__); \
  static void taeda_fill_##kind##_##ns(::taeda::Library& m)
#define TAEDA_LIBRARY(ns, m) TAEDA_LIBRARY_OF_KIND(ns, m, Def)
#define TAEDA_LIBRARY_FRAGMENT(ns, m) TAEDA_LIBRARY_OF_KIND(ns, m, Fragment)
#define TAEDA_LIBRARY_IMPL(ns, m) TAEDA_LIBRARY_OF_KIND(ns, m, Impl)

}  // namespace taeda
