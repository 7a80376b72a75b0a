// As values that Python holds: objects of classes with methods. None of a null pointer.
#pragma once
#include <ATen/core/ivalue.h>

namespace c10d {
class Backend;
class ProcessGroup;
class Work;

namespace detail {
TORCH_API c10::IValue boxed(const c10::intrusive_ptr<Work>& work);
TORCH_API c10::IValue boxed(const c10::intrusive_ptr<Backend>& backend);
TORCH_API c10::IValue boxed(const c10::intrusive_ptr<ProcessGroup>& group);
}  // namespace detail
}  // namespace c10d
