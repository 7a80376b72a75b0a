// Process groups: ranks that move and reduce tensors together. Knows tensors as memory with a geometry, and no Python.
#pragma once
#include <functional>
#include <memory>

#include "taeda/core/tensor.h"
#include "taeda/distributed/store.h"

namespace taeda::distributed {

// The numbers are those of ReduceOp in Python.
enum class ReduceKind : uint8_t { Sum, Avg, Product, Min, Max, And, Or, Xor };

enum class Collective : uint8_t {
  Broadcast,      // outputs: of the root, to all others
  AllReduce,      // outputs, in place
  Reduce,         // outputs, in place; only the root's are whole afterwards
  AllGather,      // one input, to one output for each rank
  Gather,         // likewise, outputs at the root alone
  Scatter,        // one input for each rank at the root, one output
  ReduceScatter,  // one input for each rank, one output
  AllToAll,       // one input and one output for each rank; sizes may differ
  Barrier,
  Send,    // one input, to the root
  Receive  // one output, from the root, or from anyone if that is -1
};
TAEDA_API const char* name_of(Collective collective);

struct Task {
  Collective what;
  std::vector<Tensor> inputs, outputs;
  ReduceKind reduction = ReduceKind::Sum;
  int root = 0;
  int tag = 0;  // of Send and Receive
};

// Tasks under way.
class TAEDA_API Work : public RefCounted {
 public:
  // Returns when it is done, raises what went wrong. 0 waits as long as the tasks may take. A DistBackend error where
  // the timeout passes.
  virtual void wait(Milliseconds timeout) = 0;
  virtual bool is_completed() = 0;
  // What went wrong; null before the end and where nothing did.
  virtual std::exception_ptr error() = 0;
  // Runs `callback` when it is done, in a thread where waiting for other work holds up nobody.
  virtual void then(std::function<void()> callback) = 0;
  virtual int source_rank() = 0;  // of a receive that is done
};

class TAEDA_API ProcessGroup : public RefCounted {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // One after the other, in the order of submission, in all processes the same. With `async` it returns at once, else
  // when the tasks are done. Sends and receives go beside this order.
  virtual Ref<Work> submit(std::vector<Task> tasks, Milliseconds timeout, bool async) = 0;
  // Ends all work with a DistBackend error that says why; none can follow.
  virtual void abort(const std::string& reason) = 0;
  // Returns when all that was submitted is done; none can follow.
  virtual void shutdown() = 0;
};

// A group whose ranks meet at `store`: all of them call this, with a store (or a prefix) of their own for each group.
// MPI moves the bytes; `library` is its path, which matters when the first group of several processes is made.
// DistStore errors name the ranks that did not come.
TAEDA_API Ref<ProcessGroup> make_process_group(Ref<Store> store, int rank, int size, Milliseconds timeout,
                                               const std::string& library);
// The path of the MPI library: TAEDA_MPI, that of the starter of MPI programs, one in these folders, in that of the
// environment that is active or beside this library, or what the loader finds; empty without any.
TAEDA_API std::string find_mpi(std::vector<std::string> folders = {});
// A group whose ranks are threads of this process. `key` is the same for the ranks of one group, and new for each
// group.
TAEDA_API Ref<ProcessGroup> make_thread_group(const std::string& key, int rank, int size);
// Before the process leaves the others: they are told that it ended in order.
TAEDA_API void leave_processes();
// At the end of the process, also.
TAEDA_API void end_processes();
// What moves bytes between processes, as the library names itself; empty before the first group of several processes.
TAEDA_API std::string transport_description();
// Where rank and size are those that a starter of MPI programs (mpiexec, srun) gave this process.
struct StartedBy {
  int rank = -1, size = -1;
};
TAEDA_API StartedBy started_by_mpi();

}  // namespace taeda::distributed
