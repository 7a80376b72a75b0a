// What a task is checked for, and how it runs.
#include <algorithm>

#include "distributed/work.h"

namespace taeda::distributed {

namespace {

// One tensor for each rank; a single one stands for equal parts of it.
void check_parts(const std::vector<Tensor>& tensors, int size, const char* which) {
  if (tensors.size() == 1 && size > 1)
    TAEDA_CHECK_VALUE(tensors[0].numel() % size == 0, which, " of sizes ", tensors[0].sizes(),
                      " has no equal part for each of ", size, " ranks");
  else
    TAEDA_CHECK_VALUE(static_cast<int>(tensors.size()) == size, which, " needs one tensor for each of ", size,
                      " ranks; got ", uint64_t{tensors.size()});
}

void check_count(const std::vector<Tensor>& tensors, size_t wanted, const char* which) {
  TAEDA_CHECK_VALUE(tensors.size() == wanted, which, " is wanted with ", uint64_t{wanted}, " tensors; got ",
                    uint64_t{tensors.size()});
}

Parts parts_of(const std::vector<Staged>& staged, int size) {
  Parts parts;
  if (staged.size() == 1 && size > 1) {
    Part whole = staged[0].part();
    for (int64_t i = 0; i < size; ++i)
      parts.push_back(whole.slice(whole.count / size * i, whole.count / size * (i + 1)));
    return parts;
  }
  for (const Staged& one : staged) parts.push_back(one.part());
  return parts;
}

void check(const Task& task, int rank, int size) {
  const bool is_root = rank == task.root;
  TAEDA_CHECK_VALUE((task.root >= 0 && task.root < size) || (task.what == Collective::Receive && task.root == kAnyone),
                    "there is no rank ", task.root, " in a group of ", size);
  switch (task.what) {
    case Collective::Broadcast:
    case Collective::AllReduce:
    case Collective::Reduce:
    case Collective::Barrier:
      break;
    case Collective::AllGather:
    case Collective::Gather:
      check_count(task.inputs, 1, "the input");
      if (task.what == Collective::AllGather || is_root) check_parts(task.outputs, size, "the output");
      break;
    case Collective::Scatter:
    case Collective::ReduceScatter:
      check_count(task.outputs, 1, "the output");
      if (task.what == Collective::ReduceScatter || is_root) check_parts(task.inputs, size, "the input");
      break;
    case Collective::AllToAll:
      check_parts(task.inputs, size, "the input");
      check_parts(task.outputs, size, "the output");
      break;
    case Collective::Send:
      check_count(task.inputs, 1, "the input");
      break;
    case Collective::Receive:
      check_count(task.outputs, 1, "the output");
      break;
  }
  if (task.what == Collective::AllReduce || task.what == Collective::Reduce || task.what == Collective::ReduceScatter)
    for (const Tensor& tensor : task.outputs) check_reduction(tensor.dtype(), task.reduction);
}

// Own data and own place must fit in this process; what others send is checked when it comes.
void check_fit(const Part& a, const Part& b) {
  TAEDA_CHECK_VALUE(a.count == b.count && a.dtype == b.dtype, "this rank's input has ", a.count, " elements of ",
                    a.dtype, ", but its place in the output ", b.count, " of ", b.dtype);
}

}  // namespace

ReadyTask::ReadyTask(const Task& task, int rank, int size)
    : what(task.what), reduction(task.reduction), root(task.root), tag(task.tag) {
  check(task, rank, size);
  for (const Tensor& tensor : task.inputs) inputs.emplace_back(tensor, false);
  for (const Tensor& tensor : task.outputs) outputs.emplace_back(tensor, true);
  const size_t own = static_cast<size_t>(rank);
  if (what == Collective::AllGather || (what == Collective::Gather && rank == root))
    check_fit(inputs[0].part(), parts_of(outputs, size)[own]);
  if (what == Collective::ReduceScatter || (what == Collective::Scatter && rank == root))
    check_fit(parts_of(inputs, size)[own], outputs[0].part());
  if (what == Collective::AllToAll) check_fit(parts_of(inputs, size)[own], parts_of(outputs, size)[own]);
}

void ReadyTask::run(Flow& flow) const {
  const bool in_place = what == Collective::Broadcast || what == Collective::AllReduce || what == Collective::Reduce;
  for (const Staged& input : inputs) input.load();
  if (in_place)
    for (const Staged& output : outputs) output.load();
  switch (what) {
    case Collective::Broadcast:
      for (const Staged& output : outputs) broadcast(flow, output.part(), root);
      break;
    case Collective::AllReduce:
      for (const Staged& output : outputs) all_reduce(flow, output.part(), reduction);
      break;
    case Collective::Reduce:
      for (const Staged& output : outputs) reduce(flow, output.part(), reduction, root);
      break;
    case Collective::AllGather:
      all_gather(flow, inputs[0].part(), parts_of(outputs, flow.size()));
      break;
    case Collective::Gather:
      gather(flow, inputs[0].part(), parts_of(outputs, flow.size()), root);
      break;
    case Collective::Scatter:
      scatter(flow, parts_of(inputs, flow.size()), outputs[0].part(), root);
      break;
    case Collective::ReduceScatter:
      reduce_scatter(flow, parts_of(inputs, flow.size()), outputs[0].part(), reduction);
      break;
    case Collective::AllToAll:
      all_to_all(flow, parts_of(inputs, flow.size()), parts_of(outputs, flow.size()));
      break;
    case Collective::Barrier:
      barrier(flow);
      break;
    case Collective::Send:
    case Collective::Receive:
      TAEDA_FAIL(Runtime, name_of(what), " does not go with collectives");
  }
  for (const Staged& output : outputs)
    if (!(what == Collective::Reduce && flow.rank() != root)) output.store();
}

}  // namespace taeda::distributed
