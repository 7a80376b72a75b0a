// How a thread waits for messages: a moment of looking again and again, then ever longer rests, so that a long wait
// costs no processor; until they come, the time is over, a rank is known to be gone, or somebody ends it.
#pragma once
#include <atomic>
#include <string>

#include "distributed/key_table.h"
#include "distributed/transport.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

// What ends the waits of a group.
class Ending {
 public:
  bool set(const std::string& reason);  // false where there is one already
  bool is_set() const { return set_.load(std::memory_order_acquire); }
  // A DistBackend error with the reason.
  void check() const;

 private:
  std::atomic<bool> set_{false};
  std::string reason_;
  mutable Mutex mutex_;
};

class Patience {
 public:
  // `interruptible`: in a thread of the program's, that Ctrl-C is for.
  Patience(const Transport& transport, const Ending& ending, Milliseconds timeout, bool interruptible)
      : transport_(transport), ending_(ending), timeout_(timeout), interruptible_(interruptible) {}

  // Something came: the next wait is a new one. The time for all goes on.
  void renew() { rounds_ = 0; }
  // A moment, until the next look at what is awaited from `peers`, as the error says; `peer` alone can be in trouble,
  // or anyone (-1). DistBackend errors.
  template <class Peers>
  void pause(int peer, Peers&& peers) {
    if (++rounds_ < kSpins) return relax();
    if (const char* why = rest(peer)) fail_wait(why, peers());
  }

 private:
  static constexpr int kSpins = 64;
  static void relax();
  const char* rest(int peer);  // why waiting is of no use
  [[noreturn]] void fail_wait(const char* why, const std::string& peers) const;

  const Transport& transport_;
  const Ending& ending_;
  Milliseconds timeout_;
  bool interruptible_;
  int rounds_ = 0;
  Clock::time_point deadline_{}, begin_{}, looked_{}, trouble_since_{};
  std::string trouble_;
};

}  // namespace taeda::distributed
