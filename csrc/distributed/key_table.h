// The data of a store and what requests do to them; whoever holds it locks and waits.
#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <optional>

#include "taeda/distributed/store.h"

namespace taeda::distributed {

// Keys that begin so are a store's own: counted, as PyTorch counts them, and not listed.
constexpr char kHidden = '\x01';

class KeyTable {
 public:
  // Empty while the request has to wait for a key. DistStore and QueueEmpty errors.
  std::optional<StoreReply> apply(const StoreRequest& request);
  // The keys that a waiting request lacks.
  std::vector<std::string> missing(const StoreRequest& request) const;

  static bool writes(StoreOp op);

 private:
  bool has(const std::string& key) const { return values_.count(key) || queues_.count(key); }
  bool has_all(const std::vector<std::string>& keys) const;
  std::string compare_set(const StoreRequest& request);
  int64_t add(const std::string& key, int64_t number);
  std::optional<StoreReply> pop(const StoreRequest& request);
  std::vector<std::string> list() const;

  std::map<std::string, std::string> values_;
  std::map<std::string, std::deque<std::string>> queues_;
};

[[noreturn]] void fail_timeout(const StoreRequest& request, const std::vector<std::string>& missing);
// Calls what set_interruption_check was given; in a thread with a stop flag raises instead, once that is set.
void check_interruption();
void set_stop_flag(const std::atomic<bool>* flag);
// How long a wait goes on before it looks for interruptions.
constexpr Milliseconds kSlice(100);

using Clock = std::chrono::steady_clock;
// Far ones are cut, as sums with them would overflow.
inline Clock::time_point deadline_of(Milliseconds timeout) {
  return Clock::now() + std::min<Milliseconds>(timeout, std::chrono::hours(24 * 365));
}

}  // namespace taeda::distributed
