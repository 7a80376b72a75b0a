// What backends and groups can both be asked.
#pragma once
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace c10d {

// What a class does not override is asked of serving().
class TORCH_API Collectives : public torch::CustomClassHolder {
 public:
  using Tensors = std::vector<at::Tensor>;
  using WorkPtr = c10::intrusive_ptr<Work>;

  virtual WorkPtr broadcast(Tensors& tensors, const BroadcastOptions& opts = {});
  virtual WorkPtr allreduce(Tensors& tensors, const AllreduceOptions& opts = {});
  virtual WorkPtr allreduce_sparse(Tensors& tensors, const AllreduceOptions& opts = {});
  virtual WorkPtr allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts = {});
  virtual WorkPtr reduce(Tensors& tensors, const ReduceOptions& opts = {});
  virtual WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs, const AllgatherOptions& opts = {});
  virtual WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts = {});
  virtual WorkPtr allgather_coalesced(std::vector<Tensors>& output_lists, Tensors& inputs,
                                      const AllgatherOptions& opts = {});
  virtual WorkPtr allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs, const AllgatherOptions& opts = {});
  virtual WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs, const GatherOptions& opts = {});
  virtual WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs, const ScatterOptions& opts = {});
  virtual WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs, const ReduceScatterOptions& opts = {});
  virtual WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts = {});
  virtual WorkPtr reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                  const ReduceScatterOptions& opts = {});
  virtual WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_split_sizes,
                                std::vector<int64_t>& input_split_sizes, const AllToAllOptions& opts = {});
  virtual WorkPtr alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts = {});
  virtual WorkPtr send(Tensors& tensors, int dstRank, int tag);
  virtual WorkPtr recv(Tensors& tensors, int srcRank, int tag);
  virtual WorkPtr recvAnysource(Tensors& tensors, int tag);
  virtual WorkPtr barrier(const BarrierOptions& opts = {});
  virtual void monitoredBarrier(const BarrierOptions& opts, bool waitAllRanks = false);

 protected:
  // Who does `what` with tensors of the device; of any where none is said. Raises where nobody does.
  virtual Collectives& serving(const char* what, std::optional<c10::DeviceType> device) = 0;
};

}  // namespace c10d
