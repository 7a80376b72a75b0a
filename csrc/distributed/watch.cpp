#include "distributed/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "distributed/quiet_thread.h"

namespace taeda::distributed {

namespace {

const std::string kEnded = "engine/ended";
constexpr Milliseconds kLong = std::chrono::hours(1);

}  // namespace

std::string machine_name() {
  char host[256] = "";
  ::gethostname(host, sizeof(host) - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Containers of one machine neither share process numbers nor always memory.
  struct stat space{};
  ::stat("/proc/self/ns/pid", &space);
  return str(host, "-", boot, "-", uint64_t{space.st_ino});
}

std::shared_ptr<Watch> Watch::start(Ref<Store> store, int rank, std::vector<Member> members) {
  std::shared_ptr<Watch> watch(new Watch(std::move(store), rank, std::move(members)));
  quiet_thread([watch] { watch->run(); }).detach();
  return watch;
}

Watch::Watch(Ref<Store> store, int rank, std::vector<Member> members)
    : store_(std::move(store)), rank_(rank), members_(std::move(members)), ended_(members_.size()) {
  for (const Member& member : members_)
    files_.push_back(member.machine == members_[static_cast<size_t>(rank)].machine
                         ? static_cast<int>(::syscall(SYS_pidfd_open, member.process, 0))
                         : -1);
  files_[static_cast<size_t>(rank)] = -1;
}

Watch::~Watch() {
  for (int file : files_)
    if (file >= 0) ::close(file);
}

void Watch::run() {
  set_stop_flag(&stopped_);
  try {
    store_->run({StoreOp::Testament, {kEnded}, {str(rank_, " died ")}});
  } catch (const std::exception&) {  // not every store sees its users' ends
    return watch_processes();
  }
  try {
    watch_store();
  } catch (const std::exception&) {
    if (stopped_) return;
    std::this_thread::sleep_for(kSlice / 10);  // the process whose end closed the connection is about to be gone
    bool known = look_at_processes();
    for (size_t i = 0; i < members_.size(); ++i)
      if (!known)
        note(static_cast<int>(i), "the process that serves the store (rank 0's, unless a launcher does) has ended");
    watch_processes();
  }
}

void Watch::watch_store() {
  while (!stopped_) {
    try {
      store_->wait({kEnded}, kLong);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::DistStore && !stopped_) continue;
      throw;
    }
    read(store_->get(kEnded, kLong));
    std::this_thread::sleep_for(kSlice);  // there may be more
  }
}

void Watch::read(const std::string& notices) {
  std::istringstream words(notices);
  int rank;
  std::string how;
  while (words >> rank >> how)
    if (rank >= 0 && rank < static_cast<int>(members_.size()))
      note(rank, how == "left" ? str("rank ", rank, " has left the group") : str("rank ", rank, " has ended"));
}

bool Watch::look_at_processes() {
  bool found = false;
  for (size_t i = 0; i < files_.size(); ++i) {
    pollfd process{files_[i], POLLIN, 0};
    if (files_[i] < 0 || ::poll(&process, 1, 0) <= 0) continue;
    note(static_cast<int>(i), str("rank ", static_cast<int>(i), " has ended"));
    found = true;
  }
  return found;
}

void Watch::watch_processes() {
  for (; !stopped_; std::this_thread::sleep_for(kSlice)) look_at_processes();
}

void Watch::note(int rank, std::string what) {
  Lock lock(mutex_);
  std::string& known = ended_[static_cast<size_t>(rank)];
  if (known.empty()) known = std::move(what);
  trouble_.store(true, std::memory_order_release);
}

std::string Watch::trouble(int rank) const {
  Lock lock(mutex_);
  return ended_[static_cast<size_t>(rank)];
}

void Watch::stop() {
  if (stopped_.exchange(true)) return;
  try {
    store_->run({StoreOp::Append, {kEnded}, {str(rank_, " left ")}, 0, kSlice * 20});
  } catch (const std::exception&) {  // the store went first
  }
}

}  // namespace taeda::distributed
