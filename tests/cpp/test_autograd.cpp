// The backward engine and its parts, over nodes written by hand as the generator would write them.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <thread>

#include "autograd/accumulate.h"
#include "autograd/anomaly.h"
#include "autograd/casting.h"
#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"
#include "test_main.h"

using namespace taeda;
using namespace taeda::autograd;

namespace {

Tensor filled(std::vector<int64_t> sizes, float value) {
  Tensor t = new_tensor(sizes, DType::Float32);
  for (int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = value;
  return t;
}
Tensor leaf(std::vector<int64_t> sizes, float value) {
  Tensor t = filled(std::move(sizes), value);
  set_requires_grad(t, true);
  return t;
}
float first(const Tensor& t) { return t.defined() ? t.data<float>()[0] : NAN; }

// a * b; b may be a row that broadcasts.
Tensor multiplied(const Tensor& a, const Tensor& b) {
  Tensor r = new_tensor(a.sizes(), DType::Float32);
  for (int64_t i = 0; i < a.numel(); ++i) r.data<float>()[i] = a.data<float>()[i] * b.data<float>()[i % b.numel()];
  return r;
}
Tensor mul(const Tensor& a, const Tensor& b);

struct MulNode final : Node {
  SavedTensor a_, b_;
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    if (!grads[0].defined()) return;
    if (needed(0)) grad_inputs[0] = mul(grads[0], b_.unpack(this));
    if (needed(1)) grad_inputs[1] = mul(grads[0], a_.unpack(this));
  }
  std::string_view name() const override { return "MulBackward0"; }
  void release_saved() override { a_.reset(), b_.reset(); }
};

Tensor mul(const Tensor& a, const Tensor& b) {
  if (!recording(a, b)) return multiplied(a, b);
  auto node = make_node<MulNode>();
  collect(*node, a, b);
  node->a_.save(a);
  node->b_.save(b);
  Tensor result = multiplied(a, b);
  set_history(result, *node);
  return result;
}

// exp, which saves its result.
struct ExpNode final : Node {
  SavedTensor result_;
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    grad_inputs[0] = mul(grads[0], result_.unpack(this));
  }
  std::string_view name() const override { return "ExpBackward0"; }
  void release_saved() override { result_.reset(); }
};
void exp_values(const Tensor& t) {
  for (int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = std::exp(t.data<float>()[i]);
}
Tensor exp(const Tensor& a) {
  auto node = make_node<ExpNode>();
  collect(*node, a);
  Tensor result = multiplied(a, filled({1}, 1));
  exp_values(result);
  set_history(result, *node);
  node->result_.save(result, true);
  return result;
}
void exp_in_place(const Tensor& self) {
  bool recorded = recording(self);
  check_inplace(self, recorded);
  Ref<ExpNode> node;
  if (recorded) {
    node = make_node<ExpNode>();
    collect(*node, self);
  }
  exp_values(self);
  bump(self, "exp_");
  if (!recorded) return;
  rebase_history(self, *node);
  node->result_.save(self, true);
}

// Multiplies contiguous memory by b in place.
void mul_in_place(const Tensor& self, const Tensor& b) {
  bool recorded = recording(self, b);
  check_inplace(self, recorded);
  Ref<MulNode> node;
  if (recorded) {
    node = make_node<MulNode>();
    collect(*node, self, b);
    node->a_.save(multiplied(self, filled({1}, 1)));
    node->b_.save(b);
  }
  for (int64_t i = 0; i < self.numel(); ++i) self.data<float>()[i] *= b.data<float>()[i % b.numel()];
  bump(self, "mul_");
  if (recorded) rebase_history(self, *node);
}

// t[begin:end] of a vector.
struct SliceNode final : Node {
  int64_t begin, length, end;
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    Tensor whole = filled({length}, 0);
    for (int64_t i = begin; i < end; ++i) whole.data<float>()[i] = grads[0].data<float>()[i - begin];
    grad_inputs[0] = whole;
  }
  std::string_view name() const override { return "SliceBackward0"; }
};
Tensor slice(const Tensor& t, int64_t begin, int64_t end) {
  int64_t sizes[] = {end - begin}, strides[] = {1};
  Tensor view = as_view(t, new_alias(t, sizes, strides, t.storage_offset() + begin), [] { return Ref<Replay>(); });
  if (recording(t)) {
    auto node = make_node<SliceNode>();
    node->begin = begin, node->length = t.numel(), node->end = end;
    collect(*node, t);
    set_history(view, *node);
  }
  return view;
}

// Runs a function in backward.
struct CallNode final : Node {
  std::function<void()> call;
  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    call();
    grad_inputs[0] = grads[0];
  }
  std::string_view name() const override { return "CallBackward"; }
  bool locks_apply() const override { return false; }
};
Tensor with_call(const Tensor& t, std::function<void()> call) {
  auto node = make_node<CallNode>();
  node->call = std::move(call);
  collect(*node, t);
  Tensor result = detach(t);
  set_history(result, *node);
  return result;
}

void backward(const Tensor& t, BackwardOptions options = {}) {
  Edge root = gradient_edge(t);
  Tensor one = filled({t.sizes().begin(), t.sizes().end()}, 1);
  run_backward({&root, 1}, {&one, 1}, options);
}
std::vector<Tensor> gradients(const Tensor& t, std::vector<Tensor> inputs, BackwardOptions options = {}) {
  options.accumulate = false;
  Edge root = gradient_edge(t);
  Tensor one = filled({t.sizes().begin(), t.sizes().end()}, 1);
  std::vector<Edge> edges;
  for (const Tensor& input : inputs) edges.push_back(gradient_edge(input));
  return run_backward({&root, 1}, {&one, 1}, options, edges);
}
template <class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(product_rule) {
  Tensor a = leaf({2}, 3), b = leaf({2}, 5);
  backward(mul(mul(a, b), a));  // a²b
  CHECK(first(grad(a)) == 30 && first(grad(b)) == 9);
  backward(mul(a, b));
  CHECK(first(grad(a)) == 35 && first(grad(b)) == 12);
}

TEST(broadcast_gradients_are_summed) {
  Tensor a = leaf({4, 2}, 3), b = leaf({2}, 5);
  backward(mul(a, b));
  CHECK(grad(b).numel() == 2 && first(grad(b)) == 12);
}

TEST(second_derivative) {
  Tensor a = leaf({1}, 3);
  Tensor cube = mul(mul(a, a), a);
  Tensor slope = gradients(cube, {a}, {.keep_graph = true, .create_graph = true})[0];
  CHECK(first(slope) == 27 && requires_grad(slope));
  CHECK(first(gradients(slope, {a})[0]) == 18);
}

TEST(second_backward_is_an_error) {
  Tensor a = leaf({1}, 3);
  Tensor b = mul(a, a);
  backward(b, {.keep_graph = true});
  backward(b);
  CHECK(holds(error_of([&] { backward(b); }), "retain_graph=True"));
}

TEST(only_asked_inputs_get_gradients) {
  Tensor a = leaf({1}, 3), b = leaf({1}, 5), unused = leaf({1}, 1);
  Tensor product = mul(a, b);
  auto found = gradients(mul(product, b), {product, a, unused});
  CHECK(first(found[0]) == 5 && first(found[1]) == 25 && !found[2].defined());
  CHECK(!grad(a).defined() && !grad(b).defined());
}

TEST(gradients_never_share_memory) {
  Tensor a = leaf({2}, 1), b = leaf({2}, 1);
  Tensor both = mul(with_call(a, [] {}), filled({2}, 1));
  backward(both);
  backward(mul(with_call(a, [] {}), with_call(b, [] {})));
  CHECK(grad(a).data() != grad(b).data());
}

TEST(accumulators_are_shared_and_weak) {
  Tensor a = leaf({1}, 1);
  CHECK(!find_accumulator(a));
  Tensor b = mul(a, a);
  Ref<Node> one = grad_fn(b)->next_edge(0).function;
  CHECK(one == grad_fn(b)->next_edge(1).function && one == find_accumulator(a));
  one.reset(), b.reset();
  CHECK(!find_accumulator(a));
}

TEST(saved_tensor_notices_writes) {
  Tensor a = leaf({1}, 3), b = filled({1}, 2);
  Tensor product = mul(a, b);
  mul_in_place(b, filled({1}, 2));
  std::string message = error_of([&] { backward(product); });
  CHECK(holds(message, "MulBackward0") && holds(message, "mul_") && holds(message, "version 0, now 1"));
}

TEST(saved_result_makes_no_cycle) {
  Tensor a = leaf({1}, 0);
  Tensor b = exp(a);
  CHECK(grad_fn(b)->use_count() == 1);
  Tensor slope = gradients(b, {a}, {.keep_graph = true, .create_graph = true})[0];
  CHECK(first(gradients(slope, {a})[0]) == 1);
}

TEST(in_place_rules) {
  Tensor a = leaf({2}, 3);
  CHECK(holds(error_of([&] { mul_in_place(a, a); }), "leaf"));
  CHECK(holds(error_of([&] { mul_in_place(slice(a, 0, 1), filled({1}, 1)); }), "view of a leaf"));
  Tensor plain = filled({2}, 1), view;
  {
    Scoped off(t_state.grad_mode, false);
    view = slice(plain, 0, 1);
  }
  CHECK(holds(error_of([&] { mul_in_place(view, leaf({1}, 1)); }), "no_grad"));
}

TEST(in_place_changes_history) {
  Tensor a = leaf({2}, 3), b = leaf({2}, 5);
  Tensor t = mul(a, b);
  mul_in_place(t, b);  // a b²
  backward(t);
  CHECK(first(grad(a)) == 25 && first(grad(b)) == 30);
}

TEST(write_through_a_view) {
  Tensor base = filled({4}, 1), w = leaf({2}, 7), v = slice(slice(base, 0, 3), 1, 3);
  Tensor other = slice(base, 0, 2);
  CHECK(base_of(v).is(base));
  mul_in_place(v, w);
  CHECK(requires_grad(base) && requires_grad(other) && grad_fn(base)->name() == "CopySlices");
  CHECK(grad_fn(other)->name() == "AsStridedBackward0" && grad_fn(v)->name() == "AsStridedBackward0");
  backward(mul(base, base), {.keep_graph = true});
  CHECK(first(grad(w)) == 14);
}

TEST(result_of_a_write_through_a_view_can_be_differentiated_twice) {
  Tensor x = leaf({2}, 0);
  Tensor base = mul(x, filled({2}, 1));
  exp_in_place(slice(base, 0, 1));
  Tensor slope = gradients(base, {x}, {.keep_graph = true, .create_graph = true})[0];
  CHECK(slope.data<float>()[0] == 1 && slope.data<float>()[1] == 1);
  Tensor curve = gradients(slope, {x})[0];
  CHECK(curve.data<float>()[0] == 1 && curve.data<float>()[1] == 0);
}

TEST(a_view_follows_its_base) {
  Tensor base = filled({4}, 1), v = slice(base, 0, 2), w = leaf({4}, 3);
  CHECK(!requires_grad(v));
  mul_in_place(base, w);
  CHECK(requires_grad(v));
  backward(v);
  CHECK(grad(w).data<float>()[0] == 1 && grad(w).data<float>()[3] == 0);
}

TEST(hooks_run_in_order) {
  Tensor a = leaf({1}, 3);
  Tensor b = mul(a, filled({1}, 2)), c = mul(b, filled({1}, 1));
  std::string order;
  retain_grad(b);
  add_hook(b, make_hook<TensorHook>([&](const Tensor& g) { return order += "t", mul(g, filled({1}, 10)); }));
  grad_fn(b)->make_hooks().pre.push_back(make_hook<PreHook>([&](std::span<Tensor>) { order += "p"; }));
  grad_fn(b)->make_hooks().post.push_back(make_hook<PostHook>(
      [&](std::span<Tensor>, std::span<const Tensor> grads) { order += first(grads[0]) == 10 ? "P" : "?"; }));
  add_hook(a, make_hook<TensorHook>([&](const Tensor&) { return order += "l", Tensor(); }));
  add_accumulate_hook(a,
                      make_hook<AccumulateHook>([&](const Tensor& t) { order += first(grad(t)) == 20 ? "A" : "?"; }));
  backward(c);
  CHECK(order == "tpPlA");
  CHECK(first(grad(b)) == 10 && first(grad(a)) == 20);
}

TEST(deep_graphs_need_no_stack) {
  Tensor a = leaf({1}, 1), one = filled({1}, 1);
  Tensor t = a;
  for (int i = 0; i < 200000; ++i) t = mul(t, one);
  backward(t);
  CHECK(first(grad(a)) == 1);
  t.reset();
}

TEST(nested_backward) {
  Tensor a = leaf({1}, 1);
  std::function<void(int)> nest = [&](int depth) {
    Tensor inner = leaf({1}, 2);
    backward(with_call(inner, [&, depth] {
      if (depth < 500) nest(depth + 1);
    }));
    CHECK(first(grad(inner)) == 1);
  };
  backward(with_call(a, [&] { nest(0); }));
  CHECK(first(grad(a)) == 1 && current_task_id() == -1);
}

TEST(callbacks_run_after_the_pass) {
  Tensor a = leaf({1}, 1);
  float seen = 0;
  backward(with_call(a, [&] { queue_callback([&] { seen = first(grad(a)); }); }));
  CHECK(seen == 1);
  CHECK(holds(error_of([] { queue_callback([] {}); }), "while a backward pass runs"));
}

TEST(errors_name_the_node) {
  Tensor a = leaf({1}, 1);
  std::string message = error_of([&] { backward(with_call(a, [] { TAEDA_FAIL(Value, "no luck"); })); });
  CHECK(message == "CallBackward: no luck");
  Tensor b = leaf({3}, 1);
  Edge root = gradient_edge(mul(b, b));
  Tensor wrong = filled({2}, 1);
  add_hook(b, make_hook<TensorHook>([&](const Tensor&) { return wrong; }));
  CHECK(holds(error_of([&] { backward(mul(b, b)); }), "shape"));
}

TEST(threads_share_a_graph) {
  Tensor a = leaf({64}, 1);
  Tensor t = a;
  for (int i = 0; i < 50; ++i) t = mul(t, filled({64}, 1));
  auto work = [&] {
    for (int i = 0; i < 20; ++i) backward(t, {.keep_graph = true});
  };
  std::thread one(work), two(work);
  one.join(), two.join();
  CHECK(first(grad(a)) == 40);
}

TEST(anomaly_mode_finds_nan) {
  set_anomaly_mode({true, true});
  Tensor a = leaf({1}, 1);
  std::string message = error_of([&] { backward(mul(a, filled({1}, NAN))); });
  set_anomaly_mode({});
  CHECK(holds(message, "MulBackward0") && holds(message, "NaN"));
}

namespace {
struct CountingHooks final : SavedTensorHooks {
  int packed = 0, unpacked = 0;
  struct Box final : RefCounted {
    Tensor tensor;
  };
  Ref<RefCounted> pack(const Tensor& t) override {
    ++packed;
    auto box = make_ref<Box>();
    box->tensor = t;
    return box;
  }
  Tensor unpack(const Ref<RefCounted>& box) override { return ++unpacked, static_cast<Box*>(box.get())->tensor; }
};
}  // namespace

TEST(saved_tensor_hooks) {
  Tensor a = leaf({1}, 3);
  auto hooks = make_ref<CountingHooks>();
  push_saved_tensor_hooks(hooks);
  Tensor cube = mul(mul(a, a), a);
  pop_saved_tensor_hooks();
  Tensor slope = gradients(cube, {a}, {.keep_graph = true, .create_graph = true})[0];
  CHECK(first(slope) == 27 && first(gradients(slope, {a})[0]) == 18);
  CHECK(hooks->packed == 4 && hooks->unpacked >= 4);
}

namespace {
struct ThreadRunner final : DeviceRunner {
  std::atomic<int> entered{0}, waits{0};
  bool has_own_thread(Device) const override { return true; }
  void* current_stream(Device) override { return this; }
  void* enter(Device, void*) override { return ++entered, nullptr; }
  void leave(void*) override {}
  void wait(Device, void*, void*) override { ++waits; }
};
}  // namespace

TEST(devices_may_have_their_own_thread) {
  static ThreadRunner runner;
  set_device_runner(DeviceType::PrivateUse1, &runner);
  Tensor a = leaf({1}, 3), one = filled({1}, 1);
  Tensor near = mul(a, filled({1}, 2));
  std::thread::id where;
  auto node = make_node<CallNode>();
  bool casts = false;
  node->call = [&] {
    where = std::this_thread::get_id();
    casts = casting::enabled(DeviceType::PrivateUse1) && !t_state.exclude.has(Functionality::Autocast);
  };
  collect(*node, near);
  Tensor far = detach(near);
  far->set_device({DeviceType::PrivateUse1, 0});
  set_history(far, *node);
  Edge root = gradient_edge(far);
  casting::set_enabled(DeviceType::PrivateUse1, true);
  run_backward({&root, 1}, {&one, 1}, {.keep_graph = true});
  casting::set_enabled(DeviceType::PrivateUse1, false);
  CHECK(casts && t_state.exclude.has(Functionality::Autocast));
  CHECK(where != std::this_thread::get_id() && where != std::thread::id() && runner.entered == 1);
  CHECK(first(grad(a)) == 2 && runner.waits == 1);
  // A forked child starts threads of its own.
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    run_backward({&root, 1}, {&one, 1}, {.keep_graph = true});
    _exit(first(grad(a)) == 4 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  node->call = [] { TAEDA_FAIL(Value, "far away"); };
  CHECK(holds(error_of([&] { run_backward({&root, 1}, {&one, 1}, {}); }), "CallBackward: far away"));
  set_device_runner(DeviceType::PrivateUse1, nullptr);
}

TEST(tangents_end_with_their_level) {
  Tensor a = filled({1}, 1);
  CHECK(holds(error_of([&] { set_tangent(a, filled({1}, 2)); }), "dual level"));
  int level = enter_dual_level();
  set_tangent(a, filled({1}, 2));
  CHECK(has_tangents(a) && first(tangent(a)) == 2);
  CHECK(holds(error_of([] { enter_dual_level(); }), "nest"));
  exit_dual_level(level);
  CHECK(!has_tangent(a, level));
}

TEST(gradient_setter_checks) {
  Tensor a = leaf({2}, 1);
  CHECK(holds(error_of([&] { set_grad(a, filled({3}, 1)); }), "shape"));
  CHECK(holds(error_of([&] { set_grad(a, a); }), "its own"));
  set_grad(a, filled({2}, 4));
  backward(mul(a, a));
  CHECK(first(grad(a)) == 6);
}
