// Ranks that are threads of one process: the receiver copies what the sender has.
#include "distributed/thread_transport.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <list>
#include <map>

#include "taeda/core/fork.h"

namespace taeda::distributed {

namespace {

struct Letter {
  int from, to;
  int64_t tag;
  void* data;
  size_t bytes;
  enum State { Posted, Done, Failed } state = Posted;
  std::string error;
};

// What the ranks of a group have posted and not matched, the oldest first.
struct Office {
  Mutex mutex;
  std::list<std::shared_ptr<Letter>> sent, wanted;
};

bool match(const Letter& sent, const Letter& wanted) {
  return sent.to == wanted.to && sent.tag == wanted.tag && (wanted.from == kAnyone || wanted.from == sent.from);
}

// The office is locked.
void deliver(Letter& sent, Letter& wanted) {
  wanted.from = sent.from;
  sent.state = wanted.state = Letter::Done;
  if (sent.bytes != wanted.bytes) {
    wanted.state = Letter::Failed;
    wanted.error = wrong_size(sent.from, sent.bytes, wanted.bytes);
  } else if (sent.bytes) {
    std::memcpy(wanted.data, sent.data, sent.bytes);
  }
}

class ThreadTransfer final : public Transfer {
 public:
  ThreadTransfer(std::shared_ptr<Office> office, std::shared_ptr<Letter> letter)
      : office_(std::move(office)), letter_(std::move(letter)) {}

  bool test() override {
    Lock lock(office_->mutex);
    TAEDA_CHECK_KIND(DistBackend, letter_->state != Letter::Failed, letter_->error);
    return letter_->state == Letter::Done;
  }
  bool withdraw() override {
    Lock lock(office_->mutex);
    office_->sent.remove(letter_);
    office_->wanted.remove(letter_);
    return true;
  }
  int source() const override { return letter_->from; }

 private:
  std::shared_ptr<Office> office_;
  std::shared_ptr<Letter> letter_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Office> office, int rank, int size)
      : office_(std::move(office)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int64_t most_tag() const override { return int64_t{1} << 40; }
  std::string trouble(int) const override { return {}; }

  std::unique_ptr<Transfer> send(int to, int64_t tag, const void* data, size_t bytes) override {
    return post({rank_, to, tag, const_cast<void*>(data), bytes, Letter::Posted, {}}, true);
  }
  std::unique_ptr<Transfer> receive(int from, int64_t tag, void* data, size_t bytes) override {
    return post({from, rank_, tag, data, bytes, Letter::Posted, {}}, false);
  }

 private:
  std::unique_ptr<Transfer> post(Letter contents, bool is_sent) {
    auto letter = std::make_shared<Letter>(std::move(contents));
    Lock lock(office_->mutex);
    auto& others = is_sent ? office_->wanted : office_->sent;
    auto found = std::find_if(others.begin(), others.end(), [&](const auto& other) {
      return is_sent ? match(*letter, *other) : match(*other, *letter);
    });
    if (found == others.end()) {
      (is_sent ? office_->sent : office_->wanted).push_back(letter);
    } else {
      is_sent ? deliver(*letter, **found) : deliver(**found, *letter);
      others.erase(found);
    }
    return std::make_unique<ThreadTransfer>(office_, letter);
  }

  std::shared_ptr<Office> office_;
  int rank_, size_;
};

}  // namespace

std::string wrong_size(int from, std::optional<size_t> sent, size_t wanted) {
  return str("rank ", from, " sent ", sent ? str(uint64_t{*sent}) : "more", " bytes where ", uint64_t{wanted},
             " were wanted; are shapes, dtypes and the order of calls the same on all ranks?");
}

Ref<Transport> make_thread_transport(const std::string& key, int rank, int size) {
  static Mutex mutex;
  static std::map<std::string, std::weak_ptr<Office>> offices;
  Lock lock(mutex);
  std::erase_if(offices, [](const auto& entry) { return entry.second.expired(); });
  auto office = offices[key].lock();
  if (!office) offices[key] = office = std::make_shared<Office>();
  return Ref<Transport>(new ThreadTransport(office, rank, size));
}

}  // namespace taeda::distributed
