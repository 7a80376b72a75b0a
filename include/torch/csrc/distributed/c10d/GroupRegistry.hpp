// Groups by name, for kernels that are told a name.
#pragma once
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace c10d {

TORCH_API void register_process_group(const std::string& name, const c10::intrusive_ptr<ProcessGroup>& group);
TORCH_API c10::intrusive_ptr<ProcessGroup> resolve_process_group(const std::string& name);  // RuntimeError without one
TORCH_API void unregister_process_group(const std::string& name);
TORCH_API void unregister_all_process_groups();

}  // namespace c10d
