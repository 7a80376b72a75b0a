// The engine's groups as backends: what a collective's arguments must be, and the engine's tasks for it.
#include <ATen/core/jit_type.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace c10d {

using ::taeda::distributed::Collective;
using ::taeda::distributed::ReduceKind;
using ::taeda::distributed::Task;
using Tensors = Collectives::Tensors;
using WorkPtr = Collectives::WorkPtr;

namespace {

std::string needed_mpi(int size) {
  if (size == 1) return {};
  std::string path = ::taeda::distributed::find_mpi();
  if (path.empty())
    throw c10::DistBackendError(c10::str("c10d: a group of ", size,
                                         " processes needs MPI, which was not found; pip "
                                         "install taeda[distributed] brings it, and TAEDA_MPI names its libmpi.so"));
  return path;
}

class EngineWork final : public Work {
 public:
  EngineWork(int rank, OpType type, ::taeda::Ref<::taeda::distributed::Work> work, Tensors result)
      : Work(rank, type), work_(std::move(work)), result_(std::move(result)) {}

  bool isCompleted() override { return work_->is_completed(); }
  bool isSuccess() const override { return work_->is_completed() && !work_->error(); }
  std::exception_ptr exception() const override { return work_->error(); }
  int sourceRank() const override { return work_->source_rank(); }
  Tensors result() override { return result_; }
  bool wait(std::chrono::milliseconds timeout) override {
    work_->wait(std::max(timeout, kNoTimeout));
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors());
    work_->then([future, work = work_, result = result_] {
      if (auto error = work->error())
        future->setError(error);
      else
        future->markCompleted(result);
    });
    return future;
  }

 private:
  ::taeda::Ref<::taeda::distributed::Work> work_;
  Tensors result_;
};

std::vector<::taeda::Tensor> plain(const Tensors& tensors) { return {tensors.begin(), tensors.end()}; }

// Raises unless the tensors are one or more of one dtype and shape.
void check_alike(const char* name, const Tensors& tensors) {
  TORCH_CHECK(!tensors.empty(), "c10d::", name, ": at least one tensor is wanted; got none");
  for (const at::Tensor& tensor : tensors)
    TORCH_CHECK(tensor.sizes() == tensors[0].sizes() && tensor.scalar_type() == tensors[0].scalar_type(),
                "c10d::", name, ": tensors of one dtype and shape are wanted; got ", tensors[0].scalar_type(),
                tensors[0].sizes(), " and ", tensor.scalar_type(), tensor.sizes());
}

void check_root(const char* name, int64_t root, int size) {
  TORCH_CHECK(root >= 0 && root < size, "c10d::", name, ": there is no root ", root, " among ", size, " processes");
}

// One tensor here, and one list of as many as there are processes at the root.
void check_one_list(const char* name, const Tensors& tensors, const std::vector<Tensors>& lists, bool is_root,
                    int size) {
  const bool good = is_root ? lists.size() == 1 && static_cast<int>(lists[0].size()) == size : lists.empty();
  TORCH_CHECK(tensors.size() == 1 && good, "c10d::", name, ": one tensor is wanted, and at the root one list of ", size,
              ", none elsewhere; got ", tensors.size(), " tensors and ", lists.size(), " lists");
}

// The reduction as the engine knows it; tensors are multiplied in place by the factor of PREMUL_SUM.
ReduceKind kind_of(const ReduceOp& op, const Tensors& tensors) {
  if (op != ReduceOp::PREMUL_SUM) {
    TORCH_CHECK(op < ReduceOp::PREMUL_SUM, "c10d: there is no reduction ", int{op.op_});
    return static_cast<ReduceKind>(op.op_);
  }
  auto* factor = dynamic_cast<PreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK(factor, "c10d: PREMUL_SUM needs its factor; makePreMulSum(factor) has it");
  at::NoGradGuard no_grad;
  for (at::Tensor tensor : tensors)
    factor->tensor_factor.defined() ? tensor.mul_(factor->tensor_factor) : tensor.mul_(factor->double_factor);
  return ReduceKind::Sum;
}

at::Tensor joined(ReduceKind kind, const at::Tensor& a, const at::Tensor& b) {
  switch (kind) {
    case ReduceKind::Sum:
      return a + b;
    case ReduceKind::Product:
      return a * b;
    case ReduceKind::Min:
      return at::minimum(a, b);
    case ReduceKind::Max:
      return at::maximum(a, b);
    case ReduceKind::And:
      return a.bitwise_and(b);
    case ReduceKind::Or:
      return a.bitwise_or(b);
    case ReduceKind::Xor:
      return a.bitwise_xor(b);
    default:
      TORCH_CHECK(false, "c10d::allreduce: several tensors of one process have no mean; give them apart");
  }
}

// Rows for each process, as views; the tensor itself where no sizes are given.
std::vector<::taeda::Tensor> parts(const at::Tensor& tensor, const std::vector<int64_t>& sizes, int processes) {
  checkSplitSizes(sizes, tensor, processes);
  if (sizes.empty()) return {tensor};
  return plain(tensor.detach().split_with_sizes(sizes));
}

}  // namespace

EngineBackend::EngineBackend(Engine engine, std::chrono::milliseconds timeout)
    : Backend(engine->rank(), engine->size()), timeout_(timeout), engine_(std::move(engine)) {}
EngineBackend::EngineBackend(const c10::intrusive_ptr<Store>& store, int rank, int size,
                             std::chrono::milliseconds timeout)
    : EngineBackend(::taeda::distributed::make_process_group(to_native(store), rank, size, timeout, needed_mpi(size)),
                    timeout) {
  // The others are told when this process ends in order.
  static const int at_end = std::atexit(::taeda::distributed::end_processes);
  (void)at_end;
}
void EngineBackend::abort() { engine_->abort("this group was aborted"); }
void EngineBackend::shutdown() { engine_->shutdown(); }

template <class Told>
WorkPtr EngineBackend::submit(OpType type, std::vector<Task> tasks, const Told& opts, Tensors result) {
  ++sequence_;
  auto work = engine_->submit(std::move(tasks), opts.timeout > kNoTimeout ? opts.timeout : timeout_, opts.asyncOp);
  return c10::make_intrusive<EngineWork>(rank_, type, std::move(work), std::move(result));
}

WorkPtr EngineBackend::broadcast(Tensors& tensors, const BroadcastOptions& opts) {
  check_alike("broadcast", tensors);
  check_root("broadcast", opts.rootRank, size_);
  const size_t first = static_cast<size_t>(opts.rootTensor);
  TORCH_CHECK(first < tensors.size(), "c10d::broadcast: there is no root tensor ", first, " among ", tensors.size());
  if (rank_ == opts.rootRank) {  // all become the root's one
    at::NoGradGuard no_grad;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (i != first) tensors[i].copy_(tensors[first]);
  }
  Task task{Collective::Broadcast, {}, plain(tensors)};
  task.root = static_cast<int>(opts.rootRank);
  return submit(OpType::BROADCAST, {std::move(task)}, opts, tensors);
}

WorkPtr EngineBackend::allreduce(Tensors& tensors, const AllreduceOptions& opts) {
  check_alike("allreduce", tensors);
  if (tensors.size() > 1) {  // those of one process count as those of several: each becomes their reduction
    at::NoGradGuard no_grad;
    const ReduceKind kind = kind_of(opts.reduceOp, {});
    at::Tensor whole = tensors[0];
    for (size_t i = 1; i < tensors.size(); ++i) whole = joined(kind, whole, tensors[i]);
    for (at::Tensor& tensor : tensors) tensor.copy_(whole);
  }
  return allreduce_coalesced(tensors, AllreduceCoalescedOptions{opts});
}
WorkPtr EngineBackend::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts) {
  TORCH_CHECK(!tensors.empty(), "c10d::allreduce_coalesced: at least one tensor is wanted; got none");
  Task task{Collective::AllReduce, {}, plain(tensors)};
  task.reduction = kind_of(opts.reduceOp, tensors);
  return submit(OpType::ALLREDUCE_COALESCED, {std::move(task)}, opts, tensors);
}
WorkPtr EngineBackend::reduce(Tensors& tensors, const ReduceOptions& opts) {
  check_root("reduce", opts.rootRank, size_);
  TORCH_CHECK(tensors.size() == 1 && opts.rootTensor == 0, "c10d::reduce: one tensor, number 0, is wanted; got ",
              tensors.size(), " and root tensor ", opts.rootTensor);
  Tensors own = tensors;
  if (opts.reduceOp == ReduceOp::PREMUL_SUM && rank_ != opts.rootRank)
    own[0] = own[0].clone();  // only the root's change
  Task task{Collective::Reduce, {}, plain(own)};
  task.reduction = kind_of(opts.reduceOp, own);
  task.root = static_cast<int>(opts.rootRank);
  return submit(OpType::REDUCE, {std::move(task)}, opts, tensors);
}

WorkPtr EngineBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs, const AllgatherOptions& opts) {
  TORCH_CHECK(inputs.size() == 1 && outputs.size() == 1 && static_cast<int>(outputs[0].size()) == size_,
              "c10d::allgather: one tensor is wanted and one list of ", size_, "; got ", inputs.size(), " tensors and ",
              outputs.size(), " lists");
  return submit(OpType::ALLGATHER, {{Collective::AllGather, plain(inputs), plain(outputs[0])}}, opts, outputs[0]);
}
WorkPtr EngineBackend::_allgather_base(at::Tensor& output, at::Tensor& input, const AllgatherOptions& opts) {
  TORCH_CHECK_VALUE(output.scalar_type() == input.scalar_type() && output.numel() == input.numel() * size_,
                    "c10d::_allgather_base: the output is wanted as ", size_, " times the input of ", input.numel(),
                    " elements of ", input.scalar_type(), "; got ", output.numel(), " of ", output.scalar_type());
  return submit(OpType::_ALLGATHER_BASE, {{Collective::AllGather, {input}, {output}}}, opts, {output});
}
WorkPtr EngineBackend::allgather_coalesced(std::vector<Tensors>& output_lists, Tensors& inputs,
                                           const AllgatherOptions& opts) {
  auto fail = [](const std::string& what) { TORCH_CHECK(false, "c10d::allgather_coalesced: ", what); };
  assertAllgatherCoalescedOutputTensorLists(fail, output_lists, inputs.size(), size_);
  std::vector<Task> tasks;  // there is a list for each rank; the engine has one for each tensor
  Tensors result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Task task{Collective::AllGather, {inputs[i]}, {}};
    for (Tensors& of_rank : output_lists) task.outputs.push_back(of_rank[i]);
    result.insert(result.end(), task.outputs.begin(), task.outputs.end());
    tasks.push_back(std::move(task));
  }
  return submit(OpType::ALLGATHER_COALESCED, std::move(tasks), opts, std::move(result));
}
WorkPtr EngineBackend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                       const AllgatherOptions& opts) {
  TORCH_CHECK(outputs.size() == inputs.size(), "c10d::allgather_into_tensor_coalesced: as many outputs as inputs (",
              inputs.size(), ") are wanted; got ", outputs.size());
  std::vector<Task> tasks;
  for (size_t i = 0; i < inputs.size(); ++i) tasks.push_back({Collective::AllGather, {inputs[i]}, {outputs[i]}});
  return submit(OpType::COALESCED, std::move(tasks), opts, outputs);
}

WorkPtr EngineBackend::gather(std::vector<Tensors>& outputs, Tensors& inputs, const GatherOptions& opts) {
  check_root("gather", opts.rootRank, size_);
  check_one_list("gather", inputs, outputs, rank_ == opts.rootRank, size_);
  Tensors all = outputs.empty() ? Tensors() : outputs[0];
  Task task{Collective::Gather, plain(inputs), plain(all)};
  task.root = static_cast<int>(opts.rootRank);
  return submit(OpType::GATHER, {std::move(task)}, opts, std::move(all));
}
WorkPtr EngineBackend::scatter(Tensors& outputs, std::vector<Tensors>& inputs, const ScatterOptions& opts) {
  check_root("scatter", opts.rootRank, size_);
  check_one_list("scatter", outputs, inputs, rank_ == opts.rootRank, size_);
  Task task{Collective::Scatter, inputs.empty() ? plain({}) : plain(inputs[0]), plain(outputs)};
  task.root = static_cast<int>(opts.rootRank);
  return submit(OpType::SCATTER, {std::move(task)}, opts, outputs);
}
WorkPtr EngineBackend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                      const ReduceScatterOptions& opts) {
  TORCH_CHECK(outputs.size() == inputs.size(), "c10d::reduce_scatter: as many outputs as lists of inputs (",
              inputs.size(), ") are wanted; got ", outputs.size());
  std::vector<Task> tasks;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensors own = inputs[i];
    if (opts.reduceOp == ReduceOp::PREMUL_SUM)
      for (at::Tensor& tensor : own) tensor = tensor.clone();
    const ReduceKind kind = kind_of(opts.reduceOp, own);
    tasks.push_back({Collective::ReduceScatter, plain(own), {outputs[i]}, kind});
  }
  return submit(OpType::REDUCE_SCATTER, std::move(tasks), opts, outputs);
}
WorkPtr EngineBackend::_reduce_scatter_base(at::Tensor& output, at::Tensor& input, const ReduceScatterOptions& opts) {
  Tensors outputs{output}, inputs{input};
  return reduce_scatter_tensor_coalesced(outputs, inputs, opts);
}
WorkPtr EngineBackend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                       const ReduceScatterOptions& opts) {
  std::vector<Tensors> lists;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TORCH_CHECK_VALUE(i >= outputs.size() || (outputs[i].scalar_type() == inputs[i].scalar_type() &&
                                              inputs[i].numel() == outputs[i].numel() * size_),
                      "c10d::_reduce_scatter_base: the input is wanted as ", size_, " times the output of ",
                      outputs[i].numel(), " elements; got ", inputs[i].numel());
    lists.push_back({inputs[i]});
  }
  return reduce_scatter(outputs, lists, opts);
}

WorkPtr EngineBackend::alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts) {
  return submit(OpType::ALLTOALL, {{Collective::AllToAll, plain(inputs), plain(outputs)}}, opts, outputs);
}
WorkPtr EngineBackend::alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_split_sizes,
                                     std::vector<int64_t>& input_split_sizes, const AllToAllOptions& opts) {
  Task task{Collective::AllToAll, parts(input, input_split_sizes, size_), parts(output, output_split_sizes, size_)};
  return submit(OpType::ALLTOALL_BASE, {std::move(task)}, opts, {output});
}
WorkPtr EngineBackend::barrier(const BarrierOptions& opts) {
  return submit(OpType::BARRIER, {{Collective::Barrier, {}, {}}}, opts, {});
}

WorkPtr EngineBackend::message(OpType type, Collective what, Tensors& tensors, int peer, int tag) {
  TORCH_CHECK(tensors.size() == 1, "c10d::", opTypeToString(type), ": one tensor is wanted; got ", tensors.size());
  TORCH_CHECK_VALUE(tag >= 0, "c10d::", opTypeToString(type), ": a tag of 0 or more is wanted; got ", tag);
  Task task{what, {}, {}};
  (what == Collective::Send ? task.inputs : task.outputs) = plain(tensors);
  task.root = peer;
  task.tag = tag;
  std::vector<Task> tasks;
  tasks.push_back(std::move(task));
  return c10::make_intrusive<EngineWork>(rank_, type, engine_->submit(std::move(tasks), timeout_, true), tensors);
}
WorkPtr EngineBackend::send(Tensors& tensors, int dstRank, int tag) {
  return message(OpType::SEND, Collective::Send, tensors, dstRank, tag);
}
WorkPtr EngineBackend::recv(Tensors& tensors, int srcRank, int tag) {
  return message(OpType::RECV, Collective::Receive, tensors, srcRank, tag);
}
WorkPtr EngineBackend::recvAnysource(Tensors& tensors, int tag) {
  return message(OpType::RECVANYSOURCE, Collective::Receive, tensors, -1, tag);
}

// Every rank leaves word at the store and waits for rank 0's, which looks for all.
void ProcessGroupGloo::monitoredBarrier(const BarrierOptions& opts, bool waitAllRanks) {
  using Clock = std::chrono::steady_clock;
  const std::string key = c10::str("monitored/", ++barriers_, "/");
  const auto limit = opts.timeout > kNoTimeout ? opts.timeout : timeout_;
  std::string absent;
  if (rank_ != 0) {
    store_->set(key + std::to_string(rank_), std::string());
    store_->wait({key + "absent"}, limit + std::chrono::seconds(5));
    absent = store_->get_to_str(key + "absent");
  } else {
    for (auto [rank, end] = std::pair(1, Clock::now() + limit); rank < size_; ++rank) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      try {
        store_->wait({key + std::to_string(rank)}, std::max(left, std::chrono::milliseconds(1)));
      } catch (const c10::Error& error) {
        if (error.kind() != ::taeda::ErrorKind::DistStore) throw;
        absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
        if (!waitAllRanks) break;
      }
    }
    store_->set(key + "absent", absent);
  }
  TORCH_CHECK(absent.empty(), "c10d::monitoredBarrier: within ", limit.count(), " ms rank ", absent, " did not come");
}

}  // namespace c10d
