// What survives a fork. A child has only the thread that forked, so a lock that another thread held would stay locked
// for ever: every mutex of the library is a Mutex, which the forking thread takes before and releases after.
#pragma once
#include <mutex>

#include "taeda/core/error.h"

namespace taeda {

class TAEDA_API Mutex : public std::mutex {
 public:
  Mutex();
  ~Mutex();
};
using Lock = std::lock_guard<std::mutex>;

// Callbacks around fork() for what is not a lock (a thread pool); null ones are skipped. `prepare` runs last
// registered first, the others in order of registration.
struct ForkHandler {
  void (*prepare)() = nullptr;
  void (*parent)() = nullptr;
  void (*child)() = nullptr;
};
TAEDA_API void at_fork(ForkHandler handler);

}  // namespace taeda
