#include "python/autograd/function.h"

#include <algorithm>

#include "python/autograd/init.h"
#include "python/autograd/node_object.h"
#include "python/autograd/python_hooks.h"
#include "python/torch_function.h"
#include "taeda/autograd/record.h"
#include "taeda/core/thread_state.h"
#include "taeda/core/warn.h"
#include "taeda/ops/create.h"

namespace taeda::python {
namespace {

PyTypeObject g_type = static_type("taeda._C._FunctionBase", sizeof(FunctionContext));
FunctionContext* cast(PyObject* self) { return reinterpret_cast<FunctionContext*>(self); }
PyObject* as_object(FunctionContext* context) { return reinterpret_cast<PyObject*>(context); }

// Names looked up on every call.
struct Names {
  PyObject *forward, *backward, *vjp, *jvp, *setup_context, *backward_cls, *forward_cls;
} g_names;

Owned attribute(PyObject* object, PyObject* name) { return Owned(check(PyObject_GetAttr(object, name))); }

Owned as_tuple(PyObject* object) {
  return PyTuple_Check(object) ? Owned::borrow(object) : Owned(check(PyTuple_Pack(1, object)));
}

Owned call(PyObject* callable, std::span<PyObject* const> args) {
  return call_python([&] { return PyObject_Vectorcall(callable, args.data(), args.size(), nullptr); });
}

}  // namespace

PyTypeObject* function_type = &g_type;

// --- the node

FunctionNode::FunctionNode(FunctionContext* ctx) : context(ctx), node_name(Py_TYPE(as_object(ctx))->tp_name) {
  Py_INCREF(as_object(ctx));
  if (size_t dot = node_name.rfind('.'); dot != std::string::npos) node_name.erase(0, dot + 1);
  ctx->node = this;
}

FunctionNode::~FunctionNode() {
  if (!Py_IsInitialized()) {  // the collector's last rounds still look at the context
    context->node = nullptr;
    return;
  }
  WithGil locked;
  context->node = nullptr;
  Py_DECREF(as_object(context));
}

void FunctionNode::release_saved() {
  for (autograd::SavedTensor& tensor : saved) tensor.reset();
  released = true;
}

namespace {

// The user's backward, or vjp where that is what the class defines.
Owned backward_of(PyObject* context) {
  Owned cls = attribute(context, g_names.forward_cls);
  Owned backward = attribute(cls.get(), g_names.backward), vjp = attribute(cls.get(), g_names.vjp);
  Owned base(check(PyObject_GetAttrString(cls.get(), "_unset_backward")));
  bool has_backward = backward.get() != base.get(), has_vjp = vjp.get() != base.get();
  TAEDA_CHECK(!(has_backward && has_vjp), "define either backward or vjp, not both: they are two names of one thing");
  TAEDA_CHECK_KIND(NotImplemented, has_backward || has_vjp,
                   "the Function has no backward: define a static method backward(ctx, *grad_outputs)");
  return has_backward ? std::move(backward) : std::move(vjp);
}

}  // namespace

void FunctionNode::apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) {
  WithGil locked;
  PyObject* self = as_object(context);
  Owned backward = backward_of(self);
  std::vector<Owned> owned;
  std::vector<PyObject*> args{self};
  for (size_t i = 0; i < grads.size(); ++i) {
    bool zeros = !grads[i].defined() && context->materialize_grads && metadata(i).is_defined() &&
                 (context->materialize_non_diff_grads || !std::ranges::binary_search(without_gradient, i));
    owned.emplace_back(check(wrap(zeros ? metadata(i).zeros() : std::move(grads[i]))));
    args.push_back(owned.back().get());
  }
  Owned results = as_tuple(call(backward.get(), args).get());
  owned.clear();
  size_t given = static_cast<size_t>(PyTuple_GET_SIZE(results.get())), wanted = is_tensor_input.size(), edge = 0;
  bool surplus = false;
  for (size_t i = wanted; i < given; ++i) surplus |= PyTuple_GET_ITEM(results.get(), i) != Py_None;
  TAEDA_CHECK(given >= wanted && !surplus, "backward returned ", given, " gradients for ", wanted,
              " inputs of forward");
  for (size_t i = 0; i < wanted; ++i) {
    PyObject* grad = PyTuple_GET_ITEM(results.get(), i);
    if (!is_tensor_input[i]) {
      TAEDA_CHECK(grad == Py_None, "backward returned a gradient for input ", i,
                  ", which is no tensor: return None there");
      continue;
    }
    TAEDA_CHECK(grad == Py_None || is_tensor(grad), "backward must return tensors or None; got ",
                Py_TYPE(grad)->tp_name, " for input ", i);
    if (grad != Py_None) grad_inputs[edge] = unwrap(grad);
    ++edge;
  }
}

PyObject* saved_tensors(FunctionContext& context, bool raw) {
  if (context.in_jvp) return context.saved_for_forward ? Py_NewRef(context.saved_for_forward) : check(PyTuple_New(0));
  if (!context.node) return check(PyTuple_New(0));
  FunctionNode& node = *context.node;
  TAEDA_CHECK(!node.released, "the saved tensors of ", node.name(),
              " were released by a first backward pass: pass "
              "retain_graph=True to it");
  Ref<autograd::Node> alive(&node);
  Owned tuple(check(PyTuple_New(node.saved.size())));
  for (size_t i = 0; i < node.saved.size(); ++i) {
    autograd::SavedTensor& saved = node.saved[i];
    PyTuple_SET_ITEM(tuple.get(), i, raw ? wrap_saved(node, saved) : check(wrap(saved.unpack(&node, true))));
  }
  return tuple.release();
}

// --- the call

namespace {

bool contains(PyObject* tuple, PyObject* object) {
  if (!tuple) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
    if (PyTuple_GET_ITEM(tuple, i) == object) return true;
  return false;
}

struct Call {
  PyObject* cls;
  std::span<PyObject* const> args;
  Owned context;
  Ref<FunctionNode> node;  // null when nothing is recorded
  bool has_tangents = false;

  Call(PyObject* function, std::span<PyObject* const> arguments) : cls(function), args(arguments) {
    Owned backward_cls = attribute(cls, g_names.backward_cls);
    context = Owned(check(PyObject_CallNoArgs(backward_cls.get())));
  }

  FunctionContext& ctx() { return *cast(context.get()); }
  bool is_input(PyObject* object) const { return std::find(args.begin(), args.end(), object) != args.end(); }

  void prepare() {
    bool any = false;
    Owned needs(check(PyTuple_New(args.size())));
    for (size_t i = 0; i < args.size(); ++i) {
      bool tensor = is_tensor(args[i]);
      bool wants = tensor && autograd::wants_grad(unwrap(args[i]));
      has_tangents |= tensor && autograd::has_tangents(unwrap(args[i]));
      any |= wants;
      PyTuple_SET_ITEM(needs.get(), i, Py_NewRef(wants ? Py_True : Py_False));
    }
    ctx().needs_input_grad = needs.release();
    if (!any || !t_state.grad_mode || t_state.inference_mode) return;
    node = autograd::make_node<FunctionNode>(cast(context.get()));
    for (PyObject* arg : args) {
      node->is_tensor_input.push_back(is_tensor(arg));
      if (is_tensor(arg)) autograd::collect(*node, unwrap(arg));
    }
  }

  Owned run_forward(bool with_setup) {
    Scoped grad_mode(t_state.grad_mode, false);
    Scoped forward_grad(t_state.forward_grad, false);
    Owned forward = attribute(cls, g_names.forward);
    if (!with_setup) {
      std::vector<PyObject*> all{context.get()};
      all.insert(all.end(), args.begin(), args.end());
      return call(forward.get(), all);
    }
    Owned result = call(forward.get(), args);
    Owned inputs(check(PyTuple_New(args.size())));
    for (size_t i = 0; i < args.size(); ++i) PyTuple_SET_ITEM(inputs.get(), i, Py_NewRef(args[i]));
    Owned setup = attribute(cls, g_names.setup_context);
    PyObject* setup_args[] = {context.get(), inputs.get(), result.get()};
    call(setup.get(), setup_args);
    return result;
  }

  // What apply returns for one output of forward.
  Owned finish_output(PyObject* output, bool is_only) {
    if (!is_tensor(output)) {
      if (node) node->add_undefined_metadata();
      return Owned::borrow(output);
    }
    const Tensor& t = unwrap(output);
    bool differentiable = node && is_differentiable(t.dtype()) && !contains(ctx().non_differentiable, output);
    if (node && !differentiable) node->without_gradient.push_back(node->num_inputs());
    if (contains(ctx().dirty_tensors, output) && is_input(output))
      return finish_dirty(output, t, differentiable, is_only);
    // An input, or something else with a history, is returned as another tensor: its own history must stay.
    bool is_again = node && t->has_grad_flag() && autograd::grad_fn(t).get() == node.get();
    bool aliased = is_input(output) || (t->has_grad_flag() && !t->is_view() && !is_again);
    Owned result = aliased ? alias_of(output) : Owned::borrow(output);
    const Tensor& made = unwrap(result.get());
    if (autograd::AutogradMeta* meta = autograd::meta_of(made); meta && meta->view && node) {
      meta->view->creation = autograd::Creation::IN_CUSTOM_FUNCTION;
      meta->view->version = made->version();  // forward may have written to it
    }
    if (differentiable)
      autograd::set_history(made, *node);
    else if (node)
      node->add_metadata(made);
    return result;
  }

  Owned finish_dirty(PyObject* output, const Tensor& t, bool differentiable, bool is_only) {
    if (!t->is_inference()) autograd::bump(t, "a Function that marked it dirty");
    if (!differentiable) {
      if (node) node->add_metadata(t);
      return Owned::borrow(output);
    }
    autograd::check_inplace(t, true);
    TAEDA_CHECK(is_only || !t->is_view(), "a Function that writes to a view must return it alone: write to a clone");
    autograd::rebase_history(t, *node);
    return Owned::borrow(output);
  }

  // mark_dirty() is for inputs that forward wrote to, and those must be returned.
  void check_dirty(PyObject* outputs) {
    PyObject* dirty = ctx().dirty_tensors;
    for (Py_ssize_t i = 0; dirty && i < PyTuple_GET_SIZE(dirty); ++i) {
      PyObject* object = PyTuple_GET_ITEM(dirty, i);
      TAEDA_CHECK(contains(outputs, object), "item ", i, " that mark_dirty() was given is not returned by forward");
      if (!is_input(object))
        warn(str("item ", i, " that mark_dirty() was given is no input of forward, and needs no mark"));
    }
  }

  // What setup_context saves it saves as input or as output, and an input that is returned as it is would be both.
  void check_saved(PyObject* outputs) {
    for (PyObject* saved : {ctx().to_save, ctx().saved_for_forward})
      for (Py_ssize_t i = 0; saved && PyTuple_Check(saved) && i < PyTuple_GET_SIZE(saved); ++i) {
        PyObject* object = PyTuple_GET_ITEM(saved, i);
        bool is_both = is_tensor(object) && is_input(object) && contains(outputs, object);
        TAEDA_CHECK(!is_both || contains(ctx().dirty_tensors, object),
                    "setup_context saves an input that forward "
                    "returns as it is: let forward return input.view_as(input), or mark it dirty if it was written to");
      }
  }

  // A tensor of a class with rules of its own stays one; who records the program's ops hears of the other tensor.
  static Owned alias_of(PyObject* object) {
    Protocol protocol = protocol_of(object);
    bool has_own_rules = protocol == Protocol::Custom || protocol == Protocol::Subclass;
    return has_own_rules || t_state.include.has(Functionality::Tracer)
               ? Owned(check(PyObject_CallMethod(object, "view_as", "O", object)))
               : Owned(check(wrap(alias_of(unwrap(object)))));
  }

  static Tensor alias_of(const Tensor& t) {
    Tensor alias = autograd::detach(t);
    if (!t->is_inference()) autograd::mark_view(t, alias, nullptr, autograd::Creation::IN_CUSTOM_FUNCTION);
    return alias;
  }

  void save() {
    PyObject* tensors = ctx().to_save;
    if (!node || !tensors) return;
    node->saved.reserve(PyTuple_GET_SIZE(tensors));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
      PyObject* object = PyTuple_GET_ITEM(tensors, i);
      TAEDA_CHECK_TYPE(object == Py_None || is_tensor(object), "save_for_backward() takes tensors or None; got ",
                       Py_TYPE(object)->tp_name, ": keep other things as attributes of ctx");
      Tensor t = object == Py_None ? Tensor() : unwrap(object);
      bool own = t.defined() && t->has_grad_flag() && autograd::grad_fn(t).get() == node.get();
      node->saved.emplace_back().save(t, own || (t.defined() && contains(ctx().dirty_tensors, object)));
    }
    Py_CLEAR(ctx().to_save);
  }

  void run_jvp(std::span<const Owned> outputs) {
    if (!has_tangents) return;
    for (autograd::EachLevel level; level.next();) {
      auto moves = [&](PyObject* arg) { return is_tensor(arg) && autograd::has_tangent(unwrap(arg), level); };
      if (std::ranges::any_of(args, moves)) run_jvp(outputs, level);
    }
  }

  // A tangent of an argument, before jvp.
  struct Given {
    Tensor tensor;
    uint32_t version;
  };

  // Where forward wrote to an argument jvp writes to its tangent, and where it shows memory of one jvp does, too.
  void check_follows(const Given& given, PyObject* arg, PyObject* output, const Tensor& tangent) {
    if (arg == output) {
      bool wrote = tangent.is(given.tensor) && given.tensor->version() != given.version;
      TAEDA_CHECK(!contains(ctx().dirty_tensors, output) || wrote,
                  "forward writes to an argument in place, so jvp must write to its tangent and return that");
      return;
    }
    auto root = [](const Tensor& t) { return autograd::base_of(t).defined() ? autograd::base_of(t) : t; };
    const Tensor& made = unwrap(output);
    if (!made->is_view() || !root(made).is(root(unwrap(arg)))) return;
    TAEDA_CHECK(
        tangent->is_view() && !tangent.is(given.tensor) && root(tangent).is(root(given.tensor)),
        "forward returns a view of an argument, or the argument itself, so jvp must return a view of its tangent");
  }

  void run_jvp(std::span<const Owned> outputs, int level) {
    std::vector<Owned> owned;
    std::vector<Given> given;
    std::vector<PyObject*> jvp_args{context.get()};
    for (PyObject* arg : args) {
      Tensor tangent = is_tensor(arg) ? autograd::tangent(unwrap(arg), level) : Tensor();
      bool is_plain = tangent.defined() && !tangent.keys().has(Functionality::Python) && !tangent->is_inference();
      given.push_back({is_plain ? tangent : Tensor(), is_plain ? tangent->version() : 0});
      // Zeros where it has none, unless the Function said that it does without.
      if (!tangent.defined() && is_tensor(arg) && ctx().materialize_grads && is_differentiable(unwrap(arg).dtype()))
        tangent = ops::zeros_like(unwrap(arg));
      owned.emplace_back(check(wrap(std::move(tangent))));
      jvp_args.push_back(owned.back().get());
    }
    Owned jvp = attribute(cls, g_names.jvp);
    Owned tangents = [&] {
      Scoped in_jvp(ctx().in_jvp, true);
      return as_tuple(call(jvp.get(), jvp_args).get());
    }();
    TAEDA_CHECK(PyTuple_GET_SIZE(tangents.get()) == static_cast<Py_ssize_t>(outputs.size()), "jvp returned ",
                PyTuple_GET_SIZE(tangents.get()), " tangents for ", outputs.size(), " outputs of forward");
    for (size_t i = 0; i < outputs.size(); ++i) {
      PyObject *tangent = PyTuple_GET_ITEM(tangents.get(), i), *output = outputs[i].get();
      if (tangent == Py_None || !is_tensor(output)) continue;
      TAEDA_CHECK_TYPE(is_tensor(tangent), "jvp must return tensors or None; got ", Py_TYPE(tangent)->tp_name);
      TAEDA_CHECK(!contains(ctx().non_differentiable, output), "jvp returned a tangent for output ", i,
                  ", which forward marked as not differentiable: return None there");
      const Tensor& made = unwrap(output);
      TAEDA_CHECK(std::ranges::equal(unwrap(tangent).sizes(), made.sizes()), "jvp returned a tangent of shape ",
                  unwrap(tangent).sizes(), " for output ", i, " of shape ", made.sizes());
      for (size_t k = 0; k < given.size(); ++k)
        if (given[k].tensor.defined()) check_follows(given[k], args[k], output, unwrap(tangent));
      if (contains(ctx().dirty_tensors, output))
        autograd::write_tangent(made, unwrap(tangent), level);
      else
        autograd::give_tangent(made, unwrap(tangent), level);
    }
  }

  PyObject* run(bool with_setup) {
    prepare();
    Owned raw = run_forward(with_setup);
    bool single = !PyTuple_Check(raw.get());
    Owned tuple = as_tuple(raw.get());
    size_t count = static_cast<size_t>(PyTuple_GET_SIZE(tuple.get()));
    check_dirty(tuple.get());
    if (with_setup) check_saved(tuple.get());
    std::vector<Owned> outputs;
    for (size_t i = 0; i < count; ++i) outputs.push_back(finish_output(PyTuple_GET_ITEM(tuple.get(), i), count == 1));
    replace_saved(tuple.get(), outputs);
    save();
    run_jvp(outputs);
    if (single) return outputs[0].release();
    Owned result(check(PyTuple_New(count)));
    for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(result.get(), i, outputs[i].release());
    return result.release();
  }

  // An output that was replaced by an alias and is saved too must be saved as the result it became, unless it is an
  // input, which is saved as such.
  void replace_saved(PyObject* before, std::span<const Owned> after) {
    PyObject* tensors = ctx().to_save;
    if (!node || !tensors) return;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
      PyObject* object = PyTuple_GET_ITEM(tensors, i);
      for (size_t k = 0; k < after.size(); ++k) {
        if (PyTuple_GET_ITEM(before, k) != object || after[k].get() == object || is_input(object)) continue;
        Owned list(check(PySequence_List(tensors)));
        check(PyList_SetItem(list.get(), i, Py_NewRef(after[k].get())));
        Py_SETREF(ctx().to_save, check(PyList_AsTuple(list.get())));
        tensors = ctx().to_save;
      }
    }
  }
};

}  // namespace

PyObject* apply_function(PyObject* cls, PyObject* const* args, Py_ssize_t count) {
  Owned setup = attribute(cls, g_names.setup_context);
  Owned unset(check(PyObject_GetAttrString(cls, "_unset_setup_context")));
  return Call(cls, {args, static_cast<size_t>(count)}).run(setup.get() != unset.get());
}

// --- the type

namespace {

PyObject* apply(PyObject* cls, PyObject* const* args, Py_ssize_t count) {
  return guarded(reinterpret_cast<PyTypeObject*>(cls)->tp_name, [&] { return apply_function(cls, args, count); });
}

template <bool raw>
PyObject* get_saved_tensors(PyObject* self, void*) {
  return guarded("ctx.saved_tensors", [&] { return saved_tensors(*cast(self), raw); });
}

// Attributes that hold a tuple, None until set.
template <PyObject* FunctionContext::* field>
PyObject* get_field(PyObject* self, void*) {
  PyObject* value = cast(self)->*field;
  return Py_NewRef(value ? value : Py_None);
}
template <PyObject* FunctionContext::* field>
int set_field(PyObject* self, PyObject* value, void*) {
  if (value && value != Py_None && !PyTuple_Check(value)) {
    PyErr_Format(PyExc_TypeError, "this attribute of ctx must be a tuple; got %s", Py_TYPE(value)->tp_name);
    return -1;
  }
  Py_XSETREF(cast(self)->*field, value && value != Py_None ? Py_NewRef(value) : nullptr);
  return 0;
}

template <bool FunctionContext::* field>
PyObject* get_flag(PyObject* self, void*) {
  return PyBool_FromLong(cast(self)->*field);
}
template <bool FunctionContext::* field>
int set_flag(PyObject* self, PyObject* value, void*) {
  int truth = value ? PyObject_IsTrue(value) : -1;
  if (truth < 0) return -1;
  cast(self)->*field = truth;
  return 0;
}

PyObject* new_context(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) cast(self)->materialize_grads = cast(self)->materialize_non_diff_grads = true;
  return self;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  FunctionContext* ctx = cast(self);
  Py_VISIT(ctx->dict);
  Py_VISIT(ctx->needs_input_grad);
  Py_VISIT(ctx->to_save);
  Py_VISIT(ctx->non_differentiable);
  Py_VISIT(ctx->dirty_tensors);
  Py_VISIT(ctx->saved_for_forward);
  return ctx->node && ctx->node->hooks() ? traverse_hooks(*ctx->node->hooks(), visit, arg) : 0;
}

int clear(PyObject* self) {
  FunctionContext* ctx = cast(self);
  Py_CLEAR(ctx->dict);
  Py_CLEAR(ctx->needs_input_grad);
  Py_CLEAR(ctx->to_save);
  Py_CLEAR(ctx->non_differentiable);
  Py_CLEAR(ctx->dirty_tensors);
  Py_CLEAR(ctx->saved_for_forward);
  return 0;
}

void deallocate(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (cast(self)->weakrefs) PyObject_ClearWeakRefs(self);
  clear(self);
  Py_TYPE(self)->tp_free(self);
}

#define TAEDA_FIELD(name, doc) \
  {#name, get_field<&FunctionContext::name>, set_field<&FunctionContext::name>, doc, nullptr}
PyGetSetDef own_getset[] = {
    {"_raw_saved_tensors", get_saved_tensors<true>, nullptr, "The same, each as what holds it.", nullptr},
    {"saved_tensors", get_saved_tensors<false>, nullptr,
     "What save_for_backward() was given, checked for writes since.", nullptr},
    {"materialize_grads", get_flag<&FunctionContext::materialize_grads>, set_flag<&FunctionContext::materialize_grads>,
     "Whether absent gradients come as zeros.", nullptr},
    {"_materialize_non_diff_grads", get_flag<&FunctionContext::materialize_non_diff_grads>,
     set_flag<&FunctionContext::materialize_non_diff_grads>, "Whether those of results without gradients do, too.",
     nullptr},
    TAEDA_FIELD(needs_input_grad, "For each argument of forward, whether it requires grad."),
    TAEDA_FIELD(to_save, nullptr),
    TAEDA_FIELD(non_differentiable, nullptr),
    TAEDA_FIELD(dirty_tensors, nullptr),
    TAEDA_FIELD(saved_for_forward, nullptr),
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {},
};
#undef TAEDA_FIELD
PyMethodDef own_methods[] = {
    {"apply", as_method(&apply), METH_FASTCALL | METH_CLASS,
     "apply($type, *args, **kwargs)\n--\n\nRuns forward and records backward."},
    {},
};

struct DelayedError final : autograd::Node {
  void apply(std::span<Tensor>, std::span<Tensor>) override {
    TAEDA_FAIL(Runtime, "a gradient of a Function that is marked once_differentiable was differentiated again");
  }
  std::string_view name() const override { return "Error"; }
};

// Gradients that came from a once_differentiable backward, made to fail when differentiated.
PyObject* not_differentiable_again(PyObject*, PyObject* tuple) {
  return guarded("once_differentiable", [&]() -> PyObject* {
    Owned all = as_tuple(tuple);
    auto node = autograd::make_node<DelayedError>();
    Owned results(check(PyTuple_New(PyTuple_GET_SIZE(all.get()))));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all.get()); ++i) {
      PyObject* object = PyTuple_GET_ITEM(all.get(), i);
      if (!is_tensor(object)) {
        PyTuple_SET_ITEM(results.get(), i, Py_NewRef(object));
        continue;
      }
      Tensor result = autograd::detach(unwrap(object));
      autograd::set_history(result, *node);
      PyTuple_SET_ITEM(results.get(), i, check(wrap(std::move(result))));
    }
    return PyTuple_Check(tuple) ? results.release() : Py_NewRef(PyTuple_GET_ITEM(results.get(), 0));
  });
}
PyMethodDef functions[] = {{"_not_differentiable_again", not_differentiable_again, METH_O, nullptr}, {}};

}  // namespace

int init_function(PyObject* module) {
  g_names = {PyUnicode_InternFromString("forward"),       PyUnicode_InternFromString("backward"),
             PyUnicode_InternFromString("vjp"),           PyUnicode_InternFromString("jvp"),
             PyUnicode_InternFromString("setup_context"), PyUnicode_InternFromString("_backward_cls"),
             PyUnicode_InternFromString("_forward_cls")};
  static std::vector<PyGetSetDef> getset;
  static std::vector<PyMethodDef> methods;
  for (PyGetSetDef* d = node_getset; d->name; ++d) getset.push_back(*d);
  for (PyGetSetDef& d : own_getset) getset.push_back(d);
  for (PyMethodDef* d = node_methods; d->ml_name; ++d) methods.push_back(*d);
  for (PyMethodDef& d : own_methods) methods.push_back(d);
  g_type.tp_flags |= Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  g_type.tp_doc =
      "_FunctionBase(*args, **kwargs)\n--\n\nThe context of a Python Function, which is also the grad_fn of its "
      "results.";
  g_type.tp_new = new_context;
  g_type.tp_dealloc = deallocate;
  g_type.tp_traverse = traverse;
  g_type.tp_clear = clear;
  g_type.tp_dictoffset = offsetof(FunctionContext, dict);
  g_type.tp_weaklistoffset = offsetof(FunctionContext, weakrefs);
  g_type.tp_methods = methods.data();
  g_type.tp_getset = getset.data();
  if (add_type(module, g_type) < 0) return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace taeda::python
