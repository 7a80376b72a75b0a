// Made by taedagen from all families.

#include "dispatch/call.h"

namespace taeda {
}  // namespace taeda
