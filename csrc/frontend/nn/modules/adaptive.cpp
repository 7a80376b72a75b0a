#include <torch/nn/modules/adaptive.h>

namespace torch::nn {

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const std::vector<int64_t>& given = options.cutoffs();
  bool rising = !given.empty() && given.front() > 0 && given.back() <= options.n_classes() - 1;
  for (size_t i = 1; i < given.size(); ++i) rising &= given[i - 1] < given[i];
  TORCH_CHECK(rising, "AdaptiveLogSoftmaxWithLoss: cutoffs rise from above 0 to below n_classes; got ",
              IntArrayRef(given), " for ", options.n_classes(), " classes");
  TORCH_CHECK(options.div_value() != 0,
              "AdaptiveLogSoftmaxWithLoss: each cluster has div_value times fewer features than the one before; got 0");
  cutoffs = given;
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  head = register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  double divisor = options.div_value();
  for (int64_t i = 0; i < n_clusters; ++i, divisor *= options.div_value()) {
    auto hidden = static_cast<int64_t>(static_cast<double>(options.in_features()) / divisor);
    int64_t size = cutoffs[static_cast<size_t>(i) + 1] - cutoffs[static_cast<size_t>(i)];
    tail->push_back(Sequential(Linear(LinearOptions(options.in_features(), hidden).bias(false)),
                               Linear(LinearOptions(hidden, size).bias(false))));
  }
}
void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i)
    for (size_t j = 0; j < 2; ++j) tail->at<SequentialImpl>(i).at<LinearImpl>(j).reset_parameters();
}
void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  bool is_batch = input.dim() == 2;
  TORCH_CHECK(input.dim() <= 2 && target.dim() == input.dim() - 1 && (!is_batch || input.size(0) == target.size(0)),
              "AdaptiveLogSoftmaxWithLoss: expected input (batch, features) and target (batch), or both without a "
              "batch; got ",
              input.sizes(), " and ", target.sizes());
  Tensor x = is_batch ? input : input.unsqueeze(0), wanted = is_batch ? target : target.unsqueeze(0);
  Tensor output = torch::zeros({wanted.size(0)}, x.options());
  Tensor gather = torch::zeros({wanted.size(0)}, wanted.options());
  int64_t used = 0;
  for (size_t i = 0; i < cutoffs.size(); ++i) {
    int64_t low = i == 0 ? 0 : cutoffs[i - 1], high = cutoffs[i];
    Tensor rows = ((wanted >= low) & (wanted < high)).nonzero().squeeze(-1);
    if (rows.numel() == 0) continue;
    if (i == 0) {
      gather.index_copy_(0, rows, wanted.index_select(0, rows));
    } else {
      Tensor relative = wanted.index_select(0, rows) - low;
      Tensor cluster = tail->at<SequentialImpl>(i - 1).forward(x.index_select(0, rows));
      gather.index_fill_(0, rows, shortlist_size + static_cast<int64_t>(i) - 1);
      Tensor local = at::log_softmax(cluster, 1).gather(1, relative.unsqueeze(1));
      output = output.index_copy(0, rows, local.squeeze(1));
    }
    used += rows.numel();
  }
  TORCH_CHECK(used == wanted.size(0), "AdaptiveLogSoftmaxWithLoss: targets are classes from 0 to ",
              options.n_classes() - 1, "; got ", wanted.min().item(), " to ", wanted.max().item());
  output = output + at::log_softmax(head(x), 1).gather(1, gather.unsqueeze(1)).squeeze();
  const double loss = (-output).mean().item<double>();
  return ASMoutput(is_batch ? output : output.squeeze(0), loss);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input, const Tensor& head_output) {
  Tensor first = at::log_softmax(head_output, 1);
  std::vector<Tensor> parts = {first.slice(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    Tensor cluster = at::log_softmax(tail->at<SequentialImpl>(static_cast<size_t>(i)).forward(input), 1);
    parts.push_back(cluster + first.select(1, shortlist_size + i).unsqueeze(1));
  }
  return at::cat(parts, 1);
}
Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) { return _get_full_log_prob(input, head(input)); }
Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  Tensor scores = head(input), best = scores.argmax(1);
  Tensor rare = (best >= shortlist_size).nonzero().squeeze(-1);
  if (rare.numel() == 0) return best;
  Tensor all = _get_full_log_prob(input.index_select(0, rare), scores.index_select(0, rare)).argmax(1);
  return best.index_copy(0, rare, all);
}

}  // namespace torch::nn
