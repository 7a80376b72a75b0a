// A backend of process groups that moves everything through the store at which they met; and calls of Python's groups.
#include <pybind11/chrono.h>
#include <torch/extension.h>

#include <numeric>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace {

using Tensors = std::vector<at::Tensor>;
using c10d::OpType;
using c10d::Store;
using c10d::Work;

class StoreWork : public Work {
 public:
  StoreWork(OpType type, Tensors outputs, std::function<void()> body)
      : Work(-1, type, "store:work"),
        outputs_(std::move(outputs)),
        future_(c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))),
        thread_([this, body = std::move(body)] {
          try {
            body();
            future_->markCompleted(c10::IValue(outputs_));
            finish();
          } catch (...) {
            future_->setError(std::current_exception());
            finish(std::current_exception());
          }
        }) {}
  ~StoreWork() override { thread_.join(); }
  Tensors result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  Tensors outputs_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::thread thread_;
};

class StoreBackend : public c10d::Backend {
 public:
  StoreBackend(const c10::intrusive_ptr<Store>& store, int rank, int size, std::chrono::milliseconds timeout)
      : Backend(rank, size), store_(store->clone()) {
    store_->setTimeout(timeout);
  }
  const std::string getBackendName() const override { return "by_store"; }

  c10::intrusive_ptr<Work> allreduce(Tensors& tensors,
                                     const c10d::AllreduceOptions& opts = c10d::AllreduceOptions()) override {
    c10d::assertSingleElement([](const std::string& what) { throw std::invalid_argument("allreduce: " + what); },
                              tensors);
    at::Tensor tensor = tensors[0];
    double factor = 1;
    if (opts.reduceOp == c10d::ReduceOp::PREMUL_SUM) {
      auto* supplement = dynamic_cast<c10d::PreMulSumSupplement*>(opts.reduceOp.supplement_.get());
      factor = supplement->tensor_factor.item<double>();
    } else {
      TORCH_CHECK_NOT_IMPLEMENTED(opts.reduceOp == c10d::ReduceOp::SUM, "allreduce: by_store sums");
    }
    return work(OpType::ALLREDUCE, tensors, [this, tensor, factor, turn = turn_++] {
      put(turn, tensor);
      at::Tensor sum = at::zeros_like(tensor);
      for (int rank = 0; rank < size_; ++rank) sum += factor * take(turn, rank, tensor);
      tensor.copy_(sum);
    });
  }
  c10::intrusive_ptr<Work> broadcast(Tensors& tensors,
                                     const c10d::BroadcastOptions& opts = c10d::BroadcastOptions()) override {
    at::Tensor tensor = tensors.at(0);
    return work(OpType::BROADCAST, tensors, [this, tensor, turn = turn_++, root = static_cast<int>(opts.rootRank)] {
      if (rank_ == root) put(turn, tensor);
      tensor.copy_(take(turn, root, tensor));
    });
  }
  c10::intrusive_ptr<Work> allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                     const c10d::AllgatherOptions& = c10d::AllgatherOptions()) override {
    return work(OpType::ALLGATHER, outputs.at(0), [this, outputs = outputs[0], input = inputs.at(0), turn = turn_++] {
      put(turn, input);
      for (int rank = 0; rank < size_; ++rank) outputs[static_cast<size_t>(rank)].copy_(take(turn, rank, input));
    });
  }
  c10::intrusive_ptr<Work> alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_sizes,
                                         std::vector<int64_t>& input_sizes,
                                         const c10d::AllToAllOptions& = c10d::AllToAllOptions()) override {
    c10d::checkSplitSizes(input_sizes, input, size_);
    TORCH_CHECK(size_ == 1 && output_sizes == input_sizes, "alltoall_base: of one process");
    output.copy_(input);
    return nullptr;
  }
  c10::intrusive_ptr<Work> barrier(const c10d::BarrierOptions& opts = c10d::BarrierOptions()) override {
    return work(OpType::BARRIER, {}, [this, opts, turn = turn_++] {
      store_->barrier("barrier/" + std::to_string(turn), size_,
                      opts.timeout == c10d::kUnsetTimeout ? store_->getTimeout() : opts.timeout);
    });
  }
  c10::intrusive_ptr<Work> send(Tensors& tensors, int to, int tag) override {
    return work(OpType::SEND, tensors,
                [this, tensor = tensors.at(0), key = message(rank_, to, tag)] { store_->set(key, bytes(tensor)); });
  }
  c10::intrusive_ptr<Work> recv(Tensors& tensors, int from, int tag) override {
    return work(OpType::RECV, tensors,
                [this, tensor = tensors.at(0), key = message(from, rank_, tag)] { tensor.copy_(read(key, tensor)); });
  }

  static c10::intrusive_ptr<c10d::Backend> create(const c10::intrusive_ptr<Store>& store, int rank, int size,
                                                  const std::chrono::duration<float>& timeout) {
    return c10::make_intrusive<StoreBackend>(store, rank, size,
                                             std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  }
  static c10::intrusive_ptr<c10d::Backend> create_extended(const c10d::DistributedBackendOptions& options,
                                                           const py::object&) {
    TORCH_CHECK(options.global_ranks_in_group.size() == static_cast<size_t>(options.group_size));
    return create(options.store, options.group_rank, options.group_size, options.timeout);
  }

 private:
  static c10::intrusive_ptr<Work> work(OpType type, Tensors outputs, std::function<void()> body) {
    return c10::make_intrusive<StoreWork>(type, std::move(outputs), std::move(body));
  }
  static std::string message(int from, int to, int tag) { return c10::str("message/", from, "/", to, "/", tag); }
  static std::vector<uint8_t> bytes(const at::Tensor& tensor) {
    at::Tensor whole = tensor.contiguous();
    auto* begin = static_cast<const uint8_t*>(whole.const_data_ptr());
    return {begin, begin + whole.nbytes()};
  }
  at::Tensor read(const std::string& key, const at::Tensor& like) {
    std::vector<uint8_t> got = store_->get(key);
    TORCH_CHECK(got.size() == like.nbytes(), "by_store: the sizes differ: ", got.size(), " and ", like.nbytes());
    return at::from_blob(got.data(), like.sizes(), like.options()).clone();
  }
  void put(int64_t turn, const at::Tensor& tensor) { store_->set(c10::str(turn, "/", rank_), bytes(tensor)); }
  at::Tensor take(int64_t turn, int rank, const at::Tensor& like) { return read(c10::str(turn, "/", rank), like); }

  c10::intrusive_ptr<Store> store_;
  int64_t turn_ = 0;
};

// A whole group of its own, which counts what it is asked.
class CountedGroup : public c10d::ProcessGroup {
 public:
  using ProcessGroup::ProcessGroup;
  const std::string getBackendName() const override { return "counted"; }
  c10::intrusive_ptr<Work> allreduce(Tensors& tensors, const c10d::AllreduceOptions& = {}) override {
    tensors.at(0).add_(++calls_);
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors());
    future->markCompleted(tensors);
    return Work::create_from_future(future);
  }

 private:
  int64_t calls_ = 0;
};

// What an extension does with a group that Python made.
at::Tensor mean_over(const c10::intrusive_ptr<c10d::ProcessGroup>& group, const at::Tensor& x) {
  Tensors tensors{x.clone()};
  {
    py::gil_scoped_release unlocked;
    group->allreduce(tensors)->wait();
  }
  return tensors[0] / group->getSize();
}

struct Registration {
  // As the tutorials do it: when the library is loaded.
  __attribute__((constructor)) static void run() {
    py::object registered = py::module_::import("taeda.distributed").attr("Backend").attr("register_backend");
    registered("by_store", py::cpp_function(&StoreBackend::create));
    registered("by_store_extended", py::cpp_function(&StoreBackend::create_extended), py::arg("extended_api") = true);
    registered("counted", py::cpp_function([](const c10::intrusive_ptr<Store>& store, int rank, int size, py::object) {
                 return c10::make_intrusive<CountedGroup>(store, rank, size);
               }));
  }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("mean_over", &mean_over);
  m.def("described", [](const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
    return py::make_tuple(group->getRank(), group->getSize(), group->getGroupName(), group->getBackendName(),
                          group->getStore());
  });
  m.def("monitored", [](const c10::intrusive_ptr<Store>& store, int rank, int size, std::vector<int64_t> limits) {
    py::gil_scoped_release unlocked;
    c10d::ProcessGroupGloo group(store, rank, size);
    for (int64_t limit : limits) {
      c10d::BarrierOptions opts;
      opts.timeout = std::chrono::milliseconds(limit);
      group.monitoredBarrier(opts);
    }
  });
  m.def("hash_store", [] { return c10::make_intrusive<c10d::HashStore>(); });
  m.def("backend_name", [](const c10::intrusive_ptr<c10d::Backend>& backend) { return backend->getBackendName(); });
  m.def("wait_for", [](const c10::intrusive_ptr<Work>& work) {
    py::gil_scoped_release unlocked;
    return work->wait();
  });
}
