// Classes that are found by name: makers that files put down when the program starts.
//
//   C10_DECLARE_REGISTRY(Shapes, Shape, int);   in the header: makers of Shapes from an int
//   C10_DEFINE_REGISTRY(Shapes, Shape, int);    in one source file
//   C10_REGISTER_CLASS(Shapes, circle, Circle); in the file of Circle
//   std::unique_ptr<Shape> made = Shapes()->Create("circle", 3);
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <c10/util/Exception.h>

namespace c10 {

// Of two makers of one name the one of the higher rank stays; two of one rank are an error.
enum RegistryPriority { REGISTRY_FALLBACK = 1, REGISTRY_DEFAULT = 2, REGISTRY_PREFERRED = 3 };

template <class Key, class Pointer, class... Args>
class Registry {
 public:
  using Creator = std::function<Pointer(Args...)>;

  void Register(const Key& key, Creator creator, RegistryPriority priority = REGISTRY_DEFAULT) {
    std::lock_guard guard(mutex_);
    auto [found, is_new] = entries_.try_emplace(key, Entry{creator, priority, ""});
    if (is_new || found->second.priority > priority) return;
    if (found->second.priority == priority) throw std::runtime_error(str("Registry: '", key, "' has a maker already"));
    found->second = {std::move(creator), priority, ""};
  }
  void Register(const Key& key, Creator creator, const std::string& help,
                RegistryPriority priority = REGISTRY_DEFAULT) {
    Register(key, std::move(creator), priority);
    entries_[key].help = help;
  }
  bool Has(const Key& key) const { return entries_.count(key) != 0; }
  // Null where the name is not known.
  Pointer Create(const Key& key, Args... args) {
    auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.creator(args...);
  }
  std::vector<Key> Keys() const {
    std::vector<Key> keys;
    for (const auto& [key, entry] : entries_) keys.push_back(key);
    return keys;
  }
  const char* HelpMessage(const Key& key) const {
    auto found = entries_.find(key);
    return found == entries_.end() || found->second.help.empty() ? nullptr : found->second.help.c_str();
  }
  void SetTerminate(bool) {}  // a second maker of a name is a std::runtime_error; it never ends the process

 private:
  struct Entry {
    Creator creator;
    RegistryPriority priority;
    std::string help;
  };
  std::unordered_map<Key, Entry> entries_;
  std::mutex mutex_;
};

template <class Key, class Pointer, class... Args>
struct Registerer {
  using Creator = typename Registry<Key, Pointer, Args...>::Creator;
  Registerer(const Key& key, Registry<Key, Pointer, Args...>* registry, Creator creator, const std::string& help = "") {
    registry->Register(key, std::move(creator), help);
  }
  Registerer(const Key& key, RegistryPriority priority, Registry<Key, Pointer, Args...>* registry, Creator creator,
             const std::string& help = "") {
    registry->Register(key, std::move(creator), help, priority);
  }
  template <class Made>
  static Pointer DefaultCreator(Args... args) {
    return Pointer(new Made(args...));
  }
};

}  // namespace c10

#define TAEDA_JOIN_(a, b) a##b
#define TAEDA_JOIN(a, b) TAEDA_JOIN_(a, b)
#define C10_DECLARE_TYPED_REGISTRY(name, key_type, object, pointer, ...)                   \
  TORCH_API ::c10::Registry<key_type, pointer<object> __VA_OPT__(, ) __VA_ARGS__>* name(); \
  using Registerer##name = ::c10::Registerer<key_type, pointer<object> __VA_OPT__(, ) __VA_ARGS__>
#define C10_DEFINE_TYPED_REGISTRY(name, key_type, object, pointer, ...)                              \
  ::c10::Registry<key_type, pointer<object> __VA_OPT__(, ) __VA_ARGS__>* name() {                    \
    static auto* made = new ::c10::Registry<key_type, pointer<object> __VA_OPT__(, ) __VA_ARGS__>(); \
    return made;                                                                                     \
  }                                                                                                  \
  static_assert(true)
#define C10_REGISTER_TYPED_CREATOR(name, key, ...) \
  static Registerer##name TAEDA_JOIN(made_by_##name, __COUNTER__)(key, name(), ##__VA_ARGS__)
#define C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(name, key, priority, ...) \
  static Registerer##name TAEDA_JOIN(made_by_##name, __COUNTER__)(key, priority, name(), ##__VA_ARGS__)
#define C10_REGISTER_TYPED_CLASS(name, key, ...) \
  C10_REGISTER_TYPED_CREATOR(name, key, Registerer##name::DefaultCreator<__VA_ARGS__>)
#define C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(name, key, priority, ...) \
  C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(name, key, priority, Registerer##name::DefaultCreator<__VA_ARGS__>)

#define TORCH_DECLARE_REGISTRY C10_DECLARE_REGISTRY
#define C10_DECLARE_REGISTRY(name, object, ...) \
  C10_DECLARE_TYPED_REGISTRY(name, std::string, object, std::unique_ptr, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY(name, object, ...) \
  C10_DEFINE_TYPED_REGISTRY(name, std::string, object, std::unique_ptr, ##__VA_ARGS__)
#define C10_DEFINE_REGISTRY_WITHOUT_WARNING C10_DEFINE_REGISTRY
#define C10_DECLARE_SHARED_REGISTRY(name, object, ...) \
  C10_DECLARE_TYPED_REGISTRY(name, std::string, object, std::shared_ptr, ##__VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY(name, object, ...) \
  C10_DEFINE_TYPED_REGISTRY(name, std::string, object, std::shared_ptr, ##__VA_ARGS__)
#define C10_DEFINE_SHARED_REGISTRY_WITHOUT_WARNING C10_DEFINE_SHARED_REGISTRY
#define C10_REGISTER_CREATOR(name, key, ...) C10_REGISTER_TYPED_CREATOR(name, #key, __VA_ARGS__)
#define C10_REGISTER_CREATOR_WITH_PRIORITY(name, key, priority, ...) \
  C10_REGISTER_TYPED_CREATOR_WITH_PRIORITY(name, #key, priority, __VA_ARGS__)
#define C10_REGISTER_CLASS(name, key, ...) C10_REGISTER_TYPED_CLASS(name, #key, __VA_ARGS__)
#define C10_REGISTER_CLASS_WITH_PRIORITY(name, key, priority, ...) \
  C10_REGISTER_TYPED_CLASS_WITH_PRIORITY(name, #key, priority, __VA_ARGS__)
#define TORCH_DECLARE_TYPED_REGISTRY C10_DECLARE_TYPED_REGISTRY
#define TORCH_DECLARE_REGISTRY C10_DECLARE_REGISTRY
#define TORCH_DECLARE_SHARED_REGISTRY C10_DECLARE_SHARED_REGISTRY
