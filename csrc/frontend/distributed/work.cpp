#include <ATen/core/jit_type.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "dispatch/profiler.h"

namespace c10d {

std::string opTypeToString(OpType type) {
  static constexpr const char* names[] = {"BROADCAST",
                                          "ALLREDUCE",
                                          "ALLREDUCE_COALESCED",
                                          "REDUCE",
                                          "ALLGATHER",
                                          "_ALLGATHER_BASE",
                                          "ALLGATHER_COALESCED",
                                          "GATHER",
                                          "SCATTER",
                                          "REDUCE_SCATTER",
                                          "ALLTOALL_BASE",
                                          "ALLTOALL",
                                          "SEND",
                                          "RECV",
                                          "RECVANYSOURCE",
                                          "BARRIER",
                                          "_REDUCE_SCATTER_BASE",
                                          "COALESCED",
                                          "_ALLREDUCE_SPARSE",
                                          "REDUCE_SCATTER_TENSOR_COALESCED"};
  const size_t index = static_cast<size_t>(type);
  return index < std::size(names) ? names[index] : "UNKNOWN";
}

bool isP2POp(OpType type, bool batchP2P) {
  return !batchP2P && (type == OpType::SEND || type == OpType::RECV || type == OpType::RECVANYSOURCE);
}

Work::Work(int rank, OpType type, const char* profilingTitle, const std::optional<std::vector<at::Tensor>>&)
    : rank_(rank), opType_(type) {
  if (!profilingTitle || !::taeda::is_profiled()) return;
  const uint64_t event = ::taeda::begin_event(profilingTitle, ::taeda::ProfileKind::User);
  recordFunctionEndCallback_ = [event] { ::taeda::end_event(event); };
}
Work::~Work() {
  if (recordFunctionEndCallback_) recordFunctionEndCallback_();
}

bool Work::isCompleted() {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}
bool Work::isSuccess() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ && !exception_;
}
std::exception_ptr Work::exception() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return exception_;
}
int Work::sourceRank() const { TORCH_CHECK(false, "c10d::Work::sourceRank: only a receive from anyone has one"); }
std::vector<at::Tensor> Work::result() { return {}; }

bool Work::wait(std::chrono::milliseconds timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (timeout <= kNoTimeout)
    cv_.wait(lock, [&] { return completed_; });
  else
    TORCH_CHECK(cv_.wait_for(lock, timeout, [&] { return completed_; }), "c10d::Work::wait: ", opTypeToString(opType_),
                " was not done within ", timeout.count(), " ms");
  if (exception_) std::rethrow_exception(exception_);
  lock.unlock();
  synchronize();
  return true;
}

void Work::abort() { TORCH_CHECK(false, "c10d::Work::abort: this work cannot be ended before it is done"); }
c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() {
  TORCH_CHECK(false, "c10d::Work::getFuture: the work of this backend has none");
}
c10::intrusive_ptr<c10::ivalue::Future> Work::getFutureResult() {
  TORCH_CHECK(false, "c10d::Work::getFutureResult: the work of this backend has none");
}
float Work::getDuration() const { TORCH_CHECK(false, "c10d::Work::getDuration: this backend does not measure it"); }
uint64_t Work::getSequencenumber() const {
  TORCH_CHECK(false, "c10d::Work::getSequencenumber: this backend does not count");
}

void Work::finish(std::exception_ptr exception) {
  std::function<void()> end;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    completed_ = true;
    exception_ = std::move(exception);
    end.swap(recordFunctionEndCallback_);
  }
  if (end) end();
  cv_.notify_all();
}
void Work::finishAndThrow(std::exception_ptr exception) {
  finish(std::move(exception));
  if (auto error = this->exception()) std::rethrow_exception(error);
}

namespace {

class FutureWork final : public Work {
 public:
  explicit FutureWork(c10::intrusive_ptr<c10::ivalue::Future> future) : future_(std::move(future)) {}
  std::vector<at::Tensor> result() override {
    const c10::IValue& value = future_->constValue();
    if (value.isTensor()) return {value.toTensor()};
    return value.isTensorList() ? value.toTensorVector() : std::vector<at::Tensor>();
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace

c10::intrusive_ptr<Work> Work::create_from_future(const c10::intrusive_ptr<c10::ivalue::Future>& future) {
  c10::intrusive_ptr<Work> work = c10::make_intrusive<FutureWork>(future);
  future->addCallback([work](c10::ivalue::Future& done) { work->finish(done.exception_ptr()); });
  return work;
}

}  // namespace c10d
