// The backend of CPU tensors: the library's engine, with MPI to move bytes. Programs know it as gloo, or as MPI.
#pragma once
#include <taeda/distributed/process_group.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace c10d {

constexpr const char* GLOO_BACKEND_NAME = "gloo";

class TORCH_API EngineBackend : public Backend {
 public:
  using Engine = ::taeda::Ref<::taeda::distributed::ProcessGroup>;
  // Of a group that exists.
  explicit EngineBackend(Engine engine, std::chrono::milliseconds timeout = kBackendDefaultTimeout);
  // Of the processes that meet at `store`. DistStoreError names those that did not come; DistBackendError without MPI.
  EngineBackend(const c10::intrusive_ptr<Store>& store, int rank, int size, std::chrono::milliseconds timeout);

  const std::string getBackendName() const override { return GLOO_BACKEND_NAME; }
  void setTimeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return sequence_; }
  void abort() override;
  void shutdown() override;

  WorkPtr broadcast(Tensors& tensors, const BroadcastOptions& opts = {}) override;
  WorkPtr allreduce(Tensors& tensors, const AllreduceOptions& opts = {}) override;
  WorkPtr allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts = {}) override;
  WorkPtr reduce(Tensors& tensors, const ReduceOptions& opts = {}) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs, const AllgatherOptions& opts = {}) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts = {}) override;
  WorkPtr allgather_coalesced(std::vector<Tensors>& output_lists, Tensors& inputs,
                              const AllgatherOptions& opts = {}) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const AllgatherOptions& opts = {}) override;
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const GatherOptions& opts = {}) override;
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs, const ScatterOptions& opts = {}) override;
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const ReduceScatterOptions& opts = {}) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts = {}) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                          const ReduceScatterOptions& opts = {}) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_split_sizes,
                        std::vector<int64_t>& input_split_sizes, const AllToAllOptions& opts = {}) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts = {}) override;
  WorkPtr send(Tensors& tensors, int dstRank, int tag) override;
  WorkPtr recv(Tensors& tensors, int srcRank, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  WorkPtr barrier(const BarrierOptions& opts = {}) override;

 protected:
  std::chrono::milliseconds timeout_;

 private:
  template <class Told>
  WorkPtr submit(OpType type, std::vector<::taeda::distributed::Task> tasks, const Told& opts, Tensors result);
  WorkPtr message(OpType type, ::taeda::distributed::Collective what, Tensors& tensors, int peer, int tag);
  Engine engine_;
  std::atomic<uint64_t> sequence_{0};
};

class TORCH_API ProcessGroupGloo : public EngineBackend {
 public:
  struct Options : Backend::Options {
    explicit Options(std::chrono::milliseconds timeout = kBackendDefaultTimeout)
        : Backend::Options(GLOO_BACKEND_NAME, timeout) {}
    static c10::intrusive_ptr<Options> create(std::chrono::milliseconds timeout = kBackendDefaultTimeout) {
      return c10::make_intrusive<Options>(timeout);
    }
    static c10::intrusive_ptr<Options> create_default(std::chrono::milliseconds timeout = kBackendDefaultTimeout) {
      return create(timeout);
    }
    // Network devices; the engine chooses its own.
    std::vector<std::shared_ptr<void>> devices;
    int threads = 2;
  };
  explicit ProcessGroupGloo(const c10::intrusive_ptr<Store>& store, int rank, int size,
                            c10::intrusive_ptr<Options> options = Options::create())
      : EngineBackend(store, rank, size, options->timeout), store_(store), options_(std::move(options)) {}

  // RuntimeError on all ranks that names one that did not come within the timeout, with `waitAllRanks` each of them.
  void monitoredBarrier(const BarrierOptions& opts = {}, bool waitAllRanks = false) override;
  c10::intrusive_ptr<Options> getOptions() { return options_; }
  c10::intrusive_ptr<Backend::Options> getBackendOptions() override { return options_; }
  static std::shared_ptr<void> createDefaultDevice(bool = false) { return nullptr; }
  static std::shared_ptr<void> createDeviceForInterface(const std::string&, bool = false) { return nullptr; }
  static std::shared_ptr<void> createDeviceForHostname(const std::string&, bool = false) { return nullptr; }

 private:
  c10::intrusive_ptr<Store> store_;
  const c10::intrusive_ptr<Options> options_;
  int64_t barriers_ = 0;
};

}  // namespace c10d

#ifdef TAEDA_WITH_PYBIND
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif
