// Some of the processes: what asks the backend of the tensors' device.
#pragma once
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <map>
#include <unordered_set>

constexpr auto kProcessGroupDefaultTimeout = std::chrono::milliseconds(30 * 60 * 1000);

namespace c10d {

// RuntimeError where there is no backend for the device.
class TORCH_API ProcessGroup : public Collectives {
 public:
  enum BackendType : uint8_t { UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL, CUSTOM };
  static std::string backendTypeToString(const BackendType& type);
  static BackendType strToBackendType(const std::string& name);  // CUSTOM for a name that it does not know

  ProcessGroup(int rank, int size) : rank_(rank), size_(size) {}
  ProcessGroup(c10::intrusive_ptr<Store> store, int rank, int size)
      : store_(std::move(store)), rank_(rank), size_(size) {}

  virtual int getRank() const { return rank_; }
  virtual int getSize() const { return size_; }
  int64_t getID() const { return reinterpret_cast<intptr_t>(this); }
  int64_t getBackendID(BackendType type) const { return getBackend(type)->getID(); }
  virtual const std::string getBackendName() const { return backendTypeToString(backendType_); }
  BackendType getBackendType() const { return backendType_; }
  c10::intrusive_ptr<Store> getStore() const { return store_; }

  virtual WorkPtr all_gather_single(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts = {}) {
    return _allgather_base(output, input, opts);
  }
  virtual WorkPtr reduce_scatter_single(at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts = {}) {
    return _reduce_scatter_base(output, input, opts);
  }
  virtual void startCoalescing(c10::DeviceType device) { getBackend(device)->startCoalescing(); }
  virtual WorkPtr endCoalescing(c10::DeviceType device) { return getBackend(device)->endCoalescing(); }
  virtual void setTimeout(std::chrono::milliseconds timeout);
  virtual void setSequenceNumberForGroup() { getDefaultBackend()->setSequenceNumberForGroup(); }
  virtual uint64_t getSequenceNumberForGroup() { return getDefaultBackend()->getSequenceNumberForGroup(); }
  virtual void abort();
  virtual void shutdown();

  bool hasBackends() const { return !by_device_.empty(); }
  bool hasBackendForDeviceType(c10::DeviceType device) const { return by_device_.contains(device); }
  // The first backend of a type serves all devices that name the type.
  void setBackend(c10::DeviceType device, BackendType type, const std::optional<c10::intrusive_ptr<Backend>>& backend);
  c10::intrusive_ptr<Backend> getBackend(c10::DeviceType device) const;
  c10::intrusive_ptr<Backend> getBackend(BackendType type) const;
  c10::intrusive_ptr<Backend> getDefaultBackend() const;
  void setDefaultBackend(const BackendType& type) { backendType_ = type; }
  void setDefaultBackend(const std::string& name) { backendType_ = strToBackendType(name); }
  std::vector<c10::Device> getDeviceTypes() const;

  virtual const std::string& getGroupName() const { return name_; }
  virtual void setGroupName(const std::string& name);
  virtual const std::string& getGroupDesc() const { return pg_desc_; }
  virtual void setGroupDesc(const std::string& description);
  std::optional<at::Device> getBoundDeviceId() const { return bound_device_id_; }
  void setBoundDeviceId(std::optional<at::Device> device) { bound_device_id_ = device; }

 protected:
  void init() {}

  c10::intrusive_ptr<Store> store_;
  const int rank_;
  const int size_;
  BackendType backendType_ = UNDEFINED;
  std::string name_;
  std::string pg_desc_;
  std::optional<at::Device> bound_device_id_;
  Collectives& serving(const char* what, std::optional<c10::DeviceType> device) override;

 private:
  std::map<c10::DeviceType, c10::intrusive_ptr<Backend>> by_device_;
  std::map<BackendType, c10::intrusive_ptr<Backend>> by_type_;
};

}  // namespace c10d

#ifdef TAEDA_WITH_PYBIND
#include <torch/csrc/distributed/c10d/casters.h>
#endif
