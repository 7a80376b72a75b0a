// Futures, stores, work and process groups from C++; the ranks are threads.
#include <torch/torch.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "../test_main.h"

using namespace c10d;
using c10::ivalue::Future;
using Tensors = std::vector<at::Tensor>;
using std::chrono::milliseconds;

namespace {

// `body(rank, backend)` in a thread for each rank; the first error of any is raised.
void in_ranks(int size, const std::function<void(int, EngineBackend&)>& body) {
  static int groups = 0;
  const std::string key = c10::str("cpp-test/", groups++);
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        EngineBackend backend(taeda::distributed::make_thread_group(key, rank, size), milliseconds(20000));
        body(rank, backend);
      } catch (...) {
        errors[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

// A store of a program's own: the least that one must have.
class OwnStore : public Store {
 public:
  c10::intrusive_ptr<Store> clone() override { return c10::intrusive_ptr<Store>::reclaim_copy(this); }
  using Store::set;
  void set(const std::string& key, const Bytes& value) override { values[key] = value; }
  using Store::compareSet;
  Bytes compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) override {
    auto found = values.find(key);
    if (found == values.end() ? expected.empty() : found->second == expected) return values[key] = desired;
    return found == values.end() ? expected : found->second;
  }
  Bytes get(const std::string& key) override { return values.at(key); }
  int64_t add(const std::string& key, int64_t by) override {
    const std::string sum = std::to_string((values.contains(key) ? std::stoll(get_to_str(key)) : 0) + by);
    set(key, sum);
    return std::stoll(sum);
  }
  bool deleteKey(const std::string& key) override { return values.erase(key) == 1; }
  bool check(const Keys& keys) override {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return values.contains(key); });
  }
  int64_t getNumKeys() override { return static_cast<int64_t>(values.size()); }
  void wait(const Keys& keys) override { wait(keys, timeout_); }
  void wait(const Keys& keys, const milliseconds&) override {
    if (!check(keys)) throw c10::DistStoreError("not there");
  }
  std::map<std::string, Bytes> values;
};

void use(Store& store) {
  store.set("a", "1");
  CHECK(store.get_to_str("a") == "1" && store.check({"a"}) && !store.check({"a", "b"}));
  CHECK(store.add("n", 2) == 2 && store.add("n", 3) == 5);
  CHECK(store.compareSet("a", "2", "3") == "1" && store.compareSet("a", "1", "3") == "3");
  store.append("a", {'4'});
  store.append("new", {'4'});
  store.multiSet({"x", "y"}, {{'1'}, {'2'}});
  CHECK(store.get_to_str("a") == "34" && store.get_to_str("new") == "4");
  CHECK(store.multiGet({"y", "x"}) == std::vector<Store::Bytes>{{'2'}, {'1'}});
  CHECK(store.deleteKey("y") && !store.deleteKey("y"));
  store.barrier("all", 1);
  StoreTimeoutGuard guard(store, milliseconds(20));
  CHECK_ERROR(store.wait({"missing"}, milliseconds(20)), DistStore, "");
  CHECK_ERROR(store.multiSet({"x"}, {}), Value, "1 keys and 0 values");
}

}  // namespace

TEST(futures) {
  auto future = c10::make_intrusive<Future>(c10::IntType::get());
  int seen = 0;
  future->addCallback([&](Future& self) { seen = static_cast<int>(self.constValue().toInt()); });
  auto twice = future->then([](Future& self) { return self.value().toInt() * 2; }, c10::IntType::get());
  auto later = twice->thenAsync(
      [](Future& self) {
        auto inner = c10::make_intrusive<Future>(c10::IntType::get());
        inner->markCompleted(self.value().toInt() + 1);
        return inner;
      },
      c10::IntType::get());
  CHECK(!future->completed() && !later->hasValue() && !future->hasError());
  CHECK_ERROR(future->value(), Runtime, "not done");
  std::thread other([&] { future->markCompleted(4); });
  later->waitAndThrow();
  other.join();
  CHECK(seen == 4 && later->value().toInt() == 9 && *later->elementType() == *c10::IntType::get());
  CHECK_ERROR(future->markCompleted(5), Runtime, "done already");

  auto failing = twice->then([](Future&) -> c10::IValue { TORCH_CHECK_VALUE(false, "no luck"); }, c10::IntType::get());
  CHECK(failing->hasError() && failing->tryRetrieveErrorMessage().find("no luck") != std::string::npos);
  CHECK_ERROR(failing->waitAndThrow(), Value, "no luck");
  auto after = failing->thenAsync([&](Future&) { return failing; }, c10::IntType::get());
  CHECK_ERROR(after->value(), Value, "no luck");

  auto open_work = Work::create_from_future(c10::make_intrusive<Future>(c10::ListType::ofTensors()));
  CHECK(!open_work->isCompleted());
  CHECK_ERROR(open_work->wait(milliseconds(5)), Runtime, "within 5 ms");
  open_work->getFuture()->markCompleted(Tensors{torch::ones(1)});
  CHECK(open_work->wait() && open_work->isSuccess() && open_work->result().size() == 1);
  CHECK_ERROR(Work::create_from_future(failing)->wait(), Value, "no luck");

  c10::IValue boxed = future;
  CHECK(boxed.isFuture() && boxed.toFuture() == future && !c10::IValue(3).isFuture());
  c10::List<c10::intrusive_ptr<Future>> many({future, twice});
  CHECK(c10::collectAll(many)->value().toList().size() == 2 && c10::collectAny(many)->value().toInt() == 4);
  auto open = c10::make_intrusive<Future>(c10::IntType::get());
  many.push_back(open);
  auto all = c10::collectAll(many);
  CHECK(!all->completed());
  open->setError(std::make_exception_ptr(c10::IndexError("gone")));
  CHECK_ERROR(all->value(), Index, "gone");
}

TEST(stores) {
  HashStore hash;
  use(hash);
  hash.queuePush("q", {'1'});
  CHECK(hash.queueLen("q") == 1 && hash.queuePop("q", true) == Store::Bytes{'1'} && hash.hasExtendedApi());
  CHECK_ERROR(hash.queuePop("q", false), QueueEmpty, "");
  const std::filesystem::path file = std::filesystem::temp_directory_path() / c10::str("taeda-store-", getpid());
  {
    FileStore store(file.string(), 1);
    use(store);
    CHECK(store.getPath() == file.string());
  }
  CHECK(!std::filesystem::exists(file));
  TCPStoreOptions options;
  options.port = 0;
  options.isServer = true;
  TCPStore server("127.0.0.1", options);
  use(server);
  options.isServer = false;
  options.port = server.getPort();
  TCPStore client("127.0.0.1", options);
  CHECK(client.get_to_str("a") == "34" && client.getHost() == "127.0.0.1");
  CHECK(client.clone()->getNumKeys() == server.getNumKeys());
}

TEST(own_store_under_a_prefix) {
  auto own = c10::make_intrusive<OwnStore>();
  CHECK_ERROR(own->queueLen("q"), NotImplemented, "queueLen");
  use(*own);
  own->values.clear();
  auto prefixed = c10::make_intrusive<PrefixStore>("mine", own);
  use(*prefixed);
  CHECK(own->values.contains("mine/a") && prefixed->getUnderlyingStore() == own);
  PrefixStore deep("deep", prefixed);
  CHECK(deep.getUnderlyingNonPrefixStore() == own && !deep.hasExtendedApi());
  deep.setTimeout(milliseconds(7));
  CHECK(own->getTimeout() == milliseconds(7));
}

TEST(collectives_of_threads) {
  in_ranks(3, [](int rank, EngineBackend& backend) {
    Tensors x{torch::full({4}, rank + 1.0)};
    auto work = backend.allreduce(x);
    CHECK(work->wait() && work->isCompleted() && work->isSuccess() && !work->exception());
    CHECK(x[0].equal(torch::full({4}, 6.0)) && work->result()[0].is_same(x[0]));
    AllreduceOptions scaled;
    scaled.reduceOp = makePreMulSum(0.5);
    auto future = backend.allreduce(x, scaled)->getFuture();
    future->waitAndThrow();
    CHECK(future->value().toTensorVector()[0].equal(torch::full({4}, 9.0)));
    Tensors pair{torch::ones(2), torch::ones(2) * 2};
    backend.allreduce(pair)->wait();
    CHECK(pair[0].equal(torch::full({2}, 9.f)) && pair[1].equal(pair[0]));

    BroadcastOptions from_last;
    from_last.rootRank = 2;
    Tensors y{torch::full({2}, rank)};
    backend.broadcast(y, from_last)->wait();
    CHECK(y[0].equal(torch::full({2}, 2)));
    std::vector<Tensors> gathered{{torch::empty(1), torch::empty(1), torch::empty(1)}};
    Tensors own{torch::full({1}, float(rank))};
    backend.allgather(gathered, own)->wait();
    CHECK(torch::cat(gathered[0]).equal(torch::arange(3.f)));
    at::Tensor whole = torch::empty(3), part = torch::empty(1);
    backend._allgather_base(whole, own[0])->wait();
    backend._reduce_scatter_base(part, whole)->wait();
    CHECK(whole.equal(torch::arange(3.f)) && part.item<float>() == 3.f * rank);
    std::vector<Tensors> of_ranks{{torch::empty(1)}, {torch::empty(1)}, {torch::empty(1)}};
    backend.allgather_coalesced(of_ranks, own)->wait();
    CHECK(of_ranks[1][0].item<float>() == 1 && of_ranks[2][0].item<float>() == 2);
    Tensors wholes{torch::empty(3), torch::empty(6)}, parts{own[0], torch::full({2}, float(rank))};
    backend.allgather_into_tensor_coalesced(wholes, parts)->wait();
    CHECK(wholes[0].equal(whole) && wholes[1].equal(torch::tensor({0.f, 0.f, 1.f, 1.f, 2.f, 2.f})));
    ReduceOptions halves;
    halves.reduceOp = makePreMulSum(torch::tensor(0.5));
    Tensors half{torch::full({2}, 2.f)};
    backend.reduce(half, halves)->wait();
    CHECK(half[0].equal(torch::full({2}, rank == 0 ? 3.f : 2.f)));
    std::vector<Tensors> at_root = rank == 0 ? gathered : std::vector<Tensors>();
    backend.gather(at_root, own)->wait();
    Tensors got{torch::empty(1)};
    backend.scatter(got, at_root)->wait();
    CHECK(got[0].item<float>() == rank);
    ReduceOptions most;
    most.reduceOp = ReduceOp::MAX;
    Tensors largest{torch::full({1}, rank)};
    backend.reduce(largest, most)->wait();
    CHECK(rank != 0 || largest[0].item<int>() == 2);

    at::Tensor out = torch::empty({3, 1}), in = torch::arange(3.f).view({3, 1}) + 10 * rank;
    std::vector<int64_t> equal, uneven{1, 1, 1};
    backend.alltoall_base(out, in, equal, uneven)->wait();
    CHECK(out.flatten().equal(torch::tensor({0.f, 10.f, 20.f}) + rank));
    Tensors message{torch::full({1}, rank)};
    if (rank == 1) backend.send(message, 0, 5)->wait();
    if (rank == 0) {
      auto received = backend.recvAnysource(message, 5);
      received->wait();
      CHECK(received->sourceRank() == 1 && message[0].item<int>() == 1);
    }
    backend.barrier()->wait();
    CHECK(backend.getSequenceNumberForGroup() > 8 && backend.getBackendName() == "gloo");
    CHECK_ERROR(backend.allgather(gathered, pair), Runtime, "one tensor is wanted and one list of 3");
    CHECK_ERROR(backend.broadcast(pair, BroadcastOptions{5}), Runtime, "no root 5 among 3");
    CHECK_ERROR(backend.monitoredBarrier({}), Runtime, "has no monitoredBarrier");
    Tensors none;
    CHECK_ERROR(backend.allreduce(none), Runtime, "at least one tensor");
  });
}

TEST(groups_and_their_names) {
  in_ranks(1, [](int, EngineBackend&) {
    auto group = c10::make_intrusive<ProcessGroup>(c10::make_intrusive<HashStore>(), 0, 1);
    Tensors x{torch::ones(2)};
    CHECK_ERROR(group->allreduce(x), Runtime, "no backend for cpu");
    auto backend = c10::make_intrusive<EngineBackend>(taeda::distributed::make_thread_group("named", 0, 1));
    group->setBackend(torch::kCPU, ProcessGroup::GLOO, backend);
    group->setGroupName("world");
    CHECK(group->allreduce(x)->wait() && group->barrier()->wait() && group->getBackendName() == "gloo");
    CHECK(group->getBackend(torch::kCPU) == backend && group->getDeviceTypes().size() == 1);
    CHECK(backend->getGroupUid() == "world" && ProcessGroup::strToBackendType("ccl") == ProcessGroup::CUSTOM);
    register_process_group("world", group);
    CHECK(resolve_process_group("world") == group);
    CHECK_ERROR(register_process_group("world", group), Runtime, "already");
    unregister_process_group("world");
    CHECK_ERROR(resolve_process_group("world"), Runtime, "no process group 'world'");
  });
  ProcessGroupGloo alone(c10::make_intrusive<HashStore>(), 0, 1);
  Tensors x{torch::ones(2)};
  CHECK(alone.allreduce(x)->wait() && alone.getOptions()->threads == 2);
  CHECK(opTypeToString(OpType::_ALLREDUCE_SPARSE) == "_ALLREDUCE_SPARSE" &&
        opTypeToString(OpType::UNKNOWN) == "UNKNOWN");
  CHECK(isP2POp(OpType::RECV) && !isP2POp(OpType::RECV, true) && !isP2POp(OpType::BARRIER));
  std::vector<int64_t> lengths(2), offsets(2);
  CHECK(computeLengthsAndOffsets({1, 2}, torch::empty({3, 2}), &lengths, &offsets) == 6);
  CHECK(offsets == std::vector<int64_t>{0, 2});
}
