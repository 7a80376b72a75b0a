// Groups that ask their backends, and groups by name.
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>

namespace c10d {

namespace {
constexpr const char* kNames[] = {"undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "custom"};
}

std::string ProcessGroup::backendTypeToString(const BackendType& type) {
  TORCH_CHECK_VALUE(type < std::size(kNames), "c10d::ProcessGroup: there is no kind of backends ", int{type});
  return kNames[type];
}
ProcessGroup::BackendType ProcessGroup::strToBackendType(const std::string& name) {
  for (uint8_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<BackendType>(i);
  return CUSTOM;
}

void ProcessGroup::setBackend(c10::DeviceType device, BackendType type,
                              const std::optional<c10::intrusive_ptr<Backend>>& backend) {
  auto found = by_type_.find(type);
  if (found == by_type_.end() || type == CUSTOM) {
    TORCH_CHECK(backend && *backend, "c10d::ProcessGroup::setBackend: a backend is wanted; the group has none of kind ",
                backendTypeToString(type));
    found = by_type_.emplace(type, *backend).first;
    if (bound_device_id_) (*backend)->setBoundDeviceId(bound_device_id_);
  }
  by_device_[device] = backend && *backend ? *backend : found->second;
  if (backendType_ == UNDEFINED) backendType_ = type;
}
c10::intrusive_ptr<Backend> ProcessGroup::getBackend(c10::DeviceType device) const {
  auto found = by_device_.find(device);
  TORCH_CHECK(found != by_device_.end(), "c10d::ProcessGroup: this group has no backend for ", device);
  return found->second;
}
c10::intrusive_ptr<Backend> ProcessGroup::getBackend(BackendType type) const {
  auto found = by_type_.find(type);
  TORCH_CHECK(found != by_type_.end(), "c10d::ProcessGroup: this group has no backend of kind ",
              backendTypeToString(type));
  return found->second;
}
c10::intrusive_ptr<Backend> ProcessGroup::getDefaultBackend() const { return getBackend(backendType_); }
std::vector<c10::Device> ProcessGroup::getDeviceTypes() const {
  std::vector<c10::Device> devices;
  for (const auto& [device, backend] : by_device_) devices.emplace_back(device);
  return devices;
}

void ProcessGroup::setTimeout(std::chrono::milliseconds timeout) {
  for (const auto& [type, backend] : by_type_) backend->setTimeout(timeout);
}
void ProcessGroup::abort() {
  for (const auto& [type, backend] : by_type_) backend->abort();
}
void ProcessGroup::shutdown() {
  for (const auto& [type, backend] : by_type_) backend->shutdown();
}
void ProcessGroup::setGroupName(const std::string& name) {
  name_ = name;
  for (const auto& [type, backend] : by_type_) backend->setGroupUid(name);
}
void ProcessGroup::setGroupDesc(const std::string& description) {
  pg_desc_ = description;
  for (const auto& [type, backend] : by_type_) backend->setGroupDesc(description);
}

// --- The backend of the first tensor
Backend& ProcessGroup::of(const at::Tensor& tensor) const { return *getBackend(tensor.device().type()); }
Backend& ProcessGroup::of(const Tensors& tensors) const {
  return tensors.empty() ? *getDefaultBackend() : of(tensors[0]);
}
Backend& ProcessGroup::of(const std::vector<Tensors>& lists) const {
  return lists.empty() ? *getDefaultBackend() : of(lists[0]);
}

ProcessGroup::WorkPtr ProcessGroup::broadcast(Tensors& tensors, const BroadcastOptions& opts) {
  return of(tensors).broadcast(tensors, opts);
}
ProcessGroup::WorkPtr ProcessGroup::allreduce(Tensors& tensors, const AllreduceOptions& opts) {
  const bool sparse = !tensors.empty() && tensors[0].is_sparse() && opts.sparseIndices.has_value();
  return sparse ? of(tensors).allreduce_sparse(tensors, opts) : of(tensors).allreduce(tensors, opts);
}
ProcessGroup::WorkPtr ProcessGroup::allreduce_coalesced(Tensors& tensors, const AllreduceCoalescedOptions& opts) {
  return of(tensors).allreduce_coalesced(tensors, opts);
}
ProcessGroup::WorkPtr ProcessGroup::reduce(Tensors& tensors, const ReduceOptions& opts) {
  return of(tensors).reduce(tensors, opts);
}
ProcessGroup::WorkPtr ProcessGroup::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                              const AllgatherOptions& opts) {
  return of(inputs).allgather(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                    const AllgatherOptions& opts) {
  return of(input)._allgather_base(output, input, opts);
}
ProcessGroup::WorkPtr ProcessGroup::allgather_coalesced(std::vector<Tensors>& output_lists, Tensors& inputs,
                                                        const AllgatherOptions& opts) {
  return of(inputs).allgather_coalesced(output_lists, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                    const AllgatherOptions& opts) {
  return of(inputs).allgather_into_tensor_coalesced(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::gather(std::vector<Tensors>& outputs, Tensors& inputs, const GatherOptions& opts) {
  return of(inputs).gather(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                            const ScatterOptions& opts) {
  return of(outputs).scatter(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                                                   const ReduceScatterOptions& opts) {
  return of(outputs).reduce_scatter(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                         const ReduceScatterOptions& opts) {
  return of(input)._reduce_scatter_base(output, input, opts);
}
ProcessGroup::WorkPtr ProcessGroup::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                    const ReduceScatterOptions& opts) {
  return of(inputs).reduce_scatter_tensor_coalesced(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                  std::vector<int64_t>& output_split_sizes,
                                                  std::vector<int64_t>& input_split_sizes,
                                                  const AllToAllOptions& opts) {
  return of(input).alltoall_base(output, input, output_split_sizes, input_split_sizes, opts);
}
ProcessGroup::WorkPtr ProcessGroup::alltoall(Tensors& outputs, Tensors& inputs, const AllToAllOptions& opts) {
  return of(inputs).alltoall(outputs, inputs, opts);
}
ProcessGroup::WorkPtr ProcessGroup::send(Tensors& tensors, int dstRank, int tag) {
  return of(tensors).send(tensors, dstRank, tag);
}
ProcessGroup::WorkPtr ProcessGroup::recv(Tensors& tensors, int srcRank, int tag) {
  return of(tensors).recv(tensors, srcRank, tag);
}
ProcessGroup::WorkPtr ProcessGroup::recvAnysource(Tensors& tensors, int tag) {
  return of(tensors).recvAnysource(tensors, tag);
}
ProcessGroup::WorkPtr ProcessGroup::barrier(const BarrierOptions& opts) {
  return (opts.device ? getBackend(opts.device->type()) : getDefaultBackend())->barrier(opts);
}
void ProcessGroup::monitoredBarrier(const BarrierOptions& opts, bool waitAllRanks) {
  getDefaultBackend()->monitoredBarrier(opts, waitAllRanks);
}

namespace {
struct Registry {
  std::mutex mutex;
  std::map<std::string, c10::intrusive_ptr<ProcessGroup>> groups;
};
Registry& registry() {
  static auto* one = new Registry;
  return *one;
}
}  // namespace

void register_process_group(const std::string& name, const c10::intrusive_ptr<ProcessGroup>& group) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  TORCH_CHECK(registry().groups.emplace(name, group).second, "c10d: there is a process group '", name, "' already");
}
c10::intrusive_ptr<ProcessGroup> resolve_process_group(const std::string& name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  auto found = registry().groups.find(name);
  TORCH_CHECK(found != registry().groups.end(), "c10d: no process group '", name,
              "' was registered by register_process_group");
  return found->second;
}
void unregister_process_group(const std::string& name) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().groups.erase(name);
}
void unregister_all_process_groups() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().groups.clear();
}

}  // namespace c10d
