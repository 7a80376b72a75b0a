#include "distributed/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "distributed/aside.h"

namespace taeda::distributed {

namespace {

const std::string kEnded = "engine/ended";
constexpr Milliseconds kLong = std::chrono::hours(1);
constexpr Milliseconds kGlance(500);  // between looks at the processes of this machine

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
    : store_(std::move(store)), rank_(rank), members_(std::move(members)), fates_(members_.size(), Here) {
  for (size_t i = 0; i < members_.size(); ++i) {
    bool visible = static_cast<int>(i) != rank && members_[i].machine == members_[static_cast<size_t>(rank)].machine;
    files_.push_back(visible ? static_cast<int>(::syscall(SYS_pidfd_open, members_[i].process, 0)) : -1);
    has_neighbours_ = has_neighbours_ || files_.back() >= 0;
  }
  // At once: afterwards the server may be gone.
  store_->run({StoreOp::Testament, {kEnded}, {str(rank_, " died ")}});
}

Watch::~Watch() {
  for (int file : files_)
    if (file >= 0) ::close(file);
}

void Watch::run() {
  set_stop_flag(&stopped_);
  try {
    watch_store();
  } catch (const std::exception&) {
    if (stopped_) return;
    // The process whose end closed the connection is about to be gone; on a busy machine that takes a while.
    bool seen = false;
    for (auto end = Clock::now() + kGlance; !seen && has_neighbours_ && Clock::now() < end; seen = look_at_processes())
      std::this_thread::sleep_for(kSlice / 10);
    if (!seen && fate_of(0) != Left)  // which may have served it, and ended in order
      for (size_t i = 0; i < members_.size(); ++i)
        note(static_cast<int>(i), "the process that serves the store (rank 0's, unless a launcher does) has ended",
             true);
  }
  for (; !stopped_; std::this_thread::sleep_for(kSlice)) look_at_processes();
}

void Watch::watch_store() {
  while (!stopped_) {
    try {
      store_->wait({kEnded}, has_neighbours_ ? kGlance : kLong);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::DistStore || stopped_) throw;
      look_at_processes();
      continue;
    }
    read(store_->get(kEnded, kLong));
    look_at_processes();
    std::this_thread::sleep_for(kSlice);  // there may be more
  }
}

void Watch::read(const std::string& notices) {
  std::istringstream words(notices);
  int rank;
  std::string how;
  while (words >> rank >> how)
    if (rank >= 0 && rank < static_cast<int>(members_.size()) && rank != rank_)
      note(rank, str("rank ", rank, how == "left" ? " has left the group" : " has ended"), how != "left");
}

bool Watch::look_at_processes() {
  std::vector<int> ended;
  for (size_t i = 0; i < files_.size(); ++i) {
    pollfd process{files_[i], POLLIN, 0};
    if (files_[i] >= 0 && ::poll(&process, 1, 0) > 0) ended.push_back(static_cast<int>(i));
  }
  for (int rank : ended) note(rank, str("rank ", rank, " has ended"), true);
  return !ended.empty();
}

Watch::Fate Watch::fate_of(int rank) const {
  Lock lock(mutex_);
  return fates_[static_cast<size_t>(rank)];
}

void Watch::note(int rank, const std::string& what, bool died) {
  Lock lock(mutex_);
  Fate& fate = fates_[static_cast<size_t>(rank)];
  if (fate != Here) return;
  fate = died ? Died : Left;
  if (story_.find(what) == std::string::npos) story_ += (story_.empty() ? "" : "; ") + what;
  trouble_.store(true, std::memory_order_release);
}

std::string Watch::trouble(const std::vector<int>& ranks, int peer) const {
  Lock lock(mutex_);
  bool hopeless = peer >= 0 && fates_[static_cast<size_t>(peer)] != Here;
  for (int rank : ranks) hopeless = hopeless || fates_[static_cast<size_t>(rank)] == Died;
  return hopeless ? story_ : "";
}

void Watch::stop() {
  if (stopped_.exchange(true)) return;
  // Aside, since the store may be gone.
  auto say = [store = store_, rank = rank_] { store->run({StoreOp::Append, {kEnded}, {str(rank, " left ")}}); };
  try {
    run_aside(say, kGlance, "farewell", [] { return std::string(); });
  } catch (const std::exception&) {
  }
}

}  // namespace taeda::distributed
