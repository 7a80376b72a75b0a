#include "test_main.h"

#include <cstring>

namespace taeda::testing {

namespace {
int g_failures = 0;
}

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void report_failure(const char* file, int line, const std::string& what) {
  ++g_failures;
  std::printf("%s:%d: %s\n", file, line, what.c_str());
}

}  // namespace taeda::testing

// Runs all cases, or those whose names contain the argument.
int main(int argc, char** argv) {
  using namespace taeda::testing;
  int run = 0;
  for (const Case& test : cases()) {
    if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
    ++run;
    try {
      test.body();
    } catch (const std::exception& error) {
      report_failure(test.name, 0, error.what());
    }
  }
  std::printf("%d tests, %d failures\n", run, g_failures);
  return g_failures || !run;
}
