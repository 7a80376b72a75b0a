// Lines for whoever runs a program, LOG(INFO) << "step " << step, and collections on streams, as programs print them:
// std::cout << std::vector<int>{1, 2}.
#pragma once
#include <map>
#include <ostream>
#include <set>
#include <vector>

#include <c10/util/Exception.h>
#include <c10/util/Flags.h>

// The least severity that is shown: WARNING, unless TORCH_CPP_LOG_LEVEL names another or has its number.
extern TORCH_API int FLAGS_caffe2_log_level;
constexpr int GLOG_INFO = 0;
constexpr int GLOG_WARNING = 1;
constexpr int GLOG_ERROR = 2;
constexpr int GLOG_FATAL = 3;

namespace c10 {
// Writes a line to standard error when the statement ends; a fatal one ends the process then.
class TORCH_API MessageLogger {
 public:
  MessageLogger(const SourceLocation& place, int severity);
  MessageLogger(const MessageLogger&) = delete;
  MessageLogger& operator=(const MessageLogger&) = delete;
  ~MessageLogger();
  std::ostream& stream() { return out_; }

 private:
  int severity_;
  std::ostringstream out_;
};
namespace detail {
struct Said {  // binds less than <<
  void operator&(const std::ostream&) const {}
};
}  // namespace detail
TORCH_API void initLogging();  // reads TORCH_CPP_LOG_LEVEL again
TORCH_API void ShowLogInfoToStderr();

// The first hundred, with spaces between.
template <class Iter>
void PrintSequence(std::ostream& out, Iter begin, Iter end) {
  constexpr int kMost = 100;
  for (int i = 0; begin != end && i < kMost; ++i, ++begin) out << (i ? " " : "") << *begin;
  if (begin != end) out << " ...";
}
}  // namespace c10

namespace std {  // where they are found, as in PyTorch
template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& both) {
  return out << '(' << both.first << ", " << both.second << ')';
}
template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& items) {
  return c10::PrintSequence(out, items.begin(), items.end()), out;
}
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& items) {
  return c10::PrintSequence(out, items.begin(), items.end()), out;
}
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& items) {
  return c10::PrintSequence(out, items.begin(), items.end()), out;
}
}  // namespace std

// glog's names, where nobody took them before.
#define TAEDA_LOG_IF(severity, condition)                \
  !((severity) >= FLAGS_caffe2_log_level && (condition)) \
      ? (void)0                                          \
      : ::c10::detail::Said() & ::c10::MessageLogger(TAEDA_HERE, severity).stream()
#ifndef LOG
#define LOG(severity) TAEDA_LOG_IF(GLOG_##severity, true)
#define LOG_IF(severity, condition) TAEDA_LOG_IF(GLOG_##severity, condition)
#define VLOG_IS_ON(level) (-(level) >= FLAGS_caffe2_log_level)
#define VLOG(level) TAEDA_LOG_IF(-(level), true)
#define VLOG_IF(level, condition) TAEDA_LOG_IF(-(level), condition)
#ifdef NDEBUG
#define DLOG(severity) \
  while (false) LOG(severity)
#else
#define DLOG(severity) LOG(severity)
#endif
#endif
#ifndef CHECK
#define CHECK(condition) LOG_IF(FATAL, !(condition)) << "Check failed: " #condition " "
#ifdef NDEBUG
#define DCHECK(condition) \
  while (false) CHECK(condition)
#else
#define DCHECK(condition) CHECK(condition)
#endif
#endif

#define CAFFE_ENFORCE(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define CAFFE_THROW(...) AT_ERROR(__VA_ARGS__)
#define CAFFE_ENFORCE_OP(a, b, op, ...) \
  TORCH_CHECK((a)op(b), #a " " #op " " #b " fails for ", (a), " and ", (b), ". ", ::c10::str(__VA_ARGS__))
#define CAFFE_ENFORCE_EQ(a, b, ...) CAFFE_ENFORCE_OP(a, b, ==, __VA_ARGS__)
#define CAFFE_ENFORCE_NE(a, b, ...) CAFFE_ENFORCE_OP(a, b, !=, __VA_ARGS__)
#define CAFFE_ENFORCE_LE(a, b, ...) CAFFE_ENFORCE_OP(a, b, <=, __VA_ARGS__)
#define CAFFE_ENFORCE_LT(a, b, ...) CAFFE_ENFORCE_OP(a, b, <, __VA_ARGS__)
#define CAFFE_ENFORCE_GE(a, b, ...) CAFFE_ENFORCE_OP(a, b, >=, __VA_ARGS__)
#define CAFFE_ENFORCE_GT(a, b, ...) CAFFE_ENFORCE_OP(a, b, >, __VA_ARGS__)
