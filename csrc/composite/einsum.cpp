// Contractions of labelled dimensions, pair by pair, each as a batch of matrix products.
#include <algorithm>
#include <numeric>

#include "composite/ops/linalg.h"
#include "taeda/ops/binary.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/linalg.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/reshape.h"
#include "taeda/ops/view.h"

namespace taeda::composite {

namespace {

// Letters are their character codes; the dimensions that '...' stands for count on from here, aligned at the last.
constexpr int kEllipsis = 256;
using Labels = std::vector<int>;

bool has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }
int64_t place(const Labels& labels, int label) { return std::ranges::find(labels, label) - labels.begin(); }

struct Operand {
  Tensor tensor;
  Labels labels;  // one per dimension, all different, none of size 1
};

// --- reading an equation
struct Term {
  Labels before, after;  // around the ellipsis
  bool ellipsis = false;
};

Term read_term(std::string_view text, std::string_view equation) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = true;
      i += 2;
      continue;
    }
    TAEDA_CHECK((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), "the equation '", equation,
                "' may hold letters, commas, one '...' per operand and one '->'; got '", text.substr(i, 1), "'");
    (term.ellipsis ? term.after : term.before).push_back(c);
  }
  return term;
}

struct Equation {
  std::vector<Term> operands;
  std::optional<Term> result;
};

Equation read_equation(std::string_view text) {
  Equation equation;
  size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  for (size_t begin = 0; begin <= left.size();) {
    size_t comma = std::min(left.find(',', begin), left.size());
    equation.operands.push_back(read_term(left.substr(begin, comma - begin), text));
    begin = comma + 1;
  }
  if (arrow != std::string_view::npos) equation.result = read_term(text.substr(arrow + 2), text);
  return equation;
}

// A term's labels for a tensor of `rank` dimensions, where '...' stands for at most `widest` of them.
Labels spelled_out(const Term& term, int64_t ellipsis_size) {
  Labels labels = term.before;
  for (int64_t i = ellipsis_size; i > 0; --i) labels.push_back(kEllipsis + static_cast<int>(i));
  labels.insert(labels.end(), term.after.begin(), term.after.end());
  return labels;
}

int64_t ellipsis_size(const Term& term, const Tensor& tensor) {
  int64_t letters = static_cast<int64_t>(term.before.size() + term.after.size()), rest = tensor.dim() - letters;
  TAEDA_CHECK(rest == 0 || (rest > 0 && term.ellipsis), "a term with ", letters,
              " letters does not fit an operand of shape ", tensor.sizes());
  return rest;
}

// Without '->': the ellipsis, then the letters that occur once, in alphabetical order.
Labels implied_result(const std::vector<Labels>& terms, int64_t widest) {
  Labels result = spelled_out({{}, {}, true}, widest), once;
  for (int c = 'A'; c <= 'z'; ++c) {
    int64_t count = 0;
    for (const Labels& term : terms) count += std::ranges::count(term, c);
    if (count == 1) once.push_back(c);
  }
  result.insert(result.end(), once.begin(), once.end());
  return result;
}

// --- contracting
// Repeated labels become diagonals, and dimensions of size 1 go away: they broadcast.
Operand prepare(Tensor tensor, Labels labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = labels.size() - 1; j > i; --j) {
      if (labels[j] != labels[i]) continue;
      TAEDA_CHECK(tensor.sizes()[i] == tensor.sizes()[j],
                  "a letter that is repeated within an operand needs equal sizes; got shape ", tensor.sizes());
      tensor = ops::movedim(ops::diagonal(tensor, 0, static_cast<int64_t>(i), static_cast<int64_t>(j)), -1,
                            static_cast<int64_t>(i));
      labels.erase(labels.begin() + static_cast<int64_t>(j));
    }
  }
  for (int64_t d = tensor.dim() - 1; d >= 0; --d) {
    if (tensor.sizes()[d] != 1) continue;
    tensor = ops::squeeze(tensor, d);
    labels.erase(labels.begin() + d);
  }
  return {tensor, labels};
}

Operand summed(const Operand& operand, const auto& keep) {
  std::vector<int64_t> gone;
  Labels labels;
  for (size_t i = 0; i < operand.labels.size(); ++i)
    keep(operand.labels[i]) ? labels.push_back(operand.labels[i]) : gone.push_back(static_cast<int64_t>(i));
  return gone.empty() ? operand : Operand{ops::sum(operand.tensor, gone), labels};
}

int64_t product_of(const Operand& operand, const Labels& labels) {
  int64_t product = 1;
  for (int l : labels) product *= operand.tensor.sizes()[place(operand.labels, l)];
  return product;
}

// `operand` with its dimensions in the order of the groups of labels, each group folded into one dimension.
Tensor folded(const Operand& operand, std::initializer_list<const Labels*> groups) {
  std::vector<int64_t> order, sizes;
  for (const Labels* group : groups) {
    for (int l : *group) order.push_back(place(operand.labels, l));
    sizes.push_back(product_of(operand, *group));
  }
  return ops::reshape(ops::permute(operand.tensor, order), sizes);
}

// The labels of a product of two, by what becomes of them.
struct Roles {
  Labels batch, left, right, contracted;
  // Each in the order of the whole contraction's `result`, what that lacks at the end.
  Roles(const Operand& a, const Operand& b, const Labels& result, const auto& keep) {
    for (int l : a.labels) (!has(b.labels, l) ? left : keep(l) ? batch : contracted).push_back(l);
    for (int l : b.labels)
      if (!has(a.labels, l)) right.push_back(l);
    for (Labels* labels : {&batch, &left, &right}) std::ranges::stable_sort(*labels, {}, before(result));
  }
  static auto before(const Labels& result) {
    return [&result](int label) { return place(result, label); };
  }
  Labels result() const {
    Labels all = batch;
    all.insert(all.end(), left.begin(), left.end());
    all.insert(all.end(), right.begin(), right.end());
    return all;
  }
};

// Without a sum, or with nothing but a batch around it, the elementwise product is as good as a matrix product.
Operand elementwise(const Operand& a, const Operand& b, const Roles& r, const Labels& result) {
  Labels kept = r.result();
  std::ranges::stable_sort(kept, {}, Roles::before(result));
  auto spread = [&](const Operand& o) {
    std::vector<int64_t> order, missing;
    Labels all = kept;
    all.insert(all.end(), r.contracted.begin(), r.contracted.end());
    for (size_t i = 0; i < all.size(); ++i)
      has(o.labels, all[i]) ? order.push_back(place(o.labels, all[i])) : missing.push_back(static_cast<int64_t>(i));
    Tensor t = ops::permute(o.tensor, order);
    for (int64_t d : missing) t = ops::unsqueeze(t, d);
    return t;
  };
  Tensor product = ops::mul(spread(a), spread(b));
  std::vector<int64_t> last(r.contracted.size());
  std::iota(last.begin(), last.end(), static_cast<int64_t>(kept.size()));
  return {last.empty() ? product : ops::sum(product, last), kept};
}

Operand contract(const Operand& a_given, const Operand& b_given, const Labels& result, const auto& keep) {
  Operand a = summed(a_given, [&](int l) { return keep(l) || has(b_given.labels, l); });
  Operand b = summed(b_given, [&](int l) { return keep(l) || has(a_given.labels, l); });
  Roles r(a, b, result, keep);
  if (r.contracted.empty() || (r.left.empty() && r.right.empty() && !r.batch.empty()))
    return elementwise(a, b, r, result);
  Labels labels = r.result();
  std::vector<int64_t> sizes;
  for (int l : labels) sizes.push_back(has(a.labels, l) ? product_of(a, {l}) : product_of(b, {l}));
  Tensor product = r.batch.empty() ? ops::mm(folded(a, {&r.left, &r.contracted}), folded(b, {&r.contracted, &r.right}))
                                   : ops::bmm(folded(a, {&r.batch, &r.left, &r.contracted}),
                                              folded(b, {&r.batch, &r.contracted, &r.right}));
  return {ops::reshape(product, sizes), labels};
}

std::string name_of(int label) {
  if (label >= kEllipsis) return str("a dimension of '...'");
  char letter = static_cast<char>(label);
  return str("'", std::string_view(&letter, 1), "'");
}

void check_sizes(const std::vector<Operand>& operands) {
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      for (int l : operands[i].labels)
        TAEDA_CHECK(!has(operands[j].labels, l) || product_of(operands[i], {l}) == product_of(operands[j], {l}),
                    name_of(l), " has size ", product_of(operands[j], {l}), " in operand ", j, " and ",
                    product_of(operands[i], {l}), " in operand ", i);
}

// --- the order
using Places = std::pair<size_t, size_t>;

// The pair whose product has the fewest elements; equal ones go to the earliest.
Places cheapest(const std::vector<Operand>& operands, const auto& keep_of) {
  Places best{0, 1};
  double least = INFINITY;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j) {
      auto keep = keep_of(i, j);
      double elements = 1;
      for (int l : operands[i].labels) elements *= keep(l) ? static_cast<double>(product_of(operands[i], {l})) : 1;
      for (int l : operands[j].labels)
        elements *= keep(l) && !has(operands[i].labels, l) ? static_cast<double>(product_of(operands[j], {l})) : 1;
      if (elements < least) least = elements, best = {i, j};
    }
  return best;
}

Places step_of(IntList path, size_t step, size_t count) {
  auto i = static_cast<size_t>(path[2 * step]), j = static_cast<size_t>(path[2 * step + 1]);
  TAEDA_CHECK(i < count && j < count && i != j, "step ", step, " of path must name two of the ", count,
              " operands left; got ", path[2 * step], " and ", path[2 * step + 1]);
  return {std::min(i, j), std::max(i, j)};
}

Operand contract_all(std::vector<Operand> operands, const Labels& result, std::optional<IntList> path) {
  auto keep_of = [&](size_t i, size_t j) {
    return [&operands, &result, i, j](int label) {
      if (has(result, label)) return true;
      for (size_t k = 0; k < operands.size(); ++k)
        if (k != i && k != j && has(operands[k].labels, label)) return true;
      return false;
    };
  };
  TAEDA_CHECK(!path || path->size() == 2 * (operands.size() - 1), "path must hold ", operands.size() - 1, " pairs for ",
              operands.size(), " operands; got ", path ? *path : IntList());
  for (size_t step = 0; operands.size() > 1; ++step) {
    auto [i, j] = path ? step_of(*path, step, operands.size()) : cheapest(operands, keep_of);
    Operand product = contract(operands[i], operands[j], result, keep_of(i, j));
    operands.erase(operands.begin() + static_cast<int64_t>(j));
    operands.erase(operands.begin() + static_cast<int64_t>(i));
    operands.push_back(product);
  }
  return summed(operands[0], [&](int l) { return has(result, l); });
}

// In the order of `result`; labels that were squeezed away come back with size 1.
Tensor arranged(const Operand& operand, const Labels& result) {
  std::vector<int64_t> order;
  for (int l : result)
    if (has(operand.labels, l)) order.push_back(place(operand.labels, l));
  Tensor tensor = ops::permute(operand.tensor, order);
  for (size_t i = 0; i < result.size(); ++i)
    if (!has(operand.labels, result[i])) tensor = ops::unsqueeze(tensor, static_cast<int64_t>(i));
  return tensor;
}

}  // namespace

Tensor einsum(std::string_view text, TensorList tensors, std::optional<IntList> path) {
  Equation equation = read_equation(text);
  TAEDA_CHECK(!tensors.empty() && equation.operands.size() == tensors.size(), "the equation '", text, "' has ",
              equation.operands.size(), " operands; got ", tensors.size(), " tensors");
  std::vector<Labels> terms;
  std::vector<Operand> operands;
  int64_t widest = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    int64_t size = ellipsis_size(equation.operands[i], tensors[i]);
    widest = std::max(widest, size);
    terms.push_back(spelled_out(equation.operands[i], size));
    operands.push_back(prepare(tensors[i], terms.back()));
  }
  check_sizes(operands);
  Labels result = implied_result(terms, widest);
  if (equation.result) result = spelled_out(*equation.result, equation.result->ellipsis ? widest : 0);
  for (int l : result) {
    bool known = std::ranges::any_of(terms, [&](const Labels& term) { return has(term, l); });
    TAEDA_CHECK(known && std::ranges::count(result, l) == 1,
                "each letter of the result must stand in an operand, and once in the result; got '", text, "'");
  }
  Tensor made = arranged(contract_all(std::move(operands), result, path), result);
  // A sum over dimensions of size 1 is new memory like any other.
  bool sums = std::ranges::any_of(terms[0], [&](int l) { return !has(result, l); });
  return sums && made->storage() == tensors[0]->storage() ? ops::clone(made) : made;
}

Tensor tensordot(const Tensor& self, const Tensor& other, IntList dims_self, IntList dims_other) {
  TAEDA_CHECK(dims_self.size() == dims_other.size(), "dims_self and dims_other must pair up; got ", dims_self, " and ",
              dims_other);
  Tensor a = self, b = other;
  std::vector<int64_t> inner_a, inner_b;
  for (size_t i = 0; i < dims_self.size(); ++i) {
    inner_a.push_back(wrap_dim(dims_self[i], self.dim()));
    inner_b.push_back(wrap_dim(dims_other[i], other.dim()));
    int64_t x = a.sizes()[inner_a[i]], y = b.sizes()[inner_b[i]];
    TAEDA_CHECK(x == y || x == 1 || y == 1, "dimension ", dims_self[i], " of self and ", dims_other[i],
                " of other must have one size, or one of them size 1; got shapes ", self.sizes(), " and ",
                other.sizes());
    if (x == 1 && y != 1) b = ops::sum(b, IntList({inner_b[i]}), true, b.dtype());
    if (y == 1 && x != 1) a = ops::sum(a, IntList({inner_a[i]}), true, a.dtype());
  }
  std::vector<int64_t> sizes, outer_a, outer_b;
  int64_t rows = 1, depth = 1, columns = 1;
  for (int64_t d : inner_a) depth *= a.sizes()[d];
  auto collect = [&](const Tensor& t, const std::vector<int64_t>& inner, std::vector<int64_t>& outer,
                     int64_t& product) {
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (std::ranges::find(inner, d) != inner.end()) continue;
      outer.push_back(d);
      sizes.push_back(t.sizes()[d]);
      product *= t.sizes()[d];
    }
  };
  collect(a, inner_a, outer_a, rows);
  collect(b, inner_b, outer_b, columns);
  outer_a.insert(outer_a.end(), inner_a.begin(), inner_a.end());
  inner_b.insert(inner_b.end(), outer_b.begin(), outer_b.end());
  Tensor left = ops::reshape(ops::permute(a, outer_a), IntList({rows, depth}));
  Tensor right = ops::reshape(ops::permute(b, inner_b), IntList({depth, columns}));
  return ops::reshape(ops::mm(left, right), sizes);
}

}  // namespace taeda::composite
