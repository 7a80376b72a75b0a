// Backends, groups and work of C++ as values with methods, by which Python calls them (taeda/distributed/_cpp.py).
#include <torch/csrc/distributed/c10d/boxed.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace c10d::detail {

namespace {

using Tensors = Collectives::Tensors;
using WorkPtr = Collectives::WorkPtr;
using Factor = std::optional<at::Tensor>;
// Options as numbers: root's rank, root's tensor, reduction, timeout in ms, whether to return at once.
using Packed = std::vector<int64_t>;

template <class Options>
Options unpacked(const Packed& packed, const Factor& factor = std::nullopt) {
  Options opts;
  if constexpr (requires { opts.rootRank; }) opts.rootRank = packed.at(0);
  if constexpr (requires { opts.rootTensor; }) opts.rootTensor = packed.at(1);
  if constexpr (requires { opts.reduceOp; })
    opts.reduceOp = factor ? makePreMulSum(*factor) : ReduceOp(static_cast<ReduceOp::RedOpType>(packed.at(2)), nullptr);
  opts.timeout = std::chrono::milliseconds(packed.at(3));
  opts.asyncOp = packed.at(4) != 0;
  return opts;
}

// A collective of one argument, of two, or of four, and its options.
template <class T, class A, class Options>
void put(torch::class_<T>& type, const char* name, WorkPtr (Collectives::*run)(A&, const Options&)) {
  type.def(name, [run](c10::intrusive_ptr<T> self, A a, Packed packed, Factor factor) {
    return ((*self).*run)(a, unpacked<Options>(packed, factor));
  });
}
template <class T, class A, class B, class Options>
void put(torch::class_<T>& type, const char* name, WorkPtr (Collectives::*run)(A&, B&, const Options&)) {
  type.def(name, [run](c10::intrusive_ptr<T> self, A a, B b, Packed packed, Factor factor) {
    return ((*self).*run)(a, b, unpacked<Options>(packed, factor));
  });
}
template <class T, class A, class B, class C, class E, class Options>
void put(torch::class_<T>& type, const char* name, WorkPtr (Collectives::*run)(A&, B&, C&, E&, const Options&)) {
  type.def(name, [run](c10::intrusive_ptr<T> self, A a, B b, C c, E d, Packed packed, Factor factor) {
    return ((*self).*run)(a, b, c, d, unpacked<Options>(packed, factor));
  });
}

// What backends and groups both have.
template <class T>
void put_calls(torch::class_<T>& type) {
  using Self = c10::intrusive_ptr<T>;
#define TAEDA_PUT(name) put(type, #name, &Collectives::name)
  TAEDA_PUT(broadcast);
  TAEDA_PUT(allreduce);
  TAEDA_PUT(allreduce_coalesced);
  TAEDA_PUT(reduce);
  TAEDA_PUT(allgather);
  TAEDA_PUT(_allgather_base);
  TAEDA_PUT(allgather_coalesced);
  TAEDA_PUT(allgather_into_tensor_coalesced);
  TAEDA_PUT(gather);
  TAEDA_PUT(scatter);
  TAEDA_PUT(reduce_scatter);
  TAEDA_PUT(_reduce_scatter_base);
  TAEDA_PUT(reduce_scatter_tensor_coalesced);
  TAEDA_PUT(alltoall_base);
  TAEDA_PUT(alltoall);
#undef TAEDA_PUT
  type.def("barrier", [](Self self, std::vector<int64_t> device_ids, std::optional<at::Device> device, Packed packed) {
    BarrierOptions opts = unpacked<BarrierOptions>(packed);
    opts.device_ids = std::move(device_ids);
    opts.device = device;
    return self->barrier(opts);
  });
  type.def("send", [](Self self, Tensors tensors, int64_t to, int64_t tag) {
    return self->send(tensors, static_cast<int>(to), static_cast<int>(tag));
  });
  type.def("recv", [](Self self, Tensors tensors, int64_t from, int64_t tag) {
    return self->recv(tensors, static_cast<int>(from), static_cast<int>(tag));
  });
  type.def("recv_anysource",
           [](Self self, Tensors tensors, int64_t tag) { return self->recvAnysource(tensors, static_cast<int>(tag)); });
  type.def("monitored_barrier", [](Self self, int64_t timeout, bool wait_all_ranks) {
    BarrierOptions opts;
    opts.timeout = std::chrono::milliseconds(timeout);
    self->monitoredBarrier(opts, wait_all_ranks);
  });
  type.def("rank", [](Self self) -> int64_t { return self->getRank(); });
  type.def("size", [](Self self) -> int64_t { return self->getSize(); });
  type.def("name", [](Self self) { return std::string(self->getBackendName()); });
  type.def("set_timeout", [](Self self, int64_t timeout) { self->setTimeout(std::chrono::milliseconds(timeout)); });
  type.def("set_sequence_number", [](Self self) { self->setSequenceNumberForGroup(); });
  type.def("sequence_number", [](Self self) { return static_cast<int64_t>(self->getSequenceNumberForGroup()); });
  type.def("abort", [](Self self) { self->abort(); });
  type.def("shutdown", [](Self self) { self->shutdown(); });
}

void put_work() {
  using Self = c10::intrusive_ptr<Work>;
  torch::class_<Work>("c10d_cpp", "Work")
      .def("wait", [](Self self, int64_t timeout) { return self->wait(std::chrono::milliseconds(timeout)); })
      .def("is_completed", [](Self self) { return self->isCompleted(); })
      .def("is_success", [](Self self) { return self->isSuccess(); })
      .def("raise_error",
           [](Self self) {
             if (auto error = self->exception()) std::rethrow_exception(error);
           })
      .def("source_rank", [](Self self) -> int64_t { return self->sourceRank(); })
      .def("result", [](Self self) { return self->result(); })
      .def("synchronize", [](Self self) { self->synchronize(); })
      .def("abort", [](Self self) { self->abort(); })
      .def("sequence_number", [](Self self) { return static_cast<int64_t>(self->getSequencenumber()); })
      .def("duration", [](Self self) -> double { return self->getDuration(); })
      // The future's value, once it is there.
      .def("future_value", [](Self self) -> c10::IValue {
        auto future = self->getFuture();
        future->waitAndThrow();
        return future->constValue();
      });
}

// Made when the first object of one goes to Python. The names that schemas of collectives have are those of Python's
// groups.
void know_classes() {
  static const bool known = [] {
    put_work();
    torch::class_<Backend> backend("c10d_cpp", "Backend");
    put_calls(backend);
    torch::class_<ProcessGroup> group("c10d_cpp", "ProcessGroup");
    put_calls(group);
    return true;
  }();
  (void)known;
}

}  // namespace

c10::IValue boxed(const c10::intrusive_ptr<Work>& work) {
  know_classes();
  return work;
}
c10::IValue boxed(const c10::intrusive_ptr<Backend>& backend) {
  know_classes();
  return backend;
}
c10::IValue boxed(const c10::intrusive_ptr<ProcessGroup>& group) {
  know_classes();
  return group;
}

}  // namespace c10d::detail
