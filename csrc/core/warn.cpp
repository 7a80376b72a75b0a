#include "taeda/core/warn.h"

#include <atomic>
#include <cstdio>

namespace taeda {

namespace {
void print(const std::string& message) { std::fprintf(stderr, "taeda: warning: %s\n", message.c_str()); }
std::atomic<WarnHandler> g_handler{print};
}  // namespace

void set_warn_handler(WarnHandler handler) { g_handler.store(handler ? handler : print); }
void warn(const std::string& message) { g_handler.load()(message); }

}  // namespace taeda
