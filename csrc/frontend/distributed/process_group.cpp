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

Collectives& ProcessGroup::serving(const char*, std::optional<c10::DeviceType> device) {
  return device ? *getBackend(*device) : *getDefaultBackend();
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
