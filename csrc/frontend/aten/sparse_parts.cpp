#include "frontend/aten/sparse_parts.h"

#include <torch/csrc/autograd/custom_function.h>

namespace at::sparse {

namespace {

using ::taeda::numel_of;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor handle(const ::taeda::Tensor& part) {
  return part.defined() ? Tensor(::taeda::Tensor(part->shallow_copy())) : Tensor();
}
// A tensor that keeps a pattern, and no history.
Tensor kept(const Tensor& sparse) { return sparse.variable_data(); }

Tensor made(const Pattern& p, const Tensor& values) {
  return ::taeda::new_sparse(p.layout, {p.indices, p.plain, values.detach().resolve_conj().resolve_neg()}, p.sizes,
                             p.coalesced);
}

struct Values : torch::autograd::Function<Values> {
  static Tensor forward(AutogradContext* ctx, Tensor sparse) {
    ctx->saved_data["sparse"] = kept(sparse);
    return handle(impl_of(sparse, "values").parts().values);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    Pattern pattern = pattern_of(ctx->saved_data["sparse"].toTensor());
    if (pattern.layout != Layout::Sparse || pattern.coalesced) return {with_values(pattern, grads[0])};
    // Elements that share a place have one gradient, which each of them was given.
    Tensor times = coalesced(with_values(pattern, at::ones_like(grads[0])));
    Tensor total = coalesced(with_values(pattern, grads[0]));
    return {with_values(pattern_of(total), values_of(total) / values_of(times))};
  }
};

struct Build : torch::autograd::Function<Build> {
  static Tensor forward(AutogradContext* ctx, const Pattern& pattern, Tensor values) {
    Tensor result = made(pattern, values);
    ctx->saved_data["sparse"] = kept(result);
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {Tensor(), values_at(grads[0], ctx->saved_data["sparse"].toTensor())};
  }
};

Tensor coalesced_alone(const Tensor& t) {
  const SparseImpl::Parts& parts = impl_of(t, "coalesce").parts();
  auto [indices, values] = at::_sparse_coalesce(handle(parts.indices), handle(parts.values), t.sizes());
  return made({Layout::Sparse, indices, {}, t.sizes().vec(), true}, values);
}
struct Coalesce : torch::autograd::Function<Coalesce> {
  static Tensor forward(AutogradContext*, Tensor t) { return coalesced_alone(t); }
  static variable_list backward(AutogradContext*, variable_list grads) { return grads; }
};

bool records(const Tensor& t) { return t.requires_grad() && at::GradMode::is_enabled(); }

std::vector<int64_t> joined(IntArrayRef a, IntArrayRef b) {
  std::vector<int64_t> all = a.vec();
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// The other way of flat_keys: (dims, n).
Tensor unflattened(Tensor keys, IntArrayRef sizes) {
  std::vector<Tensor> rows(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    rows[d] = sizes[d] ? keys.remainder(sizes[d]) : keys;
    if (sizes[d]) keys = keys.div(sizes[d], "floor");
  }
  return rows.empty() ? keys.new_empty({0, keys.size(0)}) : at::stack(rows);
}

// The places of a compressed pattern's elements, or blocks: (batch dims + 2, all).
Tensor compressed_places(const Pattern& p) {
  const Tensor pointers = p.indices.to(kLong), flat = p.plain.reshape({-1}).to(kLong);
  const int64_t lines = pointers.size(-1) - 1, each = p.plain.size(-1),
                count = numel_of(IntArrayRef(p.sizes).slice(0, p.batch()));
  TORCH_CHECK(!(pointers.select(-1, 0) != 0).any().item<bool>() &&
                  !(pointers.select(-1, -1) != each).any().item<bool>() &&
                  !(pointers.slice(-1, 1) < pointers.slice(-1, 0, lines)).any().item<bool>(),
              "compressed indices must rise from 0 to the number of elements, ", each);
  Tensor starts = pointers.slice(-1, 0, lines).reshape({count, lines}) + at::arange(count, kLong).unsqueeze(1) * each;
  Tensor ends = at::cat({starts.reshape({-1}), at::full({1}, flat.size(0), kLong)});
  Tensor line = at::_convert_indices_from_csr_to_coo(ends, flat).select(0, 0);
  Tensor head = unflattened(line, joined(IntArrayRef(p.sizes).slice(0, p.batch()), {lines}));
  Tensor own = head.select(0, -1).unsqueeze(0), other = flat.unsqueeze(0);
  const bool rows = is_by_rows(p.layout);
  return at::cat({head.slice(0, 0, p.batch()), rows ? own : other, rows ? other : own});
}

Elements elements_of_blocks(const Tensor& places, const Tensor& blocks) {
  const int64_t n = blocks.size(0), height = blocks.size(1), width = blocks.size(2);
  auto spread = [&](const Tensor& t) { return t.expand({n, height, width}).reshape({-1}); };
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < places.size(0) - 2; ++d) rows.push_back(spread(places[d].reshape({n, 1, 1})));
  Tensor down = at::arange(height, kLong).reshape({1, -1, 1}), across = at::arange(width, kLong).reshape({1, 1, -1});
  rows.push_back(spread(places[-2].reshape({n, 1, 1}) * height + down));
  rows.push_back(spread(places[-1].reshape({n, 1, 1}) * width + across));
  return {at::stack(rows), blocks.flatten(0, 2)};
}

// Elements of a matrix, or batch of them, as the blocks that hold any, in order.
Elements blocks_of_elements(const Elements& e, IntArrayRef grid, IntArrayRef block) {
  Tensor row = e.indices[-2], column = e.indices[-1];
  Tensor outer = at::stack({row.div(block[0], "floor"), column.div(block[1], "floor")});
  Tensor keys = flat_keys(at::cat({e.indices.slice(0, 0, e.indices.size(0) - 2), outer}), grid);
  auto [distinct, which, counts] = at::unique_dim(keys, 0, true, true);
  const int64_t area = block[0] * block[1], n = distinct.size(0);
  IntArrayRef dense = e.values.sizes().slice(1);
  Tensor inside = row.remainder(block[0]) * block[1] + column.remainder(block[1]);
  Tensor flat = e.values.new_zeros(joined({n * area}, dense)).index_copy(0, which * area + inside, e.values);
  return {unflattened(distinct, grid), flat.reshape(joined({n, block[0], block[1]}, dense))};
}

// Of one long list of lines, those of each matrix of a batch.
void cut(Tensor& pointers, Tensor& plain, Tensor& values, int64_t lines, IntArrayRef heads) {
  const int64_t count = numel_of(heads);
  Tensor starts = lines ? pointers.slice(0, 0, std::nullopt, lines) : at::zeros({count + 1}, pointers.options());
  Tensor counts = starts.diff();
  TORCH_CHECK(count == 0 || !(counts != counts[0]).any().item<bool>(),
              "each matrix of a batch in a compressed layout must have the same number of elements");
  const int64_t each = count ? counts[0].item<int64_t>() : 0;
  Tensor own = pointers.slice(0, 0, count * lines).reshape({count, lines}) - starts.slice(0, 0, count).unsqueeze(1);
  pointers = at::cat({own, counts.unsqueeze(1)}, 1).reshape(joined(heads, {lines + 1}));
  plain = plain.reshape(joined(heads, {each}));
  values = values.reshape(joined(joined(heads, {each}), values.sizes().slice(1)));
}

// The rows of `sparse`'s elements that stand at each of `wanted`; zeros where it has none.
Tensor found_values(const Tensor& sparse, const Tensor& wanted, IntArrayRef sizes) {
  Tensor source = coalesced(to_coordinates(sparse));
  Elements have = elements_of(source);
  TORCH_CHECK(have.indices.size(0) == wanted.size(0), "a tensor with ", have.indices.size(0),
              " sparse dimensions has no elements for one with ", wanted.size(0));
  Tensor keys = flat_keys(have.indices, sizes), asked = flat_keys(wanted, sizes);
  if (keys.numel() == 0) return have.values.new_zeros(joined({asked.size(0)}, have.values.sizes().slice(1)));
  Tensor place = at::searchsorted(keys, asked).clamp_max(keys.numel() - 1);
  std::vector<int64_t> rows(static_cast<size_t>(have.values.dim()), 1);
  rows[0] = asked.size(0);
  Tensor hit = (keys.index_select(0, place) == asked).reshape(rows);
  return at::where(hit, have.values.index_select(0, place), at::zeros({}, have.values.options()));
}

}  // namespace

SparseImpl& impl_of(const Tensor& t, const char* name) {
  SparseImpl* found = ::taeda::sparse_impl(t);
  TORCH_CHECK(found, name, "() is for tensors of a sparse layout; got one that is ",
              t.defined() ? "strided" : "undefined");
  return *found;
}

Pattern pattern_of(const Tensor& sparse) {
  const SparseImpl& impl = impl_of(sparse, "pattern_of");
  return {impl.layout(), handle(impl.parts().indices), handle(impl.parts().plain), sparse.sizes().vec(),
          impl.is_coalesced()};
}

Tensor values_of(const Tensor& sparse) {
  return records(sparse) ? Values::apply(sparse) : handle(impl_of(sparse, "values").parts().values);
}
Tensor with_values(const Pattern& pattern, const Tensor& values) {
  return records(values) ? Build::apply(pattern, values) : made(pattern, values);
}

Tensor values_at(const Tensor& from, const Tensor& like) {
  const Tensor places = elements_of(like.detach()).indices;
  const size_t dims = static_cast<size_t>(places.size(0));
  IntArrayRef sizes = like.sizes().slice(0, dims);
  check_below(places, sizes);
  Tensor values;
  if (::taeda::sparse_impl(from))
    values = found_values(from, places, sizes);
  else
    values = (dims ? from.flatten(0, places.size(0) - 1) : from.unsqueeze(0)).index_select(0, flat_keys(places, sizes));
  return values.reshape(Tensor(impl_of(like, "values").parts().values).sizes());
}

Tensor coalesced(const Tensor& coordinates) {
  if (impl_of(coordinates, "coalesce").is_coalesced()) return coordinates;
  return records(coordinates) ? Coalesce::apply(coordinates) : coalesced_alone(coordinates);
}

Tensor flat_keys(const Tensor& indices, IntArrayRef sizes) {
  Tensor keys = at::zeros({indices.size(1)}, indices.options());
  for (int64_t d = 0; d < indices.size(0); ++d) keys = keys * sizes[static_cast<size_t>(d)] + indices[d];
  return keys;
}

void check_below(const Tensor& indices, IntArrayRef sizes) {
  if (indices.numel() == 0) return;
  for (int64_t d = 0; d < indices.size(0); ++d) {
    const int64_t least = indices[d].min().item<int64_t>(), most = indices[d].max().item<int64_t>();
    TORCH_CHECK(least >= 0 && most < sizes[static_cast<size_t>(d)], "indices of dimension ", d,
                " of a sparse tensor must be from 0 to ", sizes[static_cast<size_t>(d)] - 1, "; got ", least, " to ",
                most);
  }
}

Elements elements_of(const Tensor& sparse) {
  Pattern p = pattern_of(sparse);
  Tensor values = values_of(sparse);
  if (p.layout == Layout::Sparse) return {p.indices, values};
  Tensor places = compressed_places(p);
  values = values.flatten(0, p.batch());
  if (has_blocks(p.layout)) return elements_of_blocks(places, values);
  return {places, values};
}

Tensor to_dense(const Tensor& sparse) {
  const bool sums = sparse.scalar_type() != kBool;
  auto [indices, values] = elements_of(!sums && sparse.is_sparse() ? coalesced(sparse) : sparse);
  IntArrayRef sizes = sparse.sizes().slice(0, static_cast<size_t>(indices.size(0)));
  check_below(indices, sizes);
  Tensor zeros = at::zeros(joined({numel_of(sizes)}, values.sizes().slice(1)), values.options().requires_grad(false));
  Tensor keys = flat_keys(indices, sizes);
  Tensor filled = sums ? zeros.index_add(0, keys, values) : zeros.index_copy(0, keys, values);
  return filled.reshape(sparse.sizes());
}

Tensor to_coordinates(const Tensor& sparse) {
  if (sparse.is_sparse()) return sparse;
  const bool in_order = sparse.layout() == Layout::SparseCsr;
  auto [indices, values] = elements_of(sparse);
  Tensor result = with_values({Layout::Sparse, indices, {}, sparse.sizes().vec(), in_order}, values);
  return in_order ? result : coalesced(result);
}

Tensor dense_to_coordinates(const Tensor& dense, int64_t sparse_dim) {
  Tensor marks = dense != 0;
  if (sparse_dim < dense.dim())
    marks = dense.numel() ? marks.flatten(sparse_dim).any(-1)
                          : marks.new_zeros(dense.sizes().slice(0, static_cast<size_t>(sparse_dim)));
  Tensor indices = marks.nonzero().t().contiguous();
  Tensor rows = sparse_dim ? dense.flatten(0, sparse_dim - 1) : dense.unsqueeze(0);
  Tensor keys = flat_keys(indices, dense.sizes().slice(0, static_cast<size_t>(sparse_dim)));
  return with_values({Layout::Sparse, indices, {}, dense.sizes().vec(), true}, rows.index_select(0, keys));
}

Tensor compressed(const Tensor& coordinates, Layout layout, int64_t batch, OptionalIntArrayRef block) {
  Elements e = elements_of(coordinates);
  const size_t heads = static_cast<size_t>(batch);
  TORCH_CHECK(batch >= 0 && e.indices.size(0) == batch + 2,
              "a compressed layout takes a matrix, or a batch of them; got ", e.indices.size(0), " sparse dimensions");
  std::vector<int64_t> grid = coordinates.sizes().slice(0, heads + 2).vec();
  if (block) {
    for (size_t d = 0; d < 2; ++d) {
      TORCH_CHECK((*block)[d] > 0 && grid[heads + d] % (*block)[d] == 0, "blocks of ", (*block)[0], " x ", (*block)[1],
                  " must divide a matrix of ", coordinates.size(batch), " x ", coordinates.size(batch + 1));
    }
    grid[heads] /= (*block)[0];
    grid[heads + 1] /= (*block)[1];
    e = blocks_of_elements(e, grid, *block);
  }
  const bool rows = is_by_rows(layout);
  if (!rows) {
    std::vector<int64_t> turned = grid;
    std::swap(turned[heads], turned[heads + 1]);
    Tensor swapped =
        at::cat({e.indices.slice(0, 0, batch), e.indices.slice(0, batch + 1), e.indices.slice(0, batch, batch + 1)});
    Tensor order = at::argsort(flat_keys(swapped, turned), /*stable=*/true, 0, false);
    e = {e.indices.index_select(1, order), e.values.index_select(0, order)};
  }
  const int64_t lines = grid[heads + (rows ? 0 : 1)], count = numel_of(IntArrayRef(grid).slice(0, heads));
  Tensor line = e.indices[rows ? -2 : -1], plain = e.indices[rows ? -1 : -2];
  Tensor keys = flat_keys(e.indices.slice(0, 0, batch), IntArrayRef(grid).slice(0, heads)) * lines + line;
  Tensor pointers = at::_convert_indices_from_coo_to_csr(keys.contiguous(), count * lines);
  if (batch) cut(pointers, plain, e.values, lines, IntArrayRef(grid).slice(0, heads));
  return with_values({layout, pointers, plain, coordinates.sizes().vec(), false}, e.values);
}

}  // namespace at::sparse
