#include "core/determinism.h"

#include <atomic>

#include "taeda/core/warn.h"

namespace taeda {

namespace {
std::atomic<Determinism> determinism{Determinism::Open};
}  // namespace

void set_determinism(Determinism wanted) { determinism.store(wanted, std::memory_order_relaxed); }

void alert_open_result(std::string_view why) {
  Determinism wanted = determinism.load(std::memory_order_relaxed);
  if (wanted == Determinism::Open) return;
  std::string message = str(why, "; use_deterministic_algorithms refuses such calls");
  TAEDA_CHECK(wanted == Determinism::Warns, message);
  warn(message);
}

}  // namespace taeda
