// Programs in C++: an archive that taeda.jit.save wrote, loaded and run without Python.
//
//   taeda::jit::Module net = taeda::jit::load("net.pt");
//   taeda::Tensor y = net.run("forward", {x}).to_tensor();
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/dispatch/class_type.h"
#include "taeda/dispatch/collections.h"

namespace taeda::jit {

class TAEDA_API Module {
 public:
  explicit Module(Ref<Instance> object) : object_(std::move(object)) {}

  // Calls a method. Arguments that are left out take their defaults; Failure, with the lines of the program's source,
  // when it fails.
  Value run(std::string_view method, std::vector<Value> arguments) const;
  // A parameter, buffer or other attribute: "head.weight".
  Value attribute(std::string_view path) const;
  void set_attribute(std::string_view path, Value value);
  std::vector<std::string> methods() const;
  // Names and tensors of the module and of those in it.
  std::vector<std::pair<std::string, Tensor>> parameters() const;
  std::vector<std::pair<std::string, Tensor>> buffers() const;
  const Ref<Instance>& object() const { return object_; }
  // The bytes of an archive with the program that it was loaded with and the values that it has now; `folder` is the
  // name that its records stand under, `extra_files` become records in its folder `extra`.
  std::string archive(const std::string& folder = "archive",
                      const std::map<std::string, std::string>& extra_files = {}) const;

 private:
  Ref<Instance> object_;
};

// A class of this name or, where that is taken, of one like it; with no prefix it gets "__torch__". Nobody else's.
TAEDA_API ClassType& new_class(const std::string& name);

// What the class's __getstate__ makes of an object; nothing if it has none, or nothing to make an object of that.
TAEDA_API std::optional<Value> state_of(const Ref<Instance>& object);
// Makes a new object one of that state.
TAEDA_API void set_state(const Ref<Instance>& object, Value state);

// RuntimeError that says what is wrong with a file that is damaged, or holds no instructions (PyTorch's archives:
// `python -m taeda jit compile` adds them).
TAEDA_API Module load(const std::string& path);
// The same of a file's bytes; `what` stands for them in messages.
TAEDA_API Module load_bytes(std::string bytes, const std::string& what);

}  // namespace taeda::jit
