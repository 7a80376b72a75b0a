#include <c10/util/Type.h>
#include <cxxabi.h>

#include <cstdlib>

namespace c10 {
std::string demangle(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string made = text ? text : name;
  std::free(text);
  return made;
}
}  // namespace c10
