// Who of a job has ended: told by the store, whose server sees connections end, and by the system, of processes of this
// machine.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "distributed/key_table.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

struct Member {
  std::string machine;
  int process;
};

class Watch {
 public:
  // Watches until `stop`. `members` in order of rank.
  static std::shared_ptr<Watch> start(Ref<Store> store, int rank, std::vector<Member> members);
  ~Watch();
  // Tells the others that this process ends in order, and watches no more.
  void stop();
  bool quiet() const { return !trouble_.load(std::memory_order_acquire); }
  // Why who waits for the rank `peer` in a group of `ranks` will wait for ever: it has ended, or another has died;
  // empty if nothing is known.
  std::string trouble(const std::vector<int>& ranks, int peer) const;

 private:
  enum Fate : uint8_t { Here, Left, Died };
  Watch(Ref<Store> store, int rank, std::vector<Member> members);
  void run();
  void watch_store();
  void read(const std::string& notices);
  bool look_at_processes();
  Fate fate_of(int rank) const;
  void note(int rank, const std::string& what, bool died);

  Ref<Store> store_;
  int rank_;
  std::vector<Member> members_;
  std::vector<int> files_;  // of the processes of this machine, else -1
  std::atomic<bool> stopped_{false}, trouble_{false};
  mutable Mutex mutex_;
  std::vector<Fate> fates_;
  std::string story_;  // of those that ended, in order
  bool has_neighbours_ = false;
};

// Names this machine, so that equal names mean that processes see each other.
std::string machine_name();

}  // namespace taeda::distributed
