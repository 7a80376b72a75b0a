// Ops that a library defines through the stable interface, and calls of ops by their names.
#include <taeda/dispatch/library.h>
#include <torch/custom_class.h>

#include "frontend/stable/values.h"

struct TorchLibraryOpaque {
  std::string file;
  int line;
  int slot;  // of the kernels
  std::optional<taeda::Library> library;
};

namespace taeda::stable {

namespace {

using Kernel = void (*)(StableIValue* stack, uint64_t num_args, uint64_t num_outputs);

// What an op takes and gives, read from its schema once.
struct Types {
  std::vector<TypePtr> arguments, results;
};
Types types_of(const Op& op) {
  Schema schema = parse_schema(op.info().schema);
  Types types;
  for (const SchemaArgument& argument : schema.arguments) types.arguments.push_back(argument.type);
  for (const SchemaArgument& result : schema.returns) types.results.push_back(result.type);
  return types;
}

// Whether a kernel's own error only says that a call of ours failed: then what we said of it comes before.
bool only_tells_of_a_failed_call(const std::string& message) {
  return message.find("API call failed at") != std::string::npos && message.find(last_error()) == std::string::npos;
}

void run_kernel(Kernel kernel, std::vector<StableIValue>& values, const Types& types) {
  last_error().clear();
  try {
    kernel(values.data(), types.arguments.size(), types.results.size());
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    std::string message = error.what();
    if (!last_error().empty() && only_tells_of_a_failed_call(message)) message = last_error() + "\n" + message;
    throw Error(ErrorKind::Runtime, std::move(message));
  }
}

BoxedFunction boxed(Kernel kernel) {
  // Found at the first call: a kernel may be registered before its op is defined.
  auto types = std::make_shared<std::optional<Types>>();
  auto once = std::make_shared<std::once_flag>();
  return [=](const Op& op, KeySet, Stack& stack) {
    std::call_once(*once, [&] { types->emplace(types_of(op)); });
    const auto& [arguments, results] = **types;
    const size_t base = stack.size() - arguments.size();
    std::vector<StableIValue> values(std::max(arguments.size(), results.size()));
    size_t packed = 0;
    try {
      for (; packed < arguments.size(); ++packed) values[packed] = pack(stack[base + packed], arguments[packed]);
    } catch (...) {
      for (size_t i = 0; i < packed; ++i) discard(values[i], arguments[i]);
      throw;
    }
    run_kernel(kernel, values, **types);
    stack.resize(base);
    for (size_t i = 0; i < results.size(); ++i) stack.push_back(unpack(values[i], results[i]));
  };
}

void call(const char* name, const char* overload, StableIValue* values) {
  const Op* op = find_op(name, overload);
  TORCH_CHECK(op, "there is no op ", name, *overload ? "." : "", overload);
  const Types types = types_of(*op);
  Stack stack;
  for (size_t i = 0; i < types.arguments.size(); ++i) stack.push_back(unpack(values[i], types.arguments[i]));
  op->call_boxed(stack);
  for (size_t i = 0; i < types.results.size(); ++i) values[i] = pack(stack[i], types.results[i]);
}

// In a static initialiser an error would end the process: the loader of libraries, where there is one, raises it later.
template <class F>
AOTITorchError while_loading(F&& body) {
  AOTITorchError status = guarded(body);
  if (status != AOTI_TORCH_SUCCESS && torch::detail::keep_load_error(last_error().c_str())) return AOTI_TORCH_SUCCESS;
  return status;
}

AOTITorchError open(Library::Kind kind, const char* ns, const char* key, const char* file, uint32_t line,
                    TorchLibraryHandle* ret) {
  *ret = new TorchLibraryOpaque{file ? file : "", static_cast<int>(line), kCompositeImplicitSlot, std::nullopt};
  return while_loading([&] {
    if (key) (*ret)->slot = parse_dispatch_key(key);
    (*ret)->library.emplace(ns, kind, str(std::string_view((*ret)->file), ":", (*ret)->line));
  });
}

}  // namespace

}  // namespace taeda::stable

using namespace taeda::stable;
using taeda::Library;

extern "C" {

AOTITorchError aoti_torch_library_init_impl(const char* ns, const char* k, const char* file, uint32_t line,
                                            TorchLibraryHandle* ret) {
  return open(Library::Kind::Impl, ns, k, file, line, ret);
}
AOTITorchError aoti_torch_library_init_def(const char* ns, const char* file, uint32_t line, TorchLibraryHandle* ret) {
  return open(Library::Kind::Def, ns, nullptr, file, line, ret);
}
AOTITorchError aoti_torch_library_init_fragment(const char* ns, const char* file, uint32_t line,
                                                TorchLibraryHandle* ret) {
  return open(Library::Kind::Fragment, ns, nullptr, file, line, ret);
}
AOTITorchError aoti_torch_library_def(TorchLibraryHandle self, const char* schema) {
  return while_loading([&] {
    if (self->library) self->library->def(schema, self->file, self->line);
  });
}
AOTITorchError torch_library_def_with_tags(TorchLibraryHandle self, const char* schema, const int32_t*, int32_t) {
  return aoti_torch_library_def(self, schema);
}
AOTITorchError torch_library_set_python_module(TorchLibraryHandle, const char*, const char*) {
  return AOTI_TORCH_SUCCESS;  // of interest to exporters alone
}
AOTITorchError torch_library_impl(TorchLibraryHandle self, const char* name,
                                  void (*fn)(StableIValue*, uint64_t, uint64_t), uint64_t) {
  return while_loading([&] {
    if (self->library) self->library->impl(name, self->slot, boxed(fn));
  });
}
AOTITorchError aoti_torch_library_impl(TorchLibraryHandle self, const char* name,
                                       void (*fn)(StableIValue*, uint64_t, uint64_t)) {
  return torch_library_impl(self, name, fn, TORCH_ABI_VERSION);
}
AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle library) {
  return guarded([&] { delete library; });
}

AOTITorchError torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack, uint64_t) {
  return guarded([&] { call(name, overload, stack); });
}
AOTITorchError aoti_torch_call_dispatcher(const char* name, const char* overload, StableIValue* stack) {
  return torch_call_dispatcher(name, overload, stack, TORCH_ABI_VERSION);
}
}
