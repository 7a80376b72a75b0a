// Moves messages between the ranks of a group: the one thing that an engine below has to do.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "taeda/core/refcount.h"

namespace taeda::distributed {

constexpr int kAnyone = -1;

// A message under way. Its memory must stay until it is done or was withdrawn.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Whether it is done; moves it on. Errors of the engine below are raised.
  virtual bool test() = 0;
  // Gives up. False where the engine cannot, so that the memory has to stay for ever.
  virtual bool withdraw() = 0;
  virtual int source() const = 0;  // of a receive that is done
};

class Transport : public RefCounted {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // The largest tag of a message.
  virtual int64_t most_tag() const = 0;
  // Messages between two ranks with the same tag arrive in order.
  virtual std::unique_ptr<Transfer> send(int to, int64_t tag, const void* data, size_t bytes) = 0;
  virtual std::unique_ptr<Transfer> receive(int from, int64_t tag, void* data, size_t bytes) = 0;
  // Why a rank will never answer ("rank 1 has died"); empty while nothing is known. `only` is -1 for any of them.
  virtual std::string trouble(int only) const = 0;
};

}  // namespace taeda::distributed
