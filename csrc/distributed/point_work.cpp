#include "distributed/point_work.h"

namespace taeda::distributed {

namespace {

bool is_send(const ReadyTask& task) { return task.what == Collective::Send; }

}  // namespace

PointWork::PointWork(const Task& task, Ref<Transport> transport, std::shared_ptr<Ending> ending, Milliseconds timeout)
    : EngineWork(timeout),
      task_(task, transport->rank(), transport->size()),
      transport_(std::move(transport)),
      ending_(std::move(ending)) {
  // The largest tag is the collectives'.
  TAEDA_CHECK_VALUE(task_.tag >= 0 && task_.tag < transport_->most_tag(), "a tag is wanted from 0 to ",
                    transport_->most_tag() - 1, "; got ", task_.tag);
  const Staged& memory = is_send(task_) ? task_.inputs[0] : task_.outputs[0];
  if (is_send(task_)) memory.load();
  Part part = memory.part();
  transfer_ = is_send(task_) ? transport_->send(task_.root, task_.tag, part.data, part.bytes())
                             : transport_->receive(task_.root, task_.tag, part.data, part.bytes());
}

bool PointWork::poll() {
  std::unique_lock<std::mutex> lock(polling_, std::try_to_lock);
  if (!lock || !transfer_) return EngineWork::is_completed();
  try {
    if (!transfer_->test()) return false;
    if (!is_send(task_)) {
      source_ = transfer_->source();
      task_.outputs[0].store();
    }
    transfer_.reset();
    finish(nullptr);
  } catch (Error& error) {
    error.name_function(str("distributed.", name_of(task_.what)));
    transfer_.reset();
    finish(std::current_exception());
  }
  return true;
}

void PointWork::wait(Milliseconds timeout) {
  Patience patience(*transport_, *ending_, timeout.count() > 0 ? timeout : timeout_, true);
  try {
    while (!EngineWork::is_completed() && !poll()) patience.pause(task_.root, [this] { return awaited(); });
  } catch (Error& error) {
    error.name_function(str("distributed.", name_of(task_.what)));
    fail(std::current_exception());
  }
  EngineWork::wait(timeout);
}

std::string PointWork::awaited() const {
  if (task_.root == kAnyone) return "any rank";
  return str("rank ", task_.root, is_send(task_) ? " to receive" : " to send", " (tag ", task_.tag, ")");
}

void PointWork::fail(std::exception_ptr error) {
  {
    Lock lock(polling_);
    if (transfer_ && !transfer_->withdraw()) {
      (void)transfer_.release();
      new ReadyTask(task_);  // its memory may still be read
    }
    transfer_.reset();
  }
  finish(error);
}

int PointWork::source_rank() {
  if (is_send(task_)) return EngineWork::source_rank();
  TAEDA_CHECK(EngineWork::is_completed(), "the receive is not done yet");
  return source_;
}

}  // namespace taeda::distributed
