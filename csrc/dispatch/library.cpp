#include "taeda/dispatch/library.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>
#include <unordered_map>

#include "taeda/core/fork.h"

namespace taeda {

namespace {

struct NamedFunctionality {
  std::string_view name;
  Functionality functionality;
};
// Per backend: the name is followed by the backend's.
constexpr NamedFunctionality kPerBackend[] = {
    {"Autograd", Functionality::Autograd},     {"Autocast", Functionality::Autocast},
    {"Quantized", Functionality::Quantized},   {"SparseCsr", Functionality::SparseCsr},
    {"Sparse", Functionality::Sparse},         {"NestedTensor", Functionality::Nested},
    {"Memoryless", Functionality::Memoryless}, {"", Functionality::Dense},
};
constexpr NamedFunctionality kOverall[] = {
    {"BackendSelect", Functionality::BackendSelect},
    {"Python", Functionality::Python},
    {"FuncTorchDynamicLayerBackMode", Functionality::TransformBack},
    {"Functionalize", Functionality::Functionalize},
    {"Conjugate", Functionality::Conjugate},
    {"Negative", Functionality::Negative},
    {"ADInplaceOrView", Functionality::ADInplaceOrView},
    {"Tracer", Functionality::Tracer},
    {"FuncTorchBatched", Functionality::Batched},
    {"FuncTorchDynamicLayerFrontMode", Functionality::TransformFront},
    {"PythonTLSSnapshot", Functionality::PythonSnapshot},
    {"Profiler", Functionality::Profiler},
};
struct NamedAlias {
  std::string_view name;
  int slot;
};
constexpr NamedAlias kAliases[] = {
    {"CompositeExplicitAutograd", kCompositeExplicitSlot},
    {"CompositeExplicitAutogradNonFunctional", kCompositeExplicitSlot},
    {"CompositeImplicitAutograd", kCompositeImplicitSlot},
    {"Autograd", kAutogradSlot},
};
constexpr std::string_view kBackends[kDeviceTypes] = {"CPU",  "CUDA",        "XPU",         "MPS",
                                                      "Meta", "PrivateUse1", "PrivateUse2", "PrivateUse3"};

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

int backend_named(std::string_view name) {
  for (int b = 0; b < kDeviceTypes; ++b)
    if (kBackends[b] == name) return b;
  // A backend of one's own may go by the name it gave itself.
  for (int b = static_cast<int>(DeviceType::PrivateUse1); b < kDeviceTypes; ++b)
    if (upper(device_type_name(static_cast<DeviceType>(b))) == upper(std::string(name))) return b;
  return -1;
}

// Who defined each namespace.
struct Namespaces {
  Mutex mutex;
  std::unordered_map<std::string, std::string> owners;
};
Namespaces& namespaces() {
  static Namespaces* instance = new Namespaces;
  return *instance;
}

// "file:line" in two.
std::pair<std::string, int> split_place(const std::string& where) {
  size_t colon = where.rfind(':');
  int line = 0;
  if (colon != std::string::npos) std::from_chars(where.data() + colon + 1, where.data() + where.size(), line);
  return {line ? where.substr(0, colon) : where, line};
}

std::string or_unknown(const std::string& where) { return where.empty() ? "an unnamed place" : where; }

}  // namespace

int parse_dispatch_key(std::string_view name) {
  for (const NamedAlias& alias : kAliases)
    if (alias.name == name) return alias.slot;
  for (const NamedFunctionality& overall : kOverall)
    if (overall.name == name) return slot_of(overall.functionality, DeviceType::CPU);
  for (const NamedFunctionality& prefix : kPerBackend) {
    if (!name.starts_with(prefix.name)) continue;
    int backend = backend_named(name.substr(prefix.name.size()));
    if (backend >= 0) return slot_of(prefix.functionality, static_cast<DeviceType>(backend));
  }
  TAEDA_FAIL(Runtime, "'", name,
             "' is no dispatch key; expected a backend (CPU, CUDA, XPU, MPS, Meta, PrivateUse1 to 3), one "
             "with Autograd, Autocast, Sparse, SparseCsr, Quantized or NestedTensor before it, Autograd, "
             "CompositeImplicitAutograd, CompositeExplicitAutograd, ADInplaceOrView, BackendSelect or Python");
}

std::string dispatch_key_name(int slot_index) {
  for (const NamedAlias& alias : kAliases)
    if (alias.slot == slot_index) return std::string(alias.name);
  for (const NamedFunctionality& overall : kOverall)
    if (slot_of(overall.functionality, DeviceType::CPU) == slot_index) return std::string(overall.name);
  for (const NamedFunctionality& prefix : kPerBackend)
    for (int b = 0; b < kDeviceTypes; ++b)
      if (slot_of(prefix.functionality, static_cast<DeviceType>(b)) == slot_index)
        return str(prefix.name, kBackends[b]);
  TAEDA_FAIL(Runtime, "there is no dispatch slot ", slot_index);
}

std::vector<std::string> dispatch_key_names() {
  std::vector<std::string> names;
  for (const NamedAlias& alias : kAliases) names.emplace_back(alias.name);
  for (const NamedFunctionality& overall : kOverall) names.emplace_back(overall.name);
  for (const NamedFunctionality& prefix : kPerBackend)
    for (std::string_view backend : kBackends) names.push_back(str(prefix.name, backend));
  return names;
}

struct Library::State {
  struct Registration {
    const Op* op;  // null for a fallback
    int slot;
    std::shared_ptr<Kernel> kernel;
    std::shared_ptr<Kernel> replaced;  // comes back when this one goes
  };
  std::string ns;
  Kind kind;
  std::string where;
  std::vector<const Op*> defined;
  std::vector<Registration> registrations;

  void put(const Op& op, int slot, std::shared_ptr<Kernel> kernel, bool replace) {
    std::shared_ptr<Kernel> other = op.kernel_at(slot);
    if (other && !replace)
      TAEDA_FAIL(Runtime, op.qualified_name(), " has a kernel for ", dispatch_key_name(slot), " from ",
                 or_unknown(other->where), " and would get another from ", or_unknown(kernel->where));
    op.set_kernel(slot, kernel);
    registrations.push_back({&op, slot, std::move(kernel), std::move(other)});
  }

  // Kernels of ops that nobody has defined yet, by the op's name: they are registered once somebody does, since the
  // static initialisers of a library run in any order.
  struct Waiting {
    State* owner;
    int slot;
    std::shared_ptr<Kernel> kernel;
    bool replace;
  };
  struct Waitings {
    Mutex mutex;
    std::unordered_map<std::string, std::vector<Waiting>> by_op;
  };
  static Waitings& waitings() {
    static Waitings* instance = new Waitings;
    return *instance;
  }
  static void wait(std::string op, Waiting kernel) {
    Lock lock(waitings().mutex);
    waitings().by_op[std::move(op)].push_back(std::move(kernel));
  }
  static void end_waiting(const Op& op) {
    Lock lock(waitings().mutex);
    auto kernels = waitings().by_op.extract(op.qualified_name());
    if (kernels.empty()) return;
    for (Waiting& kernel : kernels.mapped())
      kernel.owner->put(op, kernel.slot, std::move(kernel.kernel), kernel.replace);
  }
  void forget_waiting() {
    Lock lock(waitings().mutex);
    for (auto& [op, kernels] : waitings().by_op)
      std::erase_if(kernels, [this](const Waiting& kernel) { return kernel.owner == this; });
  }

  ~State() {
    forget_waiting();
    for (size_t i = registrations.size(); i-- > 0;) {
      const Registration& mine = registrations[i];
      if (!mine.op)
        set_fallback(mine.slot, nullptr);
      else if (mine.op->kernel_at(mine.slot) == mine.kernel)  // else another one replaced it meanwhile
        mine.op->set_kernel(mine.slot, mine.replaced);
    }
    for (const Op* op : defined) remove_op(op);
    if (kind != Kind::Def) return;
    Lock lock(namespaces().mutex);
    namespaces().owners.erase(ns);
  }
  std::string full_name(std::string_view name) const {
    if (name.find("::") == std::string_view::npos) return str(ns, "::", name);
    // IMPL libraries may name the namespace again, never another one.
    TAEDA_CHECK(ns == "_" || name.starts_with(ns + "::"), "a library of the namespace '", ns, "' cannot register '",
                name, "'");
    return std::string(name);
  }
};

Library::Library(std::string ns, Kind kind, std::string where) {
  if (kind == Kind::Def) {
    Lock lock(namespaces().mutex);
    auto [owner, fresh] = namespaces().owners.emplace(ns, where);
    TAEDA_CHECK(fresh, "the namespace '", ns, "' is defined at ", or_unknown(owner->second), " and again at ",
                or_unknown(where), "; use a FRAGMENT library to add ops to it");
  }
  state_.reset(new State{std::move(ns), kind, std::move(where), {}, {}});
}
Library::Library(Library&&) noexcept = default;
Library::~Library() = default;

const Op& Library::def(std::string_view text, std::string file, int line) {
  TAEDA_CHECK(state_->kind != Kind::Impl, "an IMPL library cannot define ops; make it DEF or FRAGMENT");
  Schema schema = parse_schema(text);
  bool has_namespace = schema.name.find("::") != std::string::npos;
  schema.name = state_->full_name(schema.name);
  std::string full_text = has_namespace ? std::string(text) : str(state_->ns, "::", text);
  if (file.empty()) std::tie(file, line) = split_place(state_->where);
  if (const Op* other = find_op(schema.name, schema.overload))
    TAEDA_FAIL(Runtime, "the op ", other->qualified_name(), " is defined at ",
               str(other->info().file, ":", static_cast<int>(other->info().line)), " and again at ", file, ":", line);
  // Never freed: handles to an op outlive the library that defined it.
  const Op& op = (new DefinedOp(std::move(schema), std::move(full_text), std::move(file), line))->op();
  add_op(&op);
  state_->defined.push_back(&op);
  State::end_waiting(op);
  return op;
}

namespace {
const Op* find_named(const std::string& full) {
  size_t dot = full.find('.', full.find("::"));
  std::string_view overload = dot == std::string::npos ? std::string_view() : std::string_view(full).substr(dot + 1);
  return find_op(full.substr(0, dot), overload);
}
}  // namespace

const Op& Library::find(std::string_view name) const {
  std::string full = state_->full_name(name);
  const Op* op = find_named(full);
  TAEDA_CHECK(op, "there is no op ", full, "; define it before its kernels");
  return *op;
}

void Library::check_arity(std::string_view name, size_t arguments, bool is_void) const {
  const Op& op = find(name);
  TAEDA_CHECK(op.info().param_count == arguments, "a kernel of ", arguments, " parameters cannot serve ",
              op.info().schema);
  TAEDA_CHECK(
      returns_void(op.info()) == is_void, "the kernel of ", op.info().schema,
      returns_void(op.info()) ? " must return void: its results are its arguments" : " must return its results");
}

void Library::impl(std::string_view name, int slot, std::shared_ptr<Kernel> kernel, bool replace) {
  std::string full = state_->full_name(name);
  if (kernel->where.empty()) kernel->where = state_->where;
  if (const Op* op = find_named(full))
    state_->put(*op, slot, std::move(kernel), replace);
  else
    State::wait(std::move(full), {state_.get(), slot, std::move(kernel), replace});
}

void Library::impl(std::string_view name, int slot, BoxedFunction function, std::string where) {
  auto kernel = std::make_shared<Kernel>();
  kernel->boxed = std::move(function);
  kernel->where = std::move(where);
  impl(name, slot, std::move(kernel));
}

void Library::fallthrough(std::string_view name, int slot, std::string where) {
  auto kernel = std::make_shared<Kernel>();
  kernel->fallthrough = true;
  kernel->where = std::move(where);
  impl(name, slot, std::move(kernel));
}

void Library::fallback(int slot, std::shared_ptr<Kernel> kernel) {
  TAEDA_CHECK(slot < kSlots, "a fallback needs a slot of its own; got ", dispatch_key_name(slot));
  if (kernel->where.empty()) kernel->where = state_->where;
  if (std::shared_ptr<Kernel> other = fallback_at(slot))
    TAEDA_FAIL(Runtime, dispatch_key_name(slot), " has a fallback from ", or_unknown(other->where),
               " and would get another from ", or_unknown(kernel->where));
  set_fallback(slot, kernel);
  state_->registrations.push_back({nullptr, slot, std::move(kernel), nullptr});
}

namespace detail {
LibraryInit::LibraryInit(const char* ns, Library::Kind kind, void (*fill)(Library&), const char* file, int line)
    : library(ns, kind, str(file, ":", line)) {
  fill(library);
}
}  // namespace detail

}  // namespace taeda
