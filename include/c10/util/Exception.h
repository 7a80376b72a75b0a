// Errors and warnings. An error of an op and one of TORCH_CHECK are of one type, which Python sees as the exception
// that its kind names.
#pragma once
#include <sstream>

#include <c10/macros/Macros.h>
#include <taeda/core/error.h>
#include <taeda/core/warn.h>

namespace c10 {

using Error = ::taeda::Error;
#define TAEDA_ERROR_CLASS(name, kind)                                                           \
  class C10_API name : public Error {                                                           \
   public:                                                                                      \
    explicit name(std::string message) : Error(::taeda::ErrorKind::kind, std::move(message)) {} \
  };
TAEDA_ERROR_CLASS(IndexError, Index)
TAEDA_ERROR_CLASS(ValueError, Value)
TAEDA_ERROR_CLASS(TypeError, Type)
TAEDA_ERROR_CLASS(NotImplementedError, NotImplemented)
TAEDA_ERROR_CLASS(OutOfMemoryError, OutOfMemory)
TAEDA_ERROR_CLASS(LinAlgError, LinAlg)
TAEDA_ERROR_CLASS(DistError, Dist)
TAEDA_ERROR_CLASS(DistBackendError, DistBackend)
TAEDA_ERROR_CLASS(DistStoreError, DistStore)
TAEDA_ERROR_CLASS(DistNetworkError, DistNetwork)
TAEDA_ERROR_CLASS(EnforceFiniteError, Value)
TAEDA_ERROR_CLASS(OnnxfiBackendSystemError, Runtime)
#undef TAEDA_ERROR_CLASS

struct SourceLocation {
  const char* function;
  const char* file;
  uint32_t line;
};
inline std::ostream& operator<<(std::ostream& out, const SourceLocation& place) {
  return out << place.function << " at " << place.file << ":" << place.line;
}

namespace detail {

// A string as it is; anything else as a stream prints it.
template <class... Args>
std::string joined(const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return {};
  } else if constexpr (sizeof...(Args) == 1 && (std::is_convertible_v<const Args&, std::string> && ...)) {
    return (std::string(args), ...);
  } else {
    std::ostringstream out;
    (out << ... << args);
    return out.str();
  }
}

// The message with the place that raised it.
inline std::string placed(const SourceLocation& place, std::string message) {
  std::ostringstream out;
  out << message << "\n(raised in " << place << ")";
  return out.str();
}

template <class Raised = void>
[[noreturn, gnu::noinline, gnu::cold]] void fail(const SourceLocation& place, const char* condition,
                                                 std::string message) {
  if (message.empty()) message = std::string("this does not hold: ") + condition;
  message = placed(place, std::move(message));
  if constexpr (std::is_void_v<Raised>)
    throw Error(::taeda::ErrorKind::Runtime, std::move(message));
  else
    throw Raised(std::move(message));
}

}  // namespace detail

template <class... Args>
std::string str(const Args&... args) {
  return detail::joined(args...);
}

namespace WarningUtils {
// While set, TORCH_WARN_ONCE warns each time.
inline bool g_warn_always = false;
inline void set_warnAlways(bool value) { g_warn_always = value; }
inline bool get_warnAlways() { return g_warn_always; }
struct WarnAlways {
  explicit WarnAlways(bool value = true) : before(g_warn_always) { g_warn_always = value; }
  ~WarnAlways() { g_warn_always = before; }
  bool before;
};
}  // namespace WarningUtils

}  // namespace c10

#define TAEDA_HERE (::c10::SourceLocation{__func__, __FILE__, static_cast<uint32_t>(__LINE__)})
#define TAEDA_CHECK_RAISING(raised, cond, ...)                                                                     \
  do {                                                                                                             \
    if (C10_UNLIKELY(!(cond))) ::c10::detail::fail<raised>(TAEDA_HERE, #cond, ::c10::detail::joined(__VA_ARGS__)); \
  } while (false)
#define TORCH_CHECK(cond, ...) TAEDA_CHECK_RAISING(void, cond, __VA_ARGS__)
#define TORCH_CHECK_WITH(error_t, cond, ...) TAEDA_CHECK_RAISING(::c10::error_t, cond, __VA_ARGS__)
#define TORCH_CHECK_WITH_MSG(error_t, cond, type, ...) TAEDA_CHECK_RAISING(::c10::error_t, cond, __VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) TAEDA_CHECK_RAISING(::c10::IndexError, cond, __VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) TAEDA_CHECK_RAISING(::c10::ValueError, cond, __VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) TAEDA_CHECK_RAISING(::c10::TypeError, cond, __VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) TAEDA_CHECK_RAISING(::c10::LinAlgError, cond, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) TAEDA_CHECK_RAISING(::c10::NotImplementedError, cond, __VA_ARGS__)
#define TORCH_CHECK_ALWAYS_SHOW_CPP_STACKTRACE(cond, ...) TORCH_CHECK(cond, __VA_ARGS__)
#define TORCH_CHECK_IF_NOT_ON_CUDA(cond, ...) TORCH_CHECK(cond, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(cond, ...) TORCH_CHECK(cond, __VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(cond, ...) TORCH_CHECK(cond, __VA_ARGS__)
#define AT_ERROR(...) ::c10::detail::fail<>(TAEDA_HERE, "", ::c10::detail::joined(__VA_ARGS__))
#define TORCH_RETHROW(e, ...) throw

#define TORCH_WARN(...) ::taeda::warn(::c10::detail::joined(__VA_ARGS__))
#define TORCH_WARN_WITH(kind, ...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN(__VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                \
  do {                                                      \
    static bool warned = false;                             \
    if (!warned || ::c10::WarningUtils::get_warnAlways()) { \
      warned = true;                                        \
      TORCH_WARN(__VA_ARGS__);                              \
    }                                                       \
  } while (false)
