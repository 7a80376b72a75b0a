// What serves a process group on one kind of device. One of a program's own derives from Backend, overrides what it can
// do, and is registered from Python (torch.distributed.Backend.register_backend) or given to ProcessGroup::setBackend.
#pragma once
#include <c10/core/Allocator.h>
#include <torch/csrc/distributed/c10d/debug.h>
#include <torch/csrc/distributed/c10d/Collectives.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>

#include <unordered_map>

constexpr auto kBackendDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

namespace c10d {

enum class ErrorType { SUCCESS, TIMEOUT, COMM_ERROR, REMOTE_ERROR };

// What is not overridden raises RuntimeError.
class TORCH_API Backend : public Collectives {
 public:
  struct TORCH_API Options : torch::CustomClassHolder {
    explicit Options(std::string backend, std::chrono::milliseconds timeout = kBackendDefaultTimeout)
        : timeout(timeout), backend(std::move(backend)) {}
    std::chrono::milliseconds timeout;
    const std::string backend;
    std::string group_name;
    std::string group_desc;
    std::vector<uint64_t> global_ranks_in_group;
  };

  Backend(int rank, int size) : rank_(rank), size_(size), dist_debug_level_(debug_level()) {}

  int getRank() const { return rank_; }
  int getSize() const { return size_; }
  int64_t getID() const { return reinterpret_cast<intptr_t>(this); }
  virtual const std::string getBackendName() const { return "custom"; }
  virtual c10::intrusive_ptr<Options> getBackendOptions();

  virtual bool supportsSplitting() const { return false; }
  virtual bool supportsCoalescing() const { return false; }
  virtual bool supportsTimeEstimation() const { return false; }
  virtual bool supportsShrinking() const { return false; }
  virtual void startCoalescing();
  virtual WorkPtr endCoalescing();
  virtual c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<Store>& store, const std::vector<int>& ranks,
                                            const c10::intrusive_ptr<Options>& opts);
  virtual c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<Store>& store,
                                            const c10::intrusive_ptr<Options>& opts, const int& rank, const int& size);
  virtual c10::intrusive_ptr<Backend> shrink(const std::vector<int64_t>& ranks_to_exclude, int shrink_flags = 0,
                                             const c10::intrusive_ptr<Options>& opts = nullptr);
  virtual void setTimeout(std::chrono::milliseconds timeout);
  virtual void setSequenceNumberForGroup();
  virtual uint64_t getSequenceNumberForGroup();
  virtual void registerOnCompletionHook(std::function<void(std::shared_ptr<WorkInfo>)>&& hook);
  bool hasHooks() const { return onCompletionHook_ != nullptr; }
  virtual void waitForPendingWorks();
  virtual void enableCollectivesTiming();
  virtual ErrorType getError();
  virtual std::shared_ptr<c10::Allocator> getMemAllocator();
  virtual at::Tensor allocateTensor(long size, at::TensorOptions options = {});
  virtual bool supportsTensorAlloc(c10::DeviceIndex) { return false; }
  virtual void abort() {}
  virtual void shutdown() {}

  virtual void setGroupUid(const std::string& uid) { pg_uid_ = uid; }
  const std::string& getGroupUid() const { return pg_uid_; }
  void setGroupDesc(const std::string& description) { pg_desc_ = description; }
  const std::string& getGroupDesc() const { return pg_desc_; }
  std::optional<at::Device> getBoundDeviceId() const { return bound_device_id_; }
  void setBoundDeviceId(std::optional<at::Device> device) { bound_device_id_ = device; }
  virtual void eagerConnectSingleDevice(at::Device) {}

 protected:
  void init() {}

  const int rank_;
  const int size_;
  DebugLevel dist_debug_level_;
  std::string pg_uid_;
  std::string pg_desc_;
  std::function<void(std::shared_ptr<WorkInfo>)> onCompletionHook_;
  std::optional<at::Device> bound_device_id_;
  Collectives& serving(const char* what, std::optional<c10::DeviceType>) override { absent(what); }

 private:
  [[noreturn]] void absent(const char* what) const;
};

}  // namespace c10d

// The casters, where pybind11 is included already: after all that they are for, whichever header comes first.
#define TAEDA_WITH_PROCESS_GROUPS
#ifdef TAEDA_WITH_PYBIND
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
