#include "core/warn_once.h"

#include <cstdio>

namespace taeda {

namespace {
void print(const Warning& warning) { std::fprintf(stderr, "taeda: warning: %s\n", warning.msg().c_str()); }
std::atomic<void (*)(const Warning&)> g_handler{print};
std::atomic<bool> g_always{false};
WarningHandler g_process;
thread_local WarningHandler* t_handler = &g_process;
}  // namespace

void WarningHandler::process(const Warning& warning) { g_handler.load()(warning); }
WarningHandler* thread_warning_handler() { return t_handler; }
void set_thread_warning_handler(WarningHandler* handler) { t_handler = handler ? handler : &g_process; }
void set_warn_handler(void (*handler)(const Warning&)) { g_handler.store(handler ? handler : print); }

void warn(const Warning& warning) { t_handler->process(warning); }
void warn(const std::string& message) { warn(Warning(Warning::UserWarning(), {"", "", 0}, message)); }

void warn_once(std::atomic<bool>& warned, const std::string& message) {
  if (!warned.exchange(true) || warns_always()) warn(message);
}

bool warns_always() { return g_always.load(); }
void set_warn_always(bool always) { g_always.store(always); }

}  // namespace taeda
