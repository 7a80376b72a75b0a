#include "distributed/mpi_world.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "distributed/aside.h"
#include "taeda/distributed/process_group.h"

namespace taeda::distributed {

namespace {

constexpr int kThreadMultiple = 3;  // in all ABIs
constexpr Milliseconds kFarewell = std::chrono::seconds(2);

MpiWorld* g_world = nullptr;

// Environment variables for the time that MPI reads them: children must not take them for theirs.
class Environment {
 public:
  void set(const char* name, const char* value) {
    const char* before = std::getenv(name);
    saved_.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  void set_default(const char* name, const char* value) {
    if (!std::getenv(name)) set(name, value);
  }
  ~Environment() {
    for (auto& [name, value] : saved_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

// Whatever handlers a library installs meanwhile: the program's own come back.
class SignalHandlers {
 public:
  SignalHandlers() {
    for (int i = 1; i < kSignals; ++i) ::sigaction(i, nullptr, &before_[i]);
  }
  ~SignalHandlers() {
    for (int i = 1; i < kSignals; ++i) ::sigaction(i, &before_[i], nullptr);
  }

 private:
  static constexpr int kSignals = 32;  // those that the C library uses itself come after them
  struct sigaction before_[kSignals];
};

// Memory that MPICH shares among the ranks of a machine has a name, which would outlive a process that is killed. Once
// all have started nobody looks for it.
void unlink_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  const std::string folder = "/dev/shm/";
  for (std::string line; std::getline(maps, line);)
    if (size_t at = line.find(folder + "mpich_shm"); at != std::string::npos && !line.ends_with("(deleted)"))
      ::unlink(line.c_str() + at);
}

int number(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : -1;
}

}  // namespace

StartedBy started_by_mpi() {
  constexpr const char* kNames[][2] = {{"PMI_RANK", "PMI_SIZE"},
                                       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMIX_RANK", "SLURM_NTASKS"},
                                       {"PALS_RANKID", "PALS_SIZE"}};
  for (const auto& [rank, size] : kNames)
    if (number(rank) >= 0 && number(size) > 0) return {number(rank), number(size)};
  return {};
}

MpiWorld* MpiWorld::current() { return g_world && g_world->process_ == ::getpid() ? g_world : nullptr; }

MpiWorld& MpiWorld::join(const std::string& library, PmiJob job, bool one_machine) {
  Milliseconds timeout = job.timeout;
  // Never destroyed: threads of the library below may use it to the end of the process.
  auto* world = new MpiWorld(library, std::move(job), one_machine);
  world->start(timeout);
  return *(g_world = world);
}

MpiWorld::MpiWorld(const std::string& library, PmiJob job, bool one_machine)
    : mpi_(library), job_(job.name), rank_(job.rank), size_(job.size), one_machine_(one_machine), process_(::getpid()) {
  StartedBy others = started_by_mpi();
  started_by_others_ = others.rank == rank_ && others.size == size_;
  if (!started_by_others_) server_.emplace(std::move(job));
}

void MpiWorld::start(Milliseconds timeout) {
  int running = 0;
  mpi_.check(mpi_.initialized(&running), "MPI_Initialized");
  if (!running) {
    SignalHandlers handlers;
    Environment environment;
    environment.set_default("MPIR_CVAR_ENABLE_GPU", "0");
    if (server_) {
      for (const char* name : {"PMI_PORT", "PMI_ID", "PMI_CONTROL_PORT", "PMIX_NAMESPACE", "PMIX_RANK"})
        environment.set(name, nullptr);
      environment.set("PMI_FD", std::to_string(server_->file()).c_str());
      environment.set("PMI_RANK", std::to_string(rank_).c_str());
      environment.set("PMI_SIZE", std::to_string(size_).c_str());
    }
    run_aside(
        [this] {
          int provided = 0;
          mpi_.check(mpi_.init_thread(nullptr, nullptr, kThreadMultiple, &provided), "MPI_Init_thread");
          TAEDA_CHECK_KIND(DistBackend, provided == kThreadMultiple,
                           "this MPI serves one thread only: ", mpi_.version());
        },
        timeout, "the start of MPI", [] { return std::string(); });
    if (server_) unlink_shared_memory();
  }
  mpi_.check(mpi_.comm_set_errhandler(mpi_.world, mpi_.errors_return), "MPI_Comm_set_errhandler");
  int rank = -1, size = -1;
  mpi_.check(mpi_.comm_rank(mpi_.world, &rank), "MPI_Comm_rank");
  mpi_.check(mpi_.comm_size(mpi_.world, &size), "MPI_Comm_size");
  TAEDA_CHECK_KIND(DistBackend, rank == rank_ && size == size_, "rank ", rank_, " of ", size_, " was rank ", rank,
                   " of ", size, " to MPI, which this process had started before");
  progress_.emplace(mpi_);
  std::atexit(finalize_mpi);  // before the library's own end
}

Ref<Transport> MpiWorld::connect(std::vector<int> ranks, int tag, Milliseconds timeout) {
  auto communicator = std::make_shared<MpiHandle>(0);
  auto watch = this->watch();
  run_aside(
      [this, ranks, tag, communicator] {
        MpiHandle everyone = 0, members = 0;
        mpi_.check(mpi_.comm_group(mpi_.world, &everyone), "MPI_Comm_group");
        mpi_.check(mpi_.group_incl(everyone, static_cast<int>(ranks.size()), ranks.data(), &members), "MPI_Group_incl");
        mpi_.check(mpi_.comm_create_group(mpi_.world, members, tag, communicator.get()), "MPI_Comm_create_group");
        mpi_.group_free(&members);
        mpi_.group_free(&everyone);
        mpi_.check(mpi_.comm_set_errhandler(*communicator, mpi_.errors_return), "MPI_Comm_set_errhandler");
      },
      timeout, "the making of a group", [&] { return watch ? watch->trouble(ranks, -1) : std::string(); });
  return make_mpi_transport(mpi_, *communicator, std::move(ranks), std::move(watch), *progress_);
}

std::shared_ptr<Watch> MpiWorld::watch() const {
  Lock lock(mutex_);
  return watch_;
}

void MpiWorld::set_watch(std::shared_ptr<Watch> watch) {
  Lock lock(mutex_);
  watch_ = std::move(watch);
}

void MpiWorld::leave() {
  if (auto watch = this->watch()) watch->stop();
  set_watch(nullptr);
}

// What was sent to ranks of this machine is then in memory that they see. To others it may be on its way, which MPI's
// end waits for; a starter of MPI programs wants that end, too.
void finalize_mpi() {
  MpiWorld* world = MpiWorld::current();
  if (!world) return;
  world->stop_progress();
  if (!world->needs_end()) return;
  const MpiLibrary& mpi = world->mpi();
  int over = 0;
  if (mpi.finalized(&over) != 0 || over) return;
  try {
    run_aside([&mpi] { mpi.finalize(); }, kFarewell, "the end of MPI", [] { return std::string(); });
  } catch (const std::exception&) {  // others are gone or late
  }
}

}  // namespace taeda::distributed
