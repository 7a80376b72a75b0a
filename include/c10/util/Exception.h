// Errors and warnings. An error of an op and one of TORCH_CHECK are of one type, which Python sees as the exception
// that its kind names.
#pragma once
#include <sstream>
#include <stdexcept>

#include <c10/macros/Macros.h>
#include <taeda/core/error.h>
#include <taeda/core/warn.h>

namespace c10 {

using Error = ::taeda::Error;
#define TAEDA_ERROR_CLASS(name, kind)                                                           \
  class C10_API name : public Error {                                                           \
   public:                                                                                      \
    explicit name(std::string message) : Error(::taeda::ErrorKind::kind, std::move(message)) {} \
    name(std::string message, std::nullptr_t) : name(std::move(message)) {} /* no backtrace */  \
    name(const ::taeda::SourceLocation& place, std::string message)                             \
        : Error(::taeda::ErrorKind::kind, place, std::move(message)) {}                         \
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

using SourceLocation = ::taeda::SourceLocation;
using Warning = ::taeda::Warning;
using UserWarning = Warning::UserWarning;
using DeprecationWarning = Warning::DeprecationWarning;
using WarningHandler = ::taeda::WarningHandler;
inline void warn(const Warning& warning) { ::taeda::warn(warning); }

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

template <class Raised = void>
[[noreturn, gnu::noinline, gnu::cold]] void fail(const SourceLocation& place, const char* condition,
                                                 std::string message) {
  if (message.empty()) message = std::string("this does not hold: ") + condition;
  if constexpr (std::is_void_v<Raised>)
    throw Error(place, std::move(message));
  else
    throw Raised(place, std::move(message));
}

// Raises what was streamed into it when the statement ends.
class Fatal {
 public:
  explicit Fatal(const SourceLocation& place) : place_(place) {}
  [[noreturn]] ~Fatal() noexcept(false) { fail<>(place_, "", out_.str()); }
  std::ostream& stream() { return out_; }

 private:
  SourceLocation place_;
  std::ostringstream out_;
};

}  // namespace detail

template <class... Args>
std::string str(const Args&... args) {
  return detail::joined(args...);
}

template <class Container>
std::string Join(const std::string& delimiter, const Container& items) {
  std::ostringstream out;
  const char* before = "";
  for (const auto& item : items) {
    out << before << item;
    before = delimiter.c_str();
  }
  return out.str();
}

namespace WarningUtils {
inline WarningHandler* get_warning_handler() noexcept { return ::taeda::thread_warning_handler(); }
inline void set_warning_handler(WarningHandler* handler) noexcept { ::taeda::set_thread_warning_handler(handler); }
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : before_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;
  ~WarningHandlerGuard() { set_warning_handler(before_); }

 private:
  WarningHandler* before_;
};

// While set, TORCH_WARN_ONCE warns each time.
inline void set_warnAlways(bool value) { ::taeda::set_warn_always(value); }
inline bool get_warnAlways() { return ::taeda::warns_always(); }
struct WarnAlways {
  explicit WarnAlways(bool value = true) : before(get_warnAlways()) { set_warnAlways(value); }
  ~WarnAlways() { set_warnAlways(before); }
  bool before;
};
}  // namespace WarningUtils

}  // namespace c10

#define TAEDA_HERE (::c10::SourceLocation{__func__, __FILE__, static_cast<uint32_t>(__LINE__)})
// An if, as programs leave out the semicolon after it.
#define TAEDA_CHECK_RAISING(raised, cond, ...)                                          \
  if (C10_UNLIKELY(!(cond))) {                                                          \
    ::c10::detail::fail<raised>(TAEDA_HERE, #cond, ::c10::detail::joined(__VA_ARGS__)); \
  }
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
#define TORCH_CHECK_ARG(cond, number, ...) \
  TORCH_CHECK(cond, "invalid argument ", number, ": ", ::c10::detail::joined(__VA_ARGS__))
#define C10_THROW_ERROR(error_t, message) throw ::c10::error_t(TAEDA_HERE, message)

// TORCH_CHECK_EQ(a, b) << "what it means": tells both values.
#define TORCH_CHECK_OP(a, b, op) \
  if (C10_LIKELY((a)op(b))) {    \
  } else                         \
    ::c10::detail::Fatal(TAEDA_HERE).stream() << #a " " #op " " #b " fails for " << (a) << " and " << (b) << ". "
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK_OP(a, b, >=)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK_OP(a, b, >)
#ifdef NDEBUG
#define TORCH_DCHECK_OP(a, b, op) \
  while (false) TORCH_CHECK_OP(a, b, op)
#else
#define TORCH_DCHECK_OP TORCH_CHECK_OP
#endif
#define TORCH_DCHECK_EQ(a, b) TORCH_DCHECK_OP(a, b, ==)
#define TORCH_DCHECK_NE(a, b) TORCH_DCHECK_OP(a, b, !=)
#define TORCH_DCHECK_LE(a, b) TORCH_DCHECK_OP(a, b, <=)
#define TORCH_DCHECK_LT(a, b) TORCH_DCHECK_OP(a, b, <)
#define TORCH_DCHECK_GE(a, b) TORCH_DCHECK_OP(a, b, >=)
#define TORCH_DCHECK_GT(a, b) TORCH_DCHECK_OP(a, b, >)
// The pointer, which is not null.
#define TORCH_CHECK_NOTNULL(pointer)                                  \
  [&](auto&& value) -> decltype(auto) {                               \
    TORCH_CHECK(value != nullptr, "'" #pointer "' must not be null"); \
    return std::forward<decltype(value)>(value);                      \
  }(pointer)
#define TORCH_DCHECK_NOTNULL(pointer) TORCH_CHECK_NOTNULL(pointer)
#define C10_LOG_API_USAGE_ONCE(name) static_cast<void>(0);

#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(cond, ...) TORCH_CHECK(cond, __VA_ARGS__)
#define AT_ERROR(...) ::c10::detail::fail<>(TAEDA_HERE, "", ::c10::detail::joined(__VA_ARGS__))
// Within a handler: the error goes on, with what was being done.
#define TORCH_RETHROW(e, ...)                            \
  do {                                                   \
    (e).add_context(::c10::detail::joined(__VA_ARGS__)); \
    throw;                                               \
  } while (false)

// Blocks, for the same reason.
#define TORCH_WARN_WITH(kind, ...)                                                              \
  {                                                                                             \
    ::c10::warn(::c10::Warning(::c10::kind(), TAEDA_HERE, ::c10::detail::joined(__VA_ARGS__))); \
  }
#define TORCH_WARN(...) TORCH_WARN_WITH(UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(DeprecationWarning, __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                \
  {                                                         \
    static bool warned = false;                             \
    if (!warned || ::c10::WarningUtils::get_warnAlways()) { \
      warned = true;                                        \
      TORCH_WARN(__VA_ARGS__);                              \
    }                                                       \
  }
