#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace c10d {

using ::taeda::distributed::StoreOp;
using ::taeda::distributed::StoreReply;
using ::taeda::distributed::StoreRequest;

namespace {

std::string text_of(const Store::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
Store::Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::vector<std::string> texts_of(const std::vector<Store::Bytes>& many) {
  std::vector<std::string> texts;
  for (const Store::Bytes& bytes : many) texts.push_back(text_of(bytes));
  return texts;
}
std::vector<Store::Bytes> bytes_of(const std::vector<std::string>& texts) {
  std::vector<Store::Bytes> many;
  for (const std::string& text : texts) many.push_back(bytes_of(text));
  return many;
}

[[noreturn]] void absent(const char* what) {
  throw c10::NotImplementedError(std::string("c10d::Store::") + what + ": this store has no such function");
}

// A store of a program's own, as the library asks it.
class Asked final : public ::taeda::distributed::Store {
 public:
  explicit Asked(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}

  StoreReply run(const StoreRequest& request) override {
    const std::string key = request.keys.empty() ? "" : request.keys[0];
    auto value = [&](size_t i) { return bytes_of(request.values.at(i)); };
    switch (request.op) {
      case StoreOp::Set:
        store_->set(key, value(0));
        return {};
      case StoreOp::Get:
        await(request);
        return {{store_->get_to_str(key)}};
      case StoreOp::Add:
        return {{}, store_->add(key, request.number)};
      case StoreOp::Delete:
        return {{}, store_->deleteKey(key)};
      case StoreOp::Check:
        return {{}, store_->check(request.keys)};
      case StoreOp::Wait:
        store_->wait(request.keys, request.timeout);
        return {};
      case StoreOp::CompareSet:
        return {{text_of(store_->compareSet(key, value(0), value(1)))}};
      case StoreOp::Append:
        store_->append(key, value(0));
        return {};
      case StoreOp::MultiGet:
        await(request);
        return {texts_of(store_->multiGet(request.keys))};
      case StoreOp::MultiSet:
        store_->multiSet(request.keys, bytes_of(request.values));
        return {};
      case StoreOp::QueuePush:
        store_->queuePush(key, value(0));
        return {};
      case StoreOp::QueuePop:
        return {{text_of(store_->queuePop(key, request.number != 0))}};
      case StoreOp::QueueLength:
        return {{}, store_->queueLen(key)};
      case StoreOp::KeyCount:
        return {{}, store_->getNumKeys()};
      case StoreOp::ListKeys:
        return {store_->listKeys()};
      case StoreOp::Testament:  // nobody sees its processes end
        return {};
    }
    absent("run");
  }
  ::taeda::Ref<::taeda::distributed::Store> clone() override { return to_native(store_->clone()); }
  std::string describe() const override { return "a store of a program's own"; }

 private:
  // get() waits as long as the store likes; the library may want less.
  void await(const StoreRequest& request) {
    if (request.timeout < store_->getTimeout()) store_->wait(request.keys, request.timeout);
  }
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace

std::string Store::compareSet(const std::string& key, const std::string& expected, const std::string& desired) {
  return text_of(compareSet(key, bytes_of(expected), bytes_of(desired)));
}
Store::Bytes Store::compareSet(const std::string&, const Bytes&, const Bytes&) { absent("compareSet"); }
std::string Store::get_to_str(const std::string& key) { return text_of(get(key)); }
void Store::watchKey(const std::string&, WatchKeyCallback) { absent("watchKey"); }
void Store::queuePush(const std::string&, const Bytes&) { absent("queuePush"); }
Store::Bytes Store::queuePop(const std::string&, bool) { absent("queuePop"); }
int64_t Store::queueLen(const std::string&) { absent("queueLen"); }
Store::Keys Store::listKeys() { absent("listKeys"); }

void Store::append(const std::string& key, const Bytes& value) {
  Bytes before = check({key}) ? get(key) : Bytes();
  while (true) {
    Bytes wanted = before;
    wanted.insert(wanted.end(), value.begin(), value.end());
    Bytes now = compareSet(key, before, wanted);
    if (now == wanted) return;
    before = std::move(now);  // others append too
  }
}
std::vector<Store::Bytes> Store::multiGet(const Keys& keys) {
  std::vector<Bytes> values;
  for (const std::string& key : keys) values.push_back(get(key));
  return values;
}
void Store::multiSet(const Keys& keys, const std::vector<Bytes>& values) {
  TORCH_CHECK_VALUE(keys.size() == values.size(), "c10d::Store::multiSet: as many values as keys are wanted; got ",
                    keys.size(), " keys and ", values.size(), " values");
  for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values[i]);
}
void Store::barrier(const std::string& key, int64_t world_size, const std::chrono::milliseconds& timeout) {
  if (add(key + "/count", 1) == world_size) set(key + "/all", std::string("1"));
  wait({key + "/all"}, timeout);
}

StoreReply NativeStore::run(StoreOp op, Keys keys, std::vector<std::string> values, int64_t number) {
  return native_->run({op, std::move(keys), std::move(values), number, timeout_});
}
c10::intrusive_ptr<Store> NativeStore::clone() { return c10::make_intrusive<NativeStore>(native_->clone(), timeout_); }
void NativeStore::set(const std::string& key, const Bytes& value) { run(StoreOp::Set, {key}, {text_of(value)}); }
Store::Bytes NativeStore::compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) {
  return bytes_of(run(StoreOp::CompareSet, {key}, {text_of(expected), text_of(desired)}).values.at(0));
}
Store::Bytes NativeStore::get(const std::string& key) { return bytes_of(run(StoreOp::Get, {key}).values.at(0)); }
int64_t NativeStore::add(const std::string& key, int64_t value) { return run(StoreOp::Add, {key}, {}, value).number; }
bool NativeStore::deleteKey(const std::string& key) { return run(StoreOp::Delete, {key}).number != 0; }
bool NativeStore::check(const Keys& keys) { return run(StoreOp::Check, keys).number != 0; }
int64_t NativeStore::getNumKeys() { return run(StoreOp::KeyCount, {}).number; }
void NativeStore::wait(const Keys& keys, const std::chrono::milliseconds& timeout) { native_->wait(keys, timeout); }
void NativeStore::append(const std::string& key, const Bytes& value) { run(StoreOp::Append, {key}, {text_of(value)}); }
std::vector<Store::Bytes> NativeStore::multiGet(const Keys& keys) {
  return bytes_of(run(StoreOp::MultiGet, keys).values);
}
void NativeStore::multiSet(const Keys& keys, const std::vector<Bytes>& values) {
  TORCH_CHECK_VALUE(keys.size() == values.size(), "c10d::Store::multiSet: as many values as keys are wanted; got ",
                    keys.size(), " keys and ", values.size(), " values");
  run(StoreOp::MultiSet, keys, texts_of(values));
}
void NativeStore::queuePush(const std::string& key, const Bytes& value) {
  run(StoreOp::QueuePush, {key}, {text_of(value)});
}
Store::Bytes NativeStore::queuePop(const std::string& key, bool block) {
  return bytes_of(run(StoreOp::QueuePop, {key}, {}, block).values.at(0));
}
int64_t NativeStore::queueLen(const std::string& key) { return run(StoreOp::QueueLength, {key}).number; }
Store::Keys NativeStore::listKeys() { return run(StoreOp::ListKeys, {}).values; }

NativeStore::Native to_native(const c10::intrusive_ptr<Store>& store) {
  TORCH_CHECK_VALUE(store, "c10d: a store is wanted; got none");
  if (auto* native = dynamic_cast<NativeStore*>(store.get())) return native->native();
  return ::taeda::make_ref<Asked>(store);
}

TCPStore::TCPStore(std::string host, const TCPStoreOptions& options)
    : TCPStore(host, options,
               ::taeda::distributed::make_tcp_store(
                   {host, options.port, options.numWorkers ? static_cast<int64_t>(*options.numWorkers) : -1,
                    options.isServer, options.waitWorkers, options.multiTenant, options.masterListenFd.value_or(-1),
                    options.timeout})) {}
TCPStore::TCPStore(std::string host, const TCPStoreOptions& options, ::taeda::distributed::TcpStore made)
    : NativeStore(std::move(made.store), options.timeout),
      host_(std::move(host)),
      port_(static_cast<uint16_t>(made.port)) {}

PrefixStore::PrefixStore(std::string prefix, c10::intrusive_ptr<Store> store)
    : NativeStore(::taeda::distributed::make_prefix_store(prefix, to_native(store)), store->getTimeout()),
      prefix_(std::move(prefix)),
      store_(std::move(store)) {}
c10::intrusive_ptr<Store> PrefixStore::clone() { return c10::make_intrusive<PrefixStore>(prefix_, store_->clone()); }
void PrefixStore::setTimeout(const std::chrono::milliseconds& timeout) {
  timeout_ = timeout;
  store_->setTimeout(timeout);
}
c10::intrusive_ptr<Store> PrefixStore::getUnderlyingNonPrefixStore() {
  auto* inner = dynamic_cast<PrefixStore*>(store_.get());
  return inner ? inner->getUnderlyingNonPrefixStore() : store_;
}

}  // namespace c10d
