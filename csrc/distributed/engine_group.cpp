// The process group: collectives in order, in the calling thread or in one of the group's own; messages between two
// ranks beside them.
#include <unistd.h>

#include <deque>
#include <list>

#include "distributed/engine_group.h"
#include "distributed/point_work.h"
#include "distributed/quiet_thread.h"

namespace taeda::distributed {

namespace {

class CollectiveWork final : public EngineWork {
 public:
  CollectiveWork(const std::vector<Task>& tasks, int rank, int size, Milliseconds timeout) : EngineWork(timeout) {
    for (const Task& task : tasks) tasks_.emplace_back(task, rank, size);
  }
  // Whether the group can go on.
  bool run(Transport& transport, Ending& ending, bool interruptible) {
    const ReadyTask* current = nullptr;
    Patience patience(transport, ending, timeout_, interruptible);
    Flow flow(transport, patience);
    try {
      for (const ReadyTask& task : tasks_) (current = &task)->run(flow);
    } catch (Error& error) {
      error.name_function(str("distributed.", name_of(current->what)));
      return fail(flow, ending, error.what(), std::current_exception());
    } catch (...) {
      return fail(flow, ending, "it was interrupted", std::current_exception());
    }
    tasks_.clear();
    finish(nullptr);
    return true;
  }

 private:
  bool fail(Flow& flow, Ending& ending, const std::string& what, std::exception_ptr error) {
    // Memory that messages under way may still write to must stay.
    if (!flow.give_up()) new std::vector<ReadyTask>(std::move(tasks_));
    ending.set("a collective of this group failed before, and the ranks may stand at different places: " + what);
    finish(error);
    return false;
  }
  std::vector<ReadyTask> tasks_;
};

bool is_message(const Task& task) { return task.what == Collective::Send || task.what == Collective::Receive; }

class EngineGroup final : public ProcessGroup {
 public:
  explicit EngineGroup(Ref<Transport> transport)
      : transport_(std::move(transport)), ending_(std::make_shared<Ending>()), process_(::getpid()) {}
  ~EngineGroup() override { end(); }

  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }

  Ref<Work> submit(std::vector<Task> tasks, Milliseconds timeout, bool async) override {
    TAEDA_CHECK(process_ == ::getpid(), "this group belongs to the process that this one was forked from");
    ending_->check();
    if (tasks.size() == 1 && is_message(tasks[0])) return submit_message(tasks[0], timeout, async);
    Ref<CollectiveWork> work(new CollectiveWork(tasks, rank(), size(), timeout));
    std::unique_lock<std::mutex> lock(mutex_);
    TAEDA_CHECK(!stopped_, "this group was destroyed");
    if ((!async || size() == 1) && queue_.empty() && !busy_) {  // one rank waits for nobody
      busy_ = true;
      lock.unlock();
      work->run(*transport_, *ending_, true);
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    } else {
      queue_.push_back(work);
      wake_thread();
    }
    lock.unlock();
    if (!async) work->wait(Milliseconds(0));
    return work;
  }

  void abort(const std::string& reason) override {
    ending_->set(reason);
    Lock lock(mutex_);
    changed_.notify_all();
  }

  void shutdown() override {
    if (process_ != ::getpid()) return;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
    }
    end();
  }

 private:
  Ref<Work> submit_message(const Task& task, Milliseconds timeout, bool async) {
    Ref<PointWork> work(new PointWork(task, transport_, ending_, timeout));
    if (!async) {
      work->wait(Milliseconds(0));
    } else if (!work->poll()) {
      Lock lock(mutex_);
      messages_.push_back(work);
      wake_thread();
    }
    return work;
  }

  void wake_thread() {
    if (!thread_.joinable()) thread_ = quiet_thread([this] { serve(); });
    changed_.notify_all();
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (Milliseconds rest(1);;) {
      auto ready = [&] { return stopped_ || (!queue_.empty() && !busy_); };
      if (messages_.empty())
        changed_.wait(lock, [&] { return ready() || !messages_.empty(); });
      else
        changed_.wait_for(lock, rest, ready);
      if (!queue_.empty() && !busy_) {
        run_next(lock);
      } else if (stopped_) {
        return;
      }
      if (!messages_.empty()) poll_messages(lock);
    }
  }

  void run_next(std::unique_lock<std::mutex>& lock) {
    Ref<CollectiveWork> work = queue_.front();
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    try {
      ending_->check();
      work->run(*transport_, *ending_, false);
    } catch (const Error&) {
      work->finish(std::current_exception());
    }
    work.reset();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }

  // Those that nobody waits for, or not yet: they go on all the same.
  void poll_messages(std::unique_lock<std::mutex>& lock) {
    std::list<Ref<PointWork>> all = messages_;
    lock.unlock();
    for (const Ref<PointWork>& work : all) {
      try {
        if (!work->poll()) ending_->check();
      } catch (const Error&) {
        work->fail(std::current_exception());
      }
    }
    lock.lock();
    messages_.remove_if([](const Ref<PointWork>& work) { return work->EngineWork::is_completed(); });
  }

  void end() {
    if (process_ != ::getpid()) {  // the thread is not in this process
      if (thread_.joinable()) thread_.detach();
      return;
    }
    ending_->set("this group was destroyed");
    {
      Lock lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  Ref<Transport> transport_;
  std::shared_ptr<Ending> ending_;
  pid_t process_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ref<CollectiveWork>> queue_;
  std::list<Ref<PointWork>> messages_;
  bool busy_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace

Ref<ProcessGroup> make_engine_group(Ref<Transport> transport) {
  return Ref<ProcessGroup>(new EngineGroup(std::move(transport)));
}

}  // namespace taeda::distributed
