#include "distributed/flow.h"

#include <set>

namespace taeda::distributed {

Flow::~Flow() { give_up(); }

bool Flow::give_up() {
  for (Message& message : messages_)
    if (message.transfer && !message.transfer->withdraw()) {
      stuck_ = true;
      (void)message.transfer.release();
    }
  messages_.clear();
  if (stuck_)
    for (auto& memory : scratch_) (void)memory.release();
  scratch_.clear();
  return !stuck_;
}

size_t Flow::send(int to, const void* data, size_t bytes) {
  messages_.push_back({transport_.send(to, tag_, data, bytes), to, false});
  return messages_.size() - 1;
}

size_t Flow::receive(int from, void* data, size_t bytes) {
  messages_.push_back({transport_.receive(from, tag_, data, bytes), from, true});
  return messages_.size() - 1;
}

void Flow::wait(size_t number) {
  Message& message = messages_[number];
  if (!message.transfer) return;
  while (!message.transfer->test()) {
    for (Message& other : messages_)  // they go on by being asked
      if (&other != &message && other.transfer && other.transfer->test()) other.transfer.reset();
    patience_.pause(message.peer, [this] { return awaited(); });
  }
  message.transfer.reset();
  patience_.renew();
}

void Flow::wait_all() {
  for (size_t i = 0; i < messages_.size(); ++i) wait(i);
  messages_.clear();
}

char* Flow::scratch(size_t bytes) {
  scratch_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
  return scratch_.back().get();
}

std::string Flow::awaited() const {
  std::set<int> peers;
  for (const Message& message : messages_)
    if (message.transfer && message.incoming) peers.insert(message.peer);
  if (peers.empty())
    for (const Message& message : messages_)
      if (message.transfer) peers.insert(message.peer);
  std::string text = peers.size() == 1 ? "rank " : "ranks ";
  for (int peer : peers) text += (peer == *peers.begin() ? "" : ", ") + std::to_string(peer);
  return text;
}

}  // namespace taeda::distributed
