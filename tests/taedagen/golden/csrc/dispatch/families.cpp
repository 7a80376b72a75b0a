// Made by taedagen from all families.

#include "dispatch/ops/first.h"
#include "dispatch/ops/second.h"

namespace taeda {
namespace {
OpFamily families[] = {
    {"first", table::first, 6, nullptr},
    {"second", table::second, 8, nullptr},
};
struct Announce {
  Announce() {
    for (OpFamily& family : families) add_family(&family);
  }
} announce;
}  // namespace
}  // namespace taeda
