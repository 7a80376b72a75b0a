#include <c10/util/Logging.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <iostream>

namespace {

constexpr const char* kNames[] = {"INFO", "WARNING", "ERROR", "FATAL"};

int wished_level() {
  const char* given = std::getenv("TORCH_CPP_LOG_LEVEL");
  if (!given || !*given) return GLOG_WARNING;
  const std::string word = given;
  int level = GLOG_WARNING;
  for (int i = GLOG_INFO; i <= GLOG_FATAL; ++i)
    if (word == kNames[i]) return i;
  if (!c10::detail::parse_flag(word, level))
    std::cerr << "TORCH_CPP_LOG_LEVEL: INFO, WARNING, ERROR, FATAL or a number is wanted; got " << word << "\n";
  return level;
}

}  // namespace

C10_DEFINE_int(caffe2_log_level, wished_level(), "the least severity that is shown: 0 for INFO, 1 for WARNING, ...");

namespace c10 {

// [W1130 10:09:02.902993936 step.cpp:4] what was said
MessageLogger::MessageLogger(const SourceLocation& place, int severity) : severity_(severity) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count() % 1000000000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  out_ << '[' << kNames[std::clamp(severity, GLOG_INFO, GLOG_FATAL)][0] << std::put_time(&parts, "%m%d %H:%M:%S.")
       << std::setfill('0') << std::setw(9) << rest << std::setfill(' ') << ' '
       << std::filesystem::path(place.file).filename().string() << ':' << place.line << "] ";
}
MessageLogger::~MessageLogger() {
  out_ << '\n';
  std::cerr << out_.str() << std::flush;
  if (severity_ >= GLOG_FATAL) std::abort();
}
void initLogging() { FLAGS_caffe2_log_level = wished_level(); }
void ShowLogInfoToStderr() { FLAGS_caffe2_log_level = GLOG_INFO; }

}  // namespace c10
