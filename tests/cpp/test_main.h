// A minimal harness: TEST(name) { CHECK(condition); CHECK_ERROR(expression, Kind, "part of the message"); }
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include "taeda/core/error.h"

namespace taeda::testing {

struct Case {
  const char* name;
  void (*body)();
};
std::vector<Case>& cases();
void report_failure(const char* file, int line, const std::string& what);

struct AddCase {
  AddCase(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

template <class F>
void expect_error(F&& body, ErrorKind kind, std::string_view part, const char* file, int line) {
  try {
    body();
  } catch (const Error& error) {
    if (error.kind() != kind) report_failure(file, line, str("another kind of error: ", error.what()));
    if (std::string_view(error.what()).find(part) == std::string_view::npos)
      report_failure(file, line, str("the message lacks '", part, "': ", error.what()));
    return;
  }
  report_failure(file, line, "no error was raised");
}

}  // namespace taeda::testing

#define TEST(name)                                                 \
  static void test_##name();                                       \
  static ::taeda::testing::AddCase add_##name(#name, test_##name); \
  static void test_##name()
#undef CHECK  // c10/util/Logging.h has one
#define CHECK(...)                                                                          \
  do {                                                                                      \
    if (!(__VA_ARGS__)) ::taeda::testing::report_failure(__FILE__, __LINE__, #__VA_ARGS__); \
  } while (0)
#define CHECK_ERROR(expression, kind, part) \
  ::taeda::testing::expect_error([&] { (void)(expression); }, ::taeda::ErrorKind::kind, part, __FILE__, __LINE__)
