// The messages of one collective, and the memory that they need besides the tensors.
#pragma once
#include <memory>
#include <vector>

#include "distributed/patience.h"

namespace taeda::distributed {

class Flow {
 public:
  Flow(Transport& transport, Patience& patience)
      : transport_(transport), patience_(patience), tag_(transport.most_tag()) {}
  // Withdraws what is under way, after an error. What cannot be withdrawn keeps its memory for ever.
  ~Flow();
  Flow(const Flow&) = delete;

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  // The rank `by` places on.
  int other(int by) const { return (transport_.rank() + by + transport_.size()) % transport_.size(); }

  // Posts a message; the number is for wait.
  size_t send(int to, const void* data, size_t bytes);
  size_t receive(int from, void* data, size_t bytes);
  void wait(size_t message);
  void wait_all();
  char* scratch(size_t bytes);
  // Whether messages were left under way.
  bool stuck() const { return stuck_; }
  bool give_up();

 private:
  struct Message {
    std::unique_ptr<Transfer> transfer;
    int peer;
    bool incoming;
  };
  std::string awaited() const;

  Transport& transport_;
  Patience& patience_;
  int64_t tag_;
  std::vector<Message> messages_;
  std::vector<std::unique_ptr<char[]>> scratch_;
  bool stuck_ = false;
};

}  // namespace taeda::distributed
