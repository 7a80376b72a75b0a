// Calls that a class leaves to whoever serves the tensors.
#include <torch/csrc/distributed/c10d/Collectives.hpp>

namespace c10d {

using Tensors = Collectives::Tensors;
using WorkPtr = Collectives::WorkPtr;

namespace {
// Of the first tensor within.
using Device = std::optional<c10::DeviceType>;
Device place_of(const at::Tensor& tensor) { return tensor.device().type(); }
template <class T>
Device place_of(const std::vector<T>& list) {
  return list.empty() ? std::nullopt : place_of(list[0]);
}
}  // namespace

// With lists at the root alone, what each rank has says the device.
#define TAEDA_SERVED(name, of, parameters, ...) \
  WorkPtr Collectives::name parameters { return serving(#name, place_of(of)).name(__VA_ARGS__); }
TAEDA_SERVED(broadcast, tensors, (Tensors & tensors, const BroadcastOptions& opts), tensors, opts)
TAEDA_SERVED(allreduce, tensors, (Tensors & tensors, const AllreduceOptions& opts), tensors, opts)
TAEDA_SERVED(allreduce_sparse, tensors, (Tensors & tensors, const AllreduceOptions& opts), tensors, opts)
TAEDA_SERVED(allreduce_coalesced, tensors, (Tensors & tensors, const AllreduceCoalescedOptions& opts), tensors, opts)
TAEDA_SERVED(reduce, tensors, (Tensors & tensors, const ReduceOptions& opts), tensors, opts)
TAEDA_SERVED(allgather, inputs, (std::vector<Tensors> & outputs, Tensors& inputs, const AllgatherOptions& opts),
             outputs, inputs, opts)
TAEDA_SERVED(_allgather_base, input, (at::Tensor & output, at::Tensor& input, const AllgatherOptions& opts), output,
             input, opts)
TAEDA_SERVED(allgather_coalesced, inputs,
             (std::vector<Tensors> & output_lists, Tensors& inputs, const AllgatherOptions& opts), output_lists, inputs,
             opts)
TAEDA_SERVED(allgather_into_tensor_coalesced, inputs,
             (Tensors & outputs, Tensors& inputs, const AllgatherOptions& opts), outputs, inputs, opts)
TAEDA_SERVED(gather, inputs, (std::vector<Tensors> & outputs, Tensors& inputs, const GatherOptions& opts), outputs,
             inputs, opts)
TAEDA_SERVED(scatter, outputs, (Tensors & outputs, std::vector<Tensors>& inputs, const ScatterOptions& opts), outputs,
             inputs, opts)
TAEDA_SERVED(reduce_scatter, outputs,
             (Tensors & outputs, std::vector<Tensors>& inputs, const ReduceScatterOptions& opts), outputs, inputs, opts)
TAEDA_SERVED(_reduce_scatter_base, input, (at::Tensor & output, at::Tensor& input, const ReduceScatterOptions& opts),
             output, input, opts)
TAEDA_SERVED(reduce_scatter_tensor_coalesced, inputs,
             (Tensors & outputs, Tensors& inputs, const ReduceScatterOptions& opts), outputs, inputs, opts)
TAEDA_SERVED(alltoall_base, input,
             (at::Tensor & output, at::Tensor& input, std::vector<int64_t>& output_split_sizes,
              std::vector<int64_t>& input_split_sizes, const AllToAllOptions& opts),
             output, input, output_split_sizes, input_split_sizes, opts)
TAEDA_SERVED(alltoall, inputs, (Tensors & outputs, Tensors& inputs, const AllToAllOptions& opts), outputs, inputs, opts)
TAEDA_SERVED(send, tensors, (Tensors & tensors, int dstRank, int tag), tensors, dstRank, tag)
TAEDA_SERVED(recv, tensors, (Tensors & tensors, int srcRank, int tag), tensors, srcRank, tag)
TAEDA_SERVED(recvAnysource, tensors, (Tensors & tensors, int tag), tensors, tag)
#undef TAEDA_SERVED

WorkPtr Collectives::barrier(const BarrierOptions& opts) {
  return serving("barrier", opts.device ? Device(opts.device->type()) : std::nullopt).barrier(opts);
}
void Collectives::monitoredBarrier(const BarrierOptions& opts, bool waitAllRanks) {
  serving("monitoredBarrier", std::nullopt).monitoredBarrier(opts, waitAllRanks);
}

}  // namespace c10d
