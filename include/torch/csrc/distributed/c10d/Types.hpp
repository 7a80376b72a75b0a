// What collectives are told besides tensors.
#pragma once
#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace c10d {

// What a reduction is told besides: by what PREMUL_SUM multiplies first.
struct _SupplementBase : torch::CustomClassHolder {};
struct PreMulSumSupplement : _SupplementBase {
  PreMulSumSupplement(double factor) : double_factor(factor) {}
  PreMulSumSupplement(at::Tensor factor) : tensor_factor(std::move(factor)) {
    TORCH_CHECK(tensor_factor.numel() == 1, "c10d::PreMulSumSupplement: a factor of one element is wanted; got ",
                tensor_factor.sizes());
  }
  double double_factor = 0;
  at::Tensor tensor_factor;
};
using NCCLPreMulSumSupplement = PreMulSumSupplement;

struct ReduceOp : torch::CustomClassHolder {
  enum RedOpType : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM, UNUSED };

  ReduceOp() = default;
  ReduceOp(RedOpType op) : op_(op) {
    TORCH_CHECK(op != PREMUL_SUM, "c10d::ReduceOp: PREMUL_SUM needs its factor; makePreMulSum(factor) has it");
  }
  ReduceOp(RedOpType op, const c10::intrusive_ptr<_SupplementBase>& supplement) : op_(op), supplement_(supplement) {}
  ReduceOp(const ReduceOp&) = default;
  ReduceOp& operator=(const ReduceOp&) = default;

  operator RedOpType() const { return op_; }
  bool operator==(uint8_t other) const { return op_ == other; }
  bool operator==(RedOpType other) const { return op_ == other; }
  bool operator==(const ReduceOp& other) const { return op_ == other.op_; }

  RedOpType op_ = SUM;
  c10::intrusive_ptr<_SupplementBase> supplement_;
};
template <class T>
ReduceOp makePreMulSum(const T& factor) {
  return {ReduceOp::PREMUL_SUM, c10::make_intrusive<PreMulSumSupplement>(factor)};
}
// Whether numbers that are seen as pairs of real ones come out right.
inline bool isComplexViewAsRealAllowed(const ReduceOp& op) {
  return op == ReduceOp::SUM || op == ReduceOp::AVG || op == ReduceOp::PREMUL_SUM || op == ReduceOp::UNUSED;
}

// The group's own timeout.
constexpr auto kUnsetTimeout = std::chrono::milliseconds(-1);

// `asyncOp`: return before it is done.
struct BroadcastOptions {
  int64_t rootRank = 0, rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
  std::optional<at::Tensor> sparseIndices;
};
struct AllreduceCoalescedOptions : AllreduceOptions {};
struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0, rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllgatherOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct GatherOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct ScatterOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct ReduceScatterOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct AllToAllOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};
struct BarrierOptions {
  std::vector<int64_t> device_ids;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::optional<at::Device> device;
  bool asyncOp = true;
};

// What a backend that was registered with extended_api is made with.
struct DistributedBackendOptions {
  c10::intrusive_ptr<Store> store;
  int group_rank;
  int group_size;
  std::chrono::duration<float> timeout;
  std::string group_id;
  std::vector<int64_t> global_ranks_in_group;
};

}  // namespace c10d
