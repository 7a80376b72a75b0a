// A collective or a message under way.
#pragma once
#include <ATen/ATen.h>
#include <ATen/core/future.h>
#include <torch/custom_class.h>

#include <chrono>

// As long as the work may take.
constexpr auto kNoTimeout = std::chrono::milliseconds(0);

namespace c10d {

constexpr const char* kSeqNumStoreKey = "SEQ_NUM_STORE_KEY";

enum class OpType : uint8_t {
  BROADCAST,
  ALLREDUCE,
  ALLREDUCE_COALESCED,
  REDUCE,
  ALLGATHER,
  _ALLGATHER_BASE,
  ALLGATHER_COALESCED,
  GATHER,
  SCATTER,
  REDUCE_SCATTER,
  ALLTOALL_BASE,
  ALLTOALL,
  SEND,
  RECV,
  RECVANYSOURCE,
  BARRIER,
  _REDUCE_SCATTER_BASE,
  COALESCED,
  _ALLREDUCE_SPARSE,
  REDUCE_SCATTER_TENSOR_COALESCED,
  UNKNOWN = 100
};
TORCH_API std::string opTypeToString(OpType type);
// Whether it is a message between two; in a batch of them they count as a collective.
TORCH_API bool isP2POp(OpType type, bool batchP2P = false);

enum class WorkResult : uint8_t { SUCCESS, TIMEOUT, COMM_ERROR, UNKNOWN = 100 };

// A backend derives its own, and calls finish() from whatever thread does the work, or overrides what is asked.
class TORCH_API Work : public torch::CustomClassHolder {
 public:
  // A title makes it an event of profiles.
  explicit Work(int rank = -1, OpType type = OpType::UNKNOWN, const char* profilingTitle = nullptr,
                const std::optional<std::vector<at::Tensor>>& inputTensors = std::nullopt);
  ~Work() override;

  virtual bool isCompleted();
  virtual bool isSuccess() const;                // completed, and nothing went wrong
  virtual std::exception_ptr exception() const;  // what went wrong
  virtual int sourceRank() const;                // of a receive from anyone
  virtual std::vector<at::Tensor> result();
  virtual void synchronize() {}  // orders a device's later work behind this
  // True when it is done; raises what went wrong, and when the timeout passes.
  virtual bool wait(std::chrono::milliseconds timeout = kNoTimeout);
  virtual void blockCurrentStream() { synchronize(); }
  virtual void abort();
  virtual c10::intrusive_ptr<c10::ivalue::Future> getFuture();
  virtual c10::intrusive_ptr<c10::ivalue::Future> getFutureResult();  // a WorkResult
  virtual float getDuration() const;
  virtual uint64_t getSequencenumber() const;
  OpType retrieveOpType() const { return opType_; }
  // Is done when the future is.
  static c10::intrusive_ptr<Work> create_from_future(const c10::intrusive_ptr<c10::ivalue::Future>& future);

 protected:
  void finish(std::exception_ptr exception = nullptr);
  void finishAndThrow(std::exception_ptr exception);

  mutable std::mutex mutex_;
  std::condition_variable cv_;
  bool completed_ = false;
  std::exception_ptr exception_;
  const int rank_;
  OpType opType_;
  std::function<void()> recordFunctionEndCallback_;
};

struct WorkInfo {
  WorkInfo(OpType opType, uint64_t seq, std::chrono::time_point<std::chrono::steady_clock> timeStarted,
           std::chrono::time_point<std::chrono::steady_clock> timeFinished, std::chrono::duration<float> activeDuration)
      : opType(opType),
        seq(seq),
        timeStarted(timeStarted),
        timeFinished(timeFinished),
        activeDuration(activeDuration) {}
  OpType opType;
  uint64_t seq;
  std::chrono::time_point<std::chrono::steady_clock> timeStarted, timeFinished;
  std::chrono::duration<float> activeDuration;
};

}  // namespace c10d
