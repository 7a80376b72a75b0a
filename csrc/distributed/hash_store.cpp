// A store in memory, and one over another that sees a part of its keys.
#include <condition_variable>

#include "distributed/key_table.h"
#include "taeda/core/fork.h"

namespace taeda::distributed {

namespace {

class HashStore final : public Store {
 public:
  StoreReply run(const StoreRequest& request) override {
    std::unique_lock<std::mutex> lock(mutex_);
    auto deadline = deadline_of(request.timeout);
    for (;;) {
      if (auto reply = table_.apply(request)) {
        if (KeyTable::writes(request.op)) changed_.notify_all();
        return *reply;
      }
      if (Clock::now() >= deadline) fail_timeout(request, table_.missing(request));
      changed_.wait_until(lock, std::min(deadline, Clock::now() + kSlice));
      lock.unlock();
      check_interruption();
      lock.lock();
    }
  }
  Ref<Store> clone() override { return Ref<Store>(this); }
  std::string describe() const override { return "HashStore()"; }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  KeyTable table_;
};

class PrefixStore final : public Store {
 public:
  PrefixStore(std::string prefix, Ref<Store> store) : prefix_(std::move(prefix) + "/"), store_(std::move(store)) {}

  StoreReply run(const StoreRequest& request) override {
    StoreRequest inner = request;
    for (std::string& key : inner.keys) key.insert(0, prefix_);
    StoreReply reply = store_->run(inner);
    if (request.op == StoreOp::ListKeys) {
      std::erase_if(reply.values, [&](const std::string& key) { return !key.starts_with(prefix_); });
      for (std::string& key : reply.values) key.erase(0, prefix_.size());
    }
    return reply;
  }
  Ref<Store> clone() override {
    return Ref<Store>(new PrefixStore(prefix_.substr(0, prefix_.size() - 1), store_->clone()));
  }
  std::string describe() const override {
    return str("PrefixStore('", prefix_.substr(0, prefix_.size() - 1), "', ", store_->describe(), ")");
  }

 private:
  std::string prefix_;
  Ref<Store> store_;
};

}  // namespace

Ref<Store> make_hash_store() { return Ref<Store>(new HashStore); }

Ref<Store> make_prefix_store(std::string prefix, Ref<Store> store) {
  return Ref<Store>(new PrefixStore(std::move(prefix), std::move(store)));
}

}  // namespace taeda::distributed
