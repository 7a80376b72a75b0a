#include "taeda/core/determinism.h"

#include <atomic>

#include "taeda/core/warn.h"

namespace taeda {

namespace {
std::atomic<Determinism> g_determinism{Determinism::Open};
}  // namespace

Determinism determinism() { return g_determinism.load(std::memory_order_relaxed); }
void set_determinism(Determinism wanted) { g_determinism.store(wanted, std::memory_order_relaxed); }

void alert_open_result(std::string_view why) {
  Determinism wanted = determinism();
  if (wanted == Determinism::Open) return;
  std::string message = str(why, "; use_deterministic_algorithms refuses such calls");
  TAEDA_CHECK(wanted == Determinism::Warns, message);
  warn(message);
}

}  // namespace taeda
