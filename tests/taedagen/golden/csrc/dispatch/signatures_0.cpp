// Made by taedagen from all families.

#include "taeda/dispatch/call.h"

namespace taeda {
}  // namespace taeda
