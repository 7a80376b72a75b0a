// What is done once, by whichever thread comes first; the standard library's.
#pragma once
#include <mutex>

namespace c10 {
using std::call_once;
using std::once_flag;
}  // namespace c10
