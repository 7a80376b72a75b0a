#include "core/warn_once.h"

#include <cstdio>

namespace taeda {

namespace {
void print(const std::string& message) { std::fprintf(stderr, "taeda: warning: %s\n", message.c_str()); }
std::atomic<WarnHandler> g_handler{print};
std::atomic<bool> g_always{false};
}  // namespace

void set_warn_handler(WarnHandler handler) { g_handler.store(handler ? handler : print); }
void warn(const std::string& message) { g_handler.load()(message); }

void warn_once(std::atomic<bool>& warned, const std::string& message) {
  if (!warned.exchange(true) || g_always.load()) warn(message);
}

void set_warn_always(bool always) { g_always.store(always); }

}  // namespace taeda
