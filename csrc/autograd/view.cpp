#include "taeda/autograd/view.h"

#include "autograd/arithmetic.h"

namespace taeda::autograd {
namespace {

bool is_replayed(const Tensor& t) { return t->is_view() && meta_of(t)->view && meta_of(t)->view->replay; }

constexpr KeySet kSpecial = KeySet(Functionality::Python) | KeySet(Functionality::Batched) |
                            KeySet(Functionality::Nested) | KeySet(Functionality::Functionalize);

bool is_special(const Tensor& t) { return !(t.keys() & kSpecial).empty() || t->layout() != Layout::Strided; }

struct StridedView {
  std::vector<int64_t> sizes, strides;
  int64_t offset;  // from the base's

  StridedView(const Tensor& base, const Tensor& view)
      : sizes(view.sizes().begin(), view.sizes().end()),
        strides(view.strides().begin(), view.strides().end()),
        offset(view.storage_offset() - base.storage_offset()) {}
  Tensor operator()(const Tensor& base) const {
    return arithmetic::as_strided(base, sizes, strides, base.storage_offset() + offset);
  }
};

// How to get from the root to `view`, which was made from `base` by `last`. Null where as_strided does.
Ref<Replay> composed(const Tensor& base, const Tensor& view, Ref<Replay> last) {
  const ViewInfo& outer = *meta_of(base)->view;
  if (!outer.replay && !last) return {};
  Ref<Replay> first = outer.replay;
  if (!first) first = make_replay(StridedView(outer.base, base));
  if (!last) last = make_replay(StridedView(base, view));
  return make_replay([first, last](const Tensor& root) { return last->run(first->run(root)); });
}

// An in-place call on a view, seen from its base: the base's gradient, with the slice replaced by what `inner` (the
// node of the call) makes of it.
struct CopySlices final : Node {
  InputMetadata base_;
  std::vector<int64_t> base_strides_;
  int64_t base_offset_;
  KeySet base_bits_;
  Ref<Replay> view_;
  Ref<Node> inner_;

  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner)
      : base_(base),
        base_strides_(base.strides().begin(), base.strides().end()),
        base_offset_(base.storage_offset()),
        base_bits_(base.keys() & kLazyKeys),
        view_(meta_of(view)->view->replay),
        inner_(std::move(inner)) {
    if (!view_) view_ = make_replay(StridedView(base, view));
    add_next_edge(gradient_edge(base));
    for (size_t i = 1; i < inner_->num_outputs(); ++i) add_next_edge(inner_->next_edge(i));
    if (inner_->num_outputs()) inner_->set_next_edge(0, next_edge(0));
    inner_->set_outer(this);
    add_metadata(base);
  }
  ~CopySlices() override { inner_->set_outer(nullptr); }

  void apply(std::span<Tensor> grads, std::span<Tensor> grad_inputs) override {
    if (!grads[0].defined()) return;
    Tensor whole = arithmetic::empty_beside(grads[0], base_.shape(), base_strides_);
    whole->set_keys(whole.keys() | base_bits_);
    arithmetic::copy(whole, grads[0]);
    Tensor slice = view_->run(whole);
    Tensor slice_grad = arithmetic::clone(slice);
    grads[0].reset();
    inner_->apply({&slice_grad, 1}, grad_inputs);
    if (!next_edge(0).is_valid()) return;
    if (grad_inputs[0].defined())
      arithmetic::copy(slice, grad_inputs[0]);
    else
      arithmetic::fill_zero(slice);
    grad_inputs[0] = std::move(whole);
  }
  std::string_view name() const override { return "CopySlices"; }
  void release_saved() override { inner_->release_saved(); }
};

}  // namespace

bool needs_replay(const Tensor& base, const Tensor& view) {
  return base.dtype() != view.dtype() || !((base.keys() ^ view.keys()) & kLazyKeys).empty() || is_special(base) ||
         is_special(view) || is_replayed(base);
}

void mark_view(const Tensor& base, const Tensor& view, Ref<Replay> replay, Creation creation) {
  auto info = std::make_unique<ViewInfo>();
  if (base->is_view() && meta_of(base)->view) {
    const ViewInfo& outer = *meta_of(base)->view;
    info->base = outer.base;
    info->replay = composed(base, view, std::move(replay));
    info->creation = creation == Creation::DEFAULT ? outer.creation : creation;
  } else {
    info->base = base;
    info->replay = std::move(replay);
    info->creation = creation;
  }
  view->share_versions_of(*info->base.impl());
  info->version = view->version();
  make_meta(view).view = std::move(info);
  view->set_is_view(true);
}

Creation AutogradMeta::get_creation_meta() const {
  TAEDA_CHECK(view, "get_creation_meta: the tensor is no differentiable view: ask has_bw_view() first");
  return view->creation;
}

Tensor base_of(const Tensor& t) { return t->is_view() && meta_of(t)->view ? meta_of(t)->view->base : Tensor(); }

void check_view_writable(const Tensor& view, bool indirect) {
  Creation creation = meta_of(view)->view->creation;
  if (creation == Creation::DEFAULT) [[likely]]
    return;
  const char* what = indirect ? "the base of this view, or another view of it, was written to, but " : "";
  const char* why = "";
  switch (creation) {
    case Creation::NO_GRAD_MODE:
      why =
          "the view was made under no_grad and the write is recorded, so it is unclear whether the write belongs to "
          "the graph: make both under no_grad, or neither";
      break;
    case Creation::MULTI_OUTPUT_NODE:
      why =
          "the view is one of several results of one call, which cannot be written to in place: write out of place, "
          "or index the base";
      break;
    case Creation::IN_CUSTOM_FUNCTION:
      why =
          "the view is the result of a custom Function, whose backward an in-place write would bypass: return a "
          "clone from forward, or write out of place";
      break;
    default:
      why =
          "the view was made in inference mode and cannot be written to in place where grad mode is on: make it "
          "outside of inference mode";
  }
  TAEDA_FAIL(Runtime, what, why);
}

Tensor replay_view(const Tensor& view, const Tensor& base) {
  const ViewInfo& info = *meta_of(view)->view;
  return info.replay ? info.replay->run(base) : StridedView(info.base, view)(base);
}

void rebase_view(const Tensor& view, Ref<Node> node) {
  Tensor base = meta_of(view)->view->base;
  check_view_writable(view, false);
  node->add_metadata(view);
  set_gradient_edge(base, Edge(make_node<CopySlices>(base, view, std::move(node)), 0));
  view->set_grad_flag(true);
  meta_of(view)->view->version = view->version() - 1;  // its own node is made when somebody asks
}

Tensor result_of_copy(const Tensor& data, Node& copy) {
  auto& node = static_cast<CopySlices&>(copy);
  Tensor base(data->shallow_copy());
  base->set_dtype(node.base_.dtype);
  base->set_keys((data.keys() - kLazyKeys) | node.base_bits_);
  base->set_geometry(node.base_.shape(), node.base_strides_, node.base_offset_);
  set_gradient_edge(base, Edge(Ref<Node>(&node), 0));
  return node.view_->run(base);
}

}  // namespace taeda::autograd
