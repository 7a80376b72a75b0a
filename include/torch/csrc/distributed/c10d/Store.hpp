// Key-value stores at which processes meet. HashStore.hpp, FileStore.hpp, TCPStore.hpp and PrefixStore.hpp have those
// of the library; one of a program's own derives from Store.
#pragma once
#include <functional>

#include <taeda/distributed/store.h>
#include <torch/custom_class.h>

namespace c10d {

using WatchKeyCallback = std::function<void(std::optional<std::string>, std::optional<std::string>)>;

class TORCH_API Store : public torch::CustomClassHolder {
 public:
  using Bytes = std::vector<uint8_t>;
  using Keys = std::vector<std::string>;
  static constexpr std::chrono::milliseconds kDefaultTimeout = ::taeda::distributed::kDefaultTimeout;
  static constexpr std::chrono::milliseconds kNoTimeout = std::chrono::milliseconds::zero();

  Store() = default;
  explicit Store(const std::chrono::milliseconds& timeout) : timeout_(timeout) {}

  // One of the same content that does not wait for calls of this one.
  virtual c10::intrusive_ptr<Store> clone() = 0;

  void set(const std::string& key, const std::string& value) { set(key, Bytes(value.begin(), value.end())); }
  virtual void set(const std::string& key, const Bytes& value) = 0;
  // Sets `desired` where the value is `expected`; gives what it is afterwards.
  std::string compareSet(const std::string& key, const std::string& expected, const std::string& desired);
  virtual Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired);
  // Waits for the key; DistStoreError when the timeout passes.
  std::string get_to_str(const std::string& key);
  virtual Bytes get(const std::string& key) = 0;
  virtual int64_t add(const std::string& key, int64_t value) = 0;  // the sum
  virtual bool deleteKey(const std::string& key) = 0;              // whether it was there
  virtual bool check(const Keys& keys) = 0;                        // whether all are there
  virtual int64_t getNumKeys() = 0;
  virtual void wait(const Keys& keys) = 0;
  virtual void wait(const Keys& keys, const std::chrono::milliseconds& timeout) = 0;

  virtual const std::chrono::milliseconds& getTimeout() const noexcept { return timeout_; }
  virtual void setTimeout(const std::chrono::milliseconds& timeout) { timeout_ = timeout; }

  virtual void watchKey(const std::string& key, WatchKeyCallback callback);  // NotImplementedError everywhere
  virtual void append(const std::string& key, const Bytes& value);
  virtual std::vector<Bytes> multiGet(const Keys& keys);
  virtual void multiSet(const Keys& keys, const std::vector<Bytes>& values);
  virtual bool hasExtendedApi() const { return false; }  // of the three above
  virtual void queuePush(const std::string& key, const Bytes& value);
  virtual Bytes queuePop(const std::string& key, bool block);
  virtual int64_t queueLen(const std::string& key);
  virtual Keys listKeys();
  // Returns when `world_size` processes have come.
  virtual void barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout);
  void barrier(const std::string& key, int64_t world_size) { barrier(key, world_size, timeout_); }

 protected:
  std::chrono::milliseconds timeout_ = kDefaultTimeout;
};

// Another timeout while this lives.
class StoreTimeoutGuard {
 public:
  StoreTimeoutGuard(Store& store, const std::chrono::milliseconds& timeout)
      : store_(store), before_(store.getTimeout()) {
    store.setTimeout(timeout);
  }
  ~StoreTimeoutGuard() { store_.setTimeout(before_); }
  StoreTimeoutGuard(const StoreTimeoutGuard&) = delete;
  StoreTimeoutGuard& operator=(const StoreTimeoutGuard&) = delete;

 private:
  Store& store_;
  std::chrono::milliseconds before_;
};

// A store of the library's.
class TORCH_API NativeStore : public Store {
 public:
  using Native = ::taeda::Ref<::taeda::distributed::Store>;
  explicit NativeStore(Native native, const std::chrono::milliseconds& timeout = kDefaultTimeout)
      : Store(timeout), native_(std::move(native)) {}

  c10::intrusive_ptr<Store> clone() override;
  using Store::set;
  void set(const std::string& key, const Bytes& value) override;
  using Store::compareSet;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override;
  Bytes get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  bool deleteKey(const std::string& key) override;
  bool check(const Keys& keys) override;
  int64_t getNumKeys() override;
  void wait(const Keys& keys) override { wait(keys, timeout_); }
  void wait(const Keys& keys, const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const Bytes& value) override;
  std::vector<Bytes> multiGet(const Keys& keys) override;
  void multiSet(const Keys& keys, const std::vector<Bytes>& values) override;
  bool hasExtendedApi() const override { return true; }
  void queuePush(const std::string& key, const Bytes& value) override;
  Bytes queuePop(const std::string& key, bool block) override;
  int64_t queueLen(const std::string& key) override;
  Keys listKeys() override;

  const Native& native() const { return native_; }

 protected:
  ::taeda::distributed::StoreReply run(::taeda::distributed::StoreOp op, Keys keys,
                                       std::vector<std::string> values = {}, int64_t number = 0);
  Native native_;
};

// As the library's groups ask it: what a NativeStore holds, or a store that asks `store`.
TORCH_API NativeStore::Native to_native(const c10::intrusive_ptr<Store>& store);

}  // namespace c10d
