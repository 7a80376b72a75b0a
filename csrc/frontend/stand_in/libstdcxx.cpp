// What published binaries take from PyTorch's libraries because the compiler's own older library lacks it: they were
// built by a newer one, whose additions PyTorch carries.
#include <cstring>
#include <memory>

// std::string::_M_replace_cold (libstdc++ 13): the `removed` characters at `at` become the `count` at `from`, which may
// lie in the string itself; `tail` characters follow them. There is room.
extern "C" __attribute__((visibility("default"), weak)) void
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(void*, char* at, size_t removed,
                                                                                const char* from, size_t count,
                                                                                size_t tail) {
  auto kept = std::make_unique<char[]>(count);
  std::memcpy(kept.get(), from, count);
  std::memmove(at + count, at + removed, tail);
  std::memcpy(at, kept.get(), count);
}
