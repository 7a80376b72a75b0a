// The MPI job that this process is part of: at most one in its life, since MPI cannot start twice. Groups that are made
// later, after others were destroyed too, are communicators of it.
#pragma once
#include <memory>
#include <optional>

#include "distributed/mpi_library.h"
#include "distributed/pmi_server.h"
#include "distributed/progress.h"
#include "distributed/transport.h"
#include "distributed/watch.h"

namespace taeda::distributed {

class MpiWorld {
 public:
  // Null before a job was joined, and in a child of a fork.
  static MpiWorld* current();
  // Starts MPI; all ranks of the job do that. `mapping` as process_mapping gives it; a starter of MPI programs that
  // gave this process the same rank and size serves in place of the store.
  static MpiWorld& join(const std::string& library, PmiJob job, bool one_machine);

  const std::string& job() const { return job_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  const MpiLibrary& mpi() const { return mpi_; }
  // Of the ranks (of the world) in that order; they all call this, with the same tag.
  Ref<Transport> connect(std::vector<int> ranks, int tag, Milliseconds timeout);

  std::shared_ptr<Watch> watch() const;
  void set_watch(std::shared_ptr<Watch> watch);
  // The processes that still watch are told that this one ends in order.
  void leave();
  // No message goes any more.
  void stop_progress() {
    if (progress_) progress_->stop();
  }
  bool needs_end() const { return started_by_others_ || !one_machine_; }

 private:
  MpiWorld(const std::string& library, PmiJob job, bool one_machine);
  void start(Milliseconds timeout);

  MpiLibrary mpi_;
  std::string job_;
  int rank_, size_;
  bool one_machine_, started_by_others_;
  pid_t process_;
  std::optional<PmiServer> server_;
  std::optional<Progress> progress_;
  mutable Mutex mutex_;
  std::shared_ptr<Watch> watch_;
};

// At the end of the process.
void finalize_mpi();

Ref<Transport> make_mpi_transport(const MpiLibrary& mpi, MpiHandle communicator, std::vector<int> world_ranks,
                                  std::shared_ptr<Watch> watch, Progress& progress);

}  // namespace taeda::distributed
