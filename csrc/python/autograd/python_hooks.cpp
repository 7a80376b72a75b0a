#include "python/autograd/python_hooks.h"

#include "python/autograd/node_object.h"
#include "taeda/autograd/meta.h"

namespace taeda::python {

HookDict::~HookDict() {
  if (!Py_IsInitialized()) return;
  WithGil locked;
  Py_DECREF(dict_);
}

std::vector<Owned> HookDict::callables() const {
  std::vector<Owned> all;
  Owned values(check(PyObject_CallMethod(dict_, "values", nullptr)));
  Owned list(check(PySequence_List(values.get())));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i)
    all.push_back(Owned::borrow(PyList_GET_ITEM(list.get(), i)));
  return all;
}

namespace {

const Tensor& checked_gradient(PyObject* object, const char* hook) {
  TAEDA_CHECK_TYPE(is_tensor(object), "a ", hook, " must return a tensor or None; got ", Py_TYPE(object)->tp_name);
  return unwrap(object);
}

// A hook's answer for several gradients: a tuple of as many, or one for one. None keeps them.
void replace_gradients(PyObject* answer, std::span<Tensor> grads, const char* hook) {
  if (answer == Py_None) return;
  Owned tuple = PyTuple_Check(answer) ? Owned::borrow(answer) : Owned(check(PyTuple_Pack(1, answer)));
  TAEDA_CHECK(PyTuple_GET_SIZE(tuple.get()) == static_cast<Py_ssize_t>(grads.size()), "a ", hook, " returned ",
              PyTuple_GET_SIZE(tuple.get()), " gradients in place of ", grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    PyObject* grad = PyTuple_GET_ITEM(tuple.get(), i);
    grads[i] = grad == Py_None ? Tensor() : checked_gradient(grad, hook);
  }
}

}  // namespace

PyObject* wrap_gradients(std::span<const Tensor> grads) {
  Owned tuple(check(PyTuple_New(grads.size())));
  for (size_t i = 0; i < grads.size(); ++i) PyTuple_SET_ITEM(tuple.get(), i, check(wrap(grads[i])));
  return tuple.release();
}

Tensor PythonTensorHook::run(const Tensor& grad) {
  WithGil locked;
  Tensor replaced;
  Owned now(check(wrap(grad)));
  for (Owned& hook : callables()) {
    Owned answer = call_python([&] { return PyObject_CallOneArg(hook.get(), now.get()); });
    if (answer.get() == Py_None) continue;
    replaced = checked_gradient(answer.get(), "tensor hook");
    TAEDA_CHECK(!grad.defined() || replaced.dtype() == grad.dtype(), "a tensor hook must keep the gradient's dtype ",
                grad.dtype(), "; it returned ", replaced.dtype());
    now = std::move(answer);
  }
  return replaced;
}

void PythonPreHook::run(std::span<Tensor> grads) {
  WithGil locked;
  for (Owned& hook : callables()) {
    Owned tuple(wrap_gradients(grads));
    Owned answer = call_python([&] { return PyObject_CallOneArg(hook.get(), tuple.get()); });
    replace_gradients(answer.get(), grads, "node's pre-hook");
  }
}

void PythonPostHook::run(std::span<Tensor> grad_inputs, std::span<const Tensor> grads) {
  WithGil locked;
  Owned outputs(wrap_gradients(grads));
  for (Owned& hook : callables()) {
    Owned inputs(wrap_gradients(grad_inputs));
    Owned answer =
        call_python([&] { return PyObject_CallFunctionObjArgs(hook.get(), inputs.get(), outputs.get(), nullptr); });
    replace_gradients(answer.get(), grad_inputs, "node's hook");
  }
}

void PythonAccumulateHook::run(const Tensor& leaf) {
  WithGil locked;
  Owned tensor(check(wrap(leaf)));
  for (Owned& hook : callables()) {
    Owned answer = call_python([&] { return PyObject_CallOneArg(hook.get(), tensor.get()); });
    if (answer.get() == Py_None || answer.get() == tensor.get()) continue;
    fail(is_tensor(answer.get()) ? ErrorKind::Runtime : ErrorKind::Type,
         str("a post-accumulate-grad hook must return None; got ", Py_TYPE(answer.get())->tp_name));
  }
}

// --- registering

PyObject* new_hook_dict() { return check(PyODict_New()); }

PyObject* add_to_hooks(PyObject* dict, PyObject* callable) {
  Owned module(check(PyImport_ImportModule("taeda.utils.hooks")));
  Owned handle(check(PyObject_CallMethod(module.get(), "RemovableHandle", "O", dict)));
  Owned id(check(PyObject_GetAttrString(handle.get(), "id")));
  check(PyObject_SetItem(dict, id.get(), callable));
  return handle.release();
}

namespace {

template <class PythonHook, class Hook>
PythonHook* find_in(const std::vector<Ref<Hook>>& hooks) {
  for (const Ref<Hook>& hook : hooks)
    if (auto* found = dynamic_cast<PythonHook*>(hook.get())) return found;
  return nullptr;
}

template <class PythonHook, class Hook>
PyObject* add_to_list(std::vector<Ref<Hook>>& hooks, PyObject* callable) {
  PythonHook* found = find_in<PythonHook>(hooks);
  if (!found) {
    Owned dict(new_hook_dict());
    Ref<PythonHook> made = make_ref<PythonHook>(dict.get());
    found = made.get();
    hooks.push_back(std::move(made));
  }
  return add_to_hooks(found->dict(), callable);
}

}  // namespace

namespace {
PythonTensorHook* find_tensor_hook(const Tensor& t) {
  const Ref<autograd::Node>& node = autograd::grad_fn(t);
  if (!node) {
    auto* meta = autograd::meta_of(t);
    return meta && meta->rare ? find_in<PythonTensorHook>(meta->rare->hooks) : nullptr;
  }
  if (!node->hooks()) return nullptr;
  for (auto& [nr, hook] : node->hooks()->tensor) {
    if (nr != autograd::output_nr(t)) continue;
    if (auto* found = dynamic_cast<PythonTensorHook*>(hook.get())) return found;
  }
  return nullptr;
}
}  // namespace

PyObject* find_tensor_hooks(const Tensor& t) {
  PythonTensorHook* found = find_tensor_hook(t);
  return found ? found->dict() : nullptr;
}

void set_tensor_hooks(PyObject* self, PyObject* dict) {
  const Tensor& t = unwrap(self);
  if (PythonTensorHook* found = find_tensor_hook(t))
    found->set_dict(dict);
  else
    autograd::add_hook(t, make_ref<PythonTensorHook>(dict));
  Py_XSETREF(reinterpret_cast<TensorObject*>(self)->backward_hooks, Py_NewRef(dict));
}

PyObject* find_accumulate_hooks(const Tensor& t) {
  auto* meta = autograd::meta_of(t);
  auto* found = meta && meta->rare ? find_in<PythonAccumulateHook>(meta->rare->accumulate_hooks) : nullptr;
  return found ? found->dict() : Py_None;
}

namespace {
void check_callable(PyObject* hook) {
  TAEDA_CHECK_TYPE(PyCallable_Check(hook), "a hook must be callable; got ", Py_TYPE(hook)->tp_name);
}
}  // namespace

PyObject* register_tensor_hook(PyObject* self, PyObject* callable) {
  check_callable(callable);
  const Tensor& t = unwrap(self);
  TAEDA_CHECK(autograd::requires_grad(t), "a hook can be put only on a tensor that requires grad");
  PyObject* dict = find_tensor_hooks(t);
  if (!dict) {
    // A write in place gave the tensor a new node: hooks of before stay with the old one.
    Owned made(new_hook_dict());
    set_tensor_hooks(self, made.get());
    dict = made.get();
  }
  return add_to_hooks(dict, callable);
}

PyObject* register_accumulate_hook(PyObject* self, PyObject* callable) {
  check_callable(callable);
  const Tensor& t = unwrap(self);
  autograd::AutogradMeta* meta = autograd::meta_of(t);
  if (!meta || !meta->rare || !find_in<PythonAccumulateHook>(meta->rare->accumulate_hooks)) {
    Owned dict(new_hook_dict());
    autograd::add_accumulate_hook(t, make_ref<PythonAccumulateHook>(dict.get()));
  }
  return add_to_list<PythonAccumulateHook>(autograd::meta_of(t)->rare->accumulate_hooks, callable);
}

PyObject* register_pre_hook(autograd::Node& node, PyObject* callable) {
  return add_to_list<PythonPreHook>(node.make_hooks().pre, callable);
}
PyObject* register_post_hook(autograd::Node& node, PyObject* callable) {
  return add_to_list<PythonPostHook>(node.make_hooks().post, callable);
}

// --- the garbage collector

namespace {
template <class PythonHook, class Hook>
int visit_hook(const Ref<Hook>& hook, visitproc visit, void* arg) {
  if (hook->use_count() != 1) return 0;
  if (auto* found = dynamic_cast<PythonHook*>(hook.get())) Py_VISIT(found->dict());
  return 0;
}
template <class PythonHook, class Hook>
int visit_hooks(const std::vector<Ref<Hook>>& hooks, visitproc visit, void* arg) {
  for (const Ref<Hook>& hook : hooks)
    if (int stop = visit_hook<PythonHook>(hook, visit, arg)) return stop;
  return 0;
}
}  // namespace

int traverse_hooks(const autograd::Node::Hooks& hooks, visitproc visit, void* arg) {
  for (auto& [nr, hook] : hooks.tensor)
    if (int stop = visit_hook<PythonTensorHook>(hook, visit, arg)) return stop;
  if (int stop = visit_hooks<PythonPreHook>(hooks.pre, visit, arg)) return stop;
  return visit_hooks<PythonPostHook>(hooks.post, visit, arg);
}

int traverse_autograd(TensorImpl* impl, visitproc visit, void* arg) {
  auto* meta = static_cast<autograd::AutogradMeta*>(impl->autograd_meta());
  if (meta->rare) {
    if (int stop = visit_hooks<PythonTensorHook>(meta->rare->hooks, visit, arg)) return stop;
    if (int stop = visit_hooks<PythonAccumulateHook>(meta->rare->accumulate_hooks, visit, arg)) return stop;
  }
  return meta->grad_fn ? traverse_node(meta->grad_fn, visit, arg) : 0;
}

}  // namespace taeda::python
