// What a backend answers to what it does not override.
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <atomic>
#include <cstdlib>

namespace c10d {

namespace {
std::atomic<int> g_debug_level{-1};  // before anyone asks
}

void setDebugLevel(DebugLevel level) { g_debug_level = static_cast<int>(level); }
void setDebugLevelFromEnvironment() {
  const char* given = std::getenv("TORCH_DISTRIBUTED_DEBUG");
  std::string word = given ? given : "OFF";
  for (char& letter : word) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  TORCH_CHECK(word == "OFF" || word == "INFO" || word == "DETAIL",
              "TORCH_DISTRIBUTED_DEBUG: OFF, INFO or DETAIL is wanted; got ", word);
  setDebugLevel(word == "OFF" ? DebugLevel::Off : word == "INFO" ? DebugLevel::Info : DebugLevel::Detail);
}
DebugLevel debug_level() noexcept {
  if (g_debug_level < 0) try {
      setDebugLevelFromEnvironment();
    } catch (const std::exception& error) {
      TORCH_WARN(error.what());
      setDebugLevel(DebugLevel::Off);
    }
  return static_cast<DebugLevel>(g_debug_level.load());
}

void Backend::absent(const char* what) const {
  TORCH_CHECK(false, "c10d: the backend '", getBackendName(), "' has no ", what);
}

#define TAEDA_ABSENT(R, name, ...) \
  R Backend::name(__VA_ARGS__) { absent(#name); }
TAEDA_ABSENT(c10::intrusive_ptr<Backend::Options>, getBackendOptions)
TAEDA_ABSENT(Backend::WorkPtr, broadcast, Tensors&, const BroadcastOptions&)
TAEDA_ABSENT(Backend::WorkPtr, allreduce, Tensors&, const AllreduceOptions&)
TAEDA_ABSENT(Backend::WorkPtr, allreduce_sparse, Tensors&, const AllreduceOptions&)
TAEDA_ABSENT(Backend::WorkPtr, allreduce_coalesced, Tensors&, const AllreduceCoalescedOptions&)
TAEDA_ABSENT(Backend::WorkPtr, reduce, Tensors&, const ReduceOptions&)
TAEDA_ABSENT(Backend::WorkPtr, allgather, std::vector<Tensors>&, Tensors&, const AllgatherOptions&)
TAEDA_ABSENT(Backend::WorkPtr, _allgather_base, at::Tensor&, at::Tensor&, const AllgatherOptions&)
TAEDA_ABSENT(Backend::WorkPtr, allgather_coalesced, std::vector<Tensors>&, Tensors&, const AllgatherOptions&)
TAEDA_ABSENT(Backend::WorkPtr, allgather_into_tensor_coalesced, Tensors&, Tensors&, const AllgatherOptions&)
TAEDA_ABSENT(Backend::WorkPtr, gather, std::vector<Tensors>&, Tensors&, const GatherOptions&)
TAEDA_ABSENT(Backend::WorkPtr, scatter, Tensors&, std::vector<Tensors>&, const ScatterOptions&)
TAEDA_ABSENT(Backend::WorkPtr, reduce_scatter, Tensors&, std::vector<Tensors>&, const ReduceScatterOptions&)
TAEDA_ABSENT(Backend::WorkPtr, _reduce_scatter_base, at::Tensor&, at::Tensor&, const ReduceScatterOptions&)
TAEDA_ABSENT(Backend::WorkPtr, reduce_scatter_tensor_coalesced, Tensors&, Tensors&, const ReduceScatterOptions&)
TAEDA_ABSENT(Backend::WorkPtr, alltoall_base, at::Tensor&, at::Tensor&, std::vector<int64_t>&, std::vector<int64_t>&,
             const AllToAllOptions&)
TAEDA_ABSENT(Backend::WorkPtr, alltoall, Tensors&, Tensors&, const AllToAllOptions&)
TAEDA_ABSENT(Backend::WorkPtr, send, Tensors&, int, int)
TAEDA_ABSENT(Backend::WorkPtr, recv, Tensors&, int, int)
TAEDA_ABSENT(Backend::WorkPtr, recvAnysource, Tensors&, int)
TAEDA_ABSENT(Backend::WorkPtr, barrier, const BarrierOptions&)
TAEDA_ABSENT(void, monitoredBarrier, const BarrierOptions&, bool)
TAEDA_ABSENT(void, startCoalescing)
TAEDA_ABSENT(Backend::WorkPtr, endCoalescing)
TAEDA_ABSENT(c10::intrusive_ptr<Backend>, split, const c10::intrusive_ptr<Store>&, const std::vector<int>&,
             const c10::intrusive_ptr<Options>&)
TAEDA_ABSENT(c10::intrusive_ptr<Backend>, merge, const c10::intrusive_ptr<Store>&, const c10::intrusive_ptr<Options>&,
             const int&, const int&)
TAEDA_ABSENT(c10::intrusive_ptr<Backend>, shrink, const std::vector<int64_t>&, int, const c10::intrusive_ptr<Options>&)
TAEDA_ABSENT(void, setTimeout, std::chrono::milliseconds)
TAEDA_ABSENT(void, setSequenceNumberForGroup)
TAEDA_ABSENT(uint64_t, getSequenceNumberForGroup)
TAEDA_ABSENT(void, registerOnCompletionHook, std::function<void(std::shared_ptr<WorkInfo>)>&&)
TAEDA_ABSENT(void, waitForPendingWorks)
TAEDA_ABSENT(void, enableCollectivesTiming)
TAEDA_ABSENT(ErrorType, getError)
TAEDA_ABSENT(std::shared_ptr<c10::Allocator>, getMemAllocator)
TAEDA_ABSENT(at::Tensor, allocateTensor, long, at::TensorOptions)
#undef TAEDA_ABSENT

}  // namespace c10d
