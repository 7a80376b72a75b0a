#include <torch/optim/lbfgs.h>

#include <cmath>

namespace torch::optim {

namespace {

// A step length, the loss and flat gradient there, and the gradient's component along the direction.
struct Point {
  double t, loss;
  Tensor grad;
  double slope;
};
using Evaluate = std::function<Point(double t)>;

constexpr double kArmijo = 1e-4, kCurvature = 0.9;
constexpr int kBudget = 25;

// The minimum within bounds of the cubic with the losses and slopes of two points; else their middle.
double cubic_minimum(Point a, Point b, std::optional<std::pair<double, double>> bounds = std::nullopt) {
  if (a.t > b.t) std::swap(a, b);
  auto [low, high] = bounds.value_or(std::pair(a.t, b.t));
  double mixed = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  double square = mixed * mixed - a.slope * b.slope;
  if (square < 0) return (low + high) / 2;
  double root = std::sqrt(square);
  double t = b.t - (b.t - a.t) * ((b.slope + root - mixed) / (b.slope - a.slope + 2 * root));
  return std::min(std::max(t, low), high);
}

// A line search for the strong Wolfe conditions, by bracketing and cubic interpolation: Nocedal and Wright, Numerical
// optimization, algorithms 3.5 and 3.6, with the safeguards of M. Schmidt's minFunc.
class Search {
 public:
  Search(const Evaluate& evaluate, const Point& start, double largest, double tolerance)
      : evaluate_(evaluate), start_(start), largest_(largest), tolerance_(tolerance) {}

  std::pair<Point, int> run(double t) {
    if (bracket(t)) return {right_, used_ + 1};
    int calls = used_ + 1;
    bool stalled = false;
    while (used_ < kBudget && std::abs(right_.t - left_.t) * largest_ >= tolerance_) {
      Point *low = &left_, *high = &right_;
      if (left_.loss > right_.loss) std::swap(low, high);
      Point made = evaluate_(inside(stalled));
      ++calls;
      ++used_;
      if (!decreases_enough(made) || made.loss >= low->loss) {
        *high = made;
        continue;
      }
      if (std::abs(made.slope) <= -kCurvature * start_.slope) return {made, calls};
      if (made.slope * (high->t - low->t) >= 0) *high = *low;
      *low = made;
    }
    return {left_.loss <= right_.loss ? left_ : right_, calls};
  }

 private:
  bool decreases_enough(const Point& p) const { return !(p.loss > start_.loss + kArmijo * p.t * start_.slope); }

  // Two points around an acceptable one; true when the right one is acceptable itself.
  bool bracket(double t) {
    Point previous = start_, made = evaluate_(t);
    for (used_ = 0; used_ < kBudget; ++used_) {
      left_ = previous;
      right_ = made;
      if (!decreases_enough(made) || (used_ > 1 && made.loss >= previous.loss)) return false;
      if (std::abs(made.slope) <= -kCurvature * start_.slope) return true;
      if (made.slope >= 0) return false;
      t = cubic_minimum(previous, made, std::pair(made.t + 0.01 * (made.t - previous.t), made.t * 10));
      previous = made;
      made = evaluate_(t);
    }
    left_ = start_;
    right_ = made;
    return false;
  }

  // The next length to try; twice in a row close to an end is not allowed.
  double inside(bool& stalled) const {
    double t = cubic_minimum(left_, right_), low = std::min(left_.t, right_.t), high = std::max(left_.t, right_.t);
    double margin = 0.1 * (high - low);
    bool close = std::min(high - t, t - low) < margin;
    if (close && (stalled || t >= high || t <= low)) {
      stalled = false;
      return std::abs(t - high) < std::abs(t - low) ? high - margin : low + margin;
    }
    stalled = close;
    return t;
  }

  const Evaluate& evaluate_;
  Point start_, left_{}, right_{};
  double largest_, tolerance_;
  int used_ = 0;
};

double number(const Tensor& t) { return t.item().toDouble(); }

}  // namespace

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults)
    : Optimizer(param_groups, std::make_unique<LBFGSOptions>(defaults)) {
  TORCH_CHECK(param_groups_.size() == 1, "LBFGS: all parameters are in one group; got ", param_groups_.size(),
              " groups");
  auto& options = static_cast<LBFGSOptions&>(param_groups_[0].options());
  if (!options.max_eval()) options.max_eval(options.max_iter() * 5 / 4);
}

Tensor LBFGS::flat_grad() const {
  std::vector<Tensor> parts;
  for (const Tensor& param : param_groups_[0].params()) {
    const Tensor& grad = param.grad();
    parts.push_back(!grad.defined()    ? at::zeros({param.numel()}, param.options())
                    : grad.is_sparse() ? grad.to_dense().reshape(-1)
                                       : grad.reshape(-1));
  }
  return at::cat(parts);
}
void LBFGS::move(double t, const Tensor& direction) {
  int64_t at = 0;
  for (Tensor& param : param_groups_[0].params()) {
    param.add_(direction.slice(0, at, at + param.numel()).view_as(param), t);
    at += param.numel();
  }
}

// -H grad for the estimate H of the inverse Hessian that the last moves define; takes the last move into account.
Tensor LBFGS::direction(LBFGSParamState& state, const Tensor& grad, int64_t history) {
  if (state.n_iter() == 1) {
    state.old_dirs().clear();
    state.old_stps().clear();
    state.ro().clear();
    state.H_diag(torch::tensor(1, grad.options().requires_grad(false)));
    return grad.neg();
  }
  Tensor difference = grad.sub(state.prev_flat_grad()), moved = state.d().mul(state.t());
  Tensor curvature = difference.dot(moved);
  if (number(curvature) > 1e-10) {
    if (static_cast<int64_t>(state.old_dirs().size()) == history)
      for (std::deque<Tensor>* list : {&state.old_dirs(), &state.old_stps(), &state.ro()}) list->pop_front();
    state.old_dirs().push_back(difference);
    state.old_stps().push_back(moved);
    state.ro().push_back(curvature.reciprocal());
    state.H_diag(curvature / difference.dot(difference));
  }
  const size_t count = state.old_dirs().size();
  if (!state.al()) state.al(std::vector<Tensor>(static_cast<size_t>(history)));
  std::vector<Tensor>& weights = *state.al();
  Tensor q = grad.neg();
  for (size_t i = count; i-- > 0;) {
    weights[i] = state.old_stps()[i].dot(q) * state.ro()[i];
    q.add_(state.old_dirs()[i], -number(weights[i]));
  }
  Tensor made = q.mul(state.H_diag());
  for (size_t i = 0; i < count; ++i) {
    Tensor along = state.old_dirs()[i].dot(made) * state.ro()[i];
    made.add_(state.old_stps()[i], number(weights[i] - along));
  }
  return made;
}

Tensor LBFGS::step(LossClosure closure) {
  TORCH_CHECK(closure, "LBFGS: step() evaluates the loss itself, by a closure that it needs");
  NoGradGuard no_grad;
  const auto& o = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  auto& params = param_groups_[0].params();
  auto& state = state_of<LBFGSParamState>(params[0]);
  const Tensor first_loss = loss_of(closure);
  double loss = number(first_loss);
  int64_t evals = 1;
  ++state.func_evals();
  Tensor grad = flat_grad();
  if (number(grad.abs().max()) <= o.tolerance_grad()) return first_loss;
  for (int64_t n = 1; n <= o.max_iter(); ++n) {
    ++state.n_iter();
    state.d(direction(state, grad, o.history_size()));
    const double previous = loss;
    state.prev_flat_grad(grad.clone());
    state.prev_loss(loss);
    state.t((state.n_iter() == 1 ? std::min(1.0, 1.0 / number(grad.abs().sum())) : 1.0) * o.lr());
    const double slope = number(grad.dot(state.d()));
    if (slope > -o.tolerance_change()) break;
    int64_t calls = 0;
    if (!o.line_search_fn()) {
      move(state.t(), state.d());
      if (n != o.max_iter()) {  // nobody reads the loss after the last iteration
        loss = number(loss_of(closure));
        grad = flat_grad();
        calls = 1;
      }
    } else {
      TORCH_CHECK(*o.line_search_fn() == "strong_wolfe", "LBFGS: line_search_fn must be \"strong_wolfe\"; got ",
                  *o.line_search_fn());
      std::vector<Tensor> origin;
      for (const Tensor& param : params) origin.push_back(param.clone(at::MemoryFormat::Contiguous));
      Evaluate evaluate = [&](double t) {
        move(t, state.d());
        double there = number(loss_of(closure));
        Tensor slopes = flat_grad();
        for (size_t i = 0; i < params.size(); ++i) params[i].copy_(origin[i]);
        return Point{t, there, slopes, number(slopes.dot(state.d()))};
      };
      auto [found, used] =
          Search(evaluate, {0, loss, grad, slope}, number(state.d().abs().max()), o.tolerance_change()).run(state.t());
      state.t(found.t);
      move(found.t, state.d());
      loss = found.loss;
      grad = found.grad;
      calls = used;
    }
    evals += calls;
    state.func_evals() += calls;
    if (evals >= *o.max_eval() || number(grad.abs().max()) <= o.tolerance_grad() ||
        number((state.d() * state.t()).abs().max()) <= o.tolerance_change() ||
        std::abs(loss - previous) < o.tolerance_change())
      break;
  }
  return first_loss;
}

// --- files
void LBFGSParamState::serialize(torch::serialize::OutputArchive& archive) const {
  auto list = [](const std::deque<Tensor>& tensors) {
    return c10::IValue(std::vector<Tensor>(tensors.begin(), tensors.end()));
  };
  archive.write("func_evals", c10::IValue(func_evals()));
  archive.write("n_iter", c10::IValue(n_iter()));
  archive.write("t", c10::IValue(t()));
  archive.write("prev_loss", c10::IValue(prev_loss()));
  if (d().defined()) archive.write("d", c10::IValue(d()));
  if (H_diag().defined()) archive.write("H_diag", c10::IValue(H_diag()));
  if (prev_flat_grad().defined()) archive.write("prev_flat_grad", c10::IValue(prev_flat_grad()));
  archive.write("old_dirs", list(old_dirs()));
  archive.write("old_stps", list(old_stps()));
  archive.write("ro", list(ro()));
}
void LBFGSParamState::serialize(torch::serialize::InputArchive& archive) {
  auto list = [&](const char* name, std::deque<Tensor>& tensors) {
    c10::IValue read;
    if (!archive.try_read(name, read)) return;
    std::vector<Tensor> items = read.toTensorVector();
    tensors.assign(items.begin(), items.end());
  };
  detail::read_field(archive, "func_evals", func_evals());
  detail::read_field(archive, "n_iter", n_iter());
  detail::read_field(archive, "t", t());
  detail::read_field(archive, "prev_loss", prev_loss());
  detail::read_field(archive, "d", d());
  detail::read_field(archive, "H_diag", H_diag());
  detail::read_field(archive, "prev_flat_grad", prev_flat_grad());
  list("old_dirs", old_dirs());
  list("old_stps", old_stps());
  list("ro", ro());
}

}  // namespace torch::optim
