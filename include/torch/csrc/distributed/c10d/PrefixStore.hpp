#pragma once
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace c10d {

// Keys of another store that begin with a prefix and a slash, without these.
class TORCH_API PrefixStore : public NativeStore {
 public:
  PrefixStore(std::string prefix, c10::intrusive_ptr<Store> store);
  c10::intrusive_ptr<Store> clone() override;
  void setTimeout(const std::chrono::milliseconds& timeout) override;
  bool hasExtendedApi() const override { return store_->hasExtendedApi(); }
  c10::intrusive_ptr<Store> getUnderlyingStore() { return store_; }
  c10::intrusive_ptr<Store> getUnderlyingNonPrefixStore();

 private:
  std::string prefix_;
  c10::intrusive_ptr<Store> store_;
};

}  // namespace c10d
