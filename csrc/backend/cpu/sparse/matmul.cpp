// Products of two sparse matrices, and systems of equations.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "backend/cpu/ops/sparse.h"
#include "backend/cpu/sparse/parts.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

using namespace sparse;

namespace {

// A matrix in rows whose columns are below `n`.
template <class T>
struct Matrix {
  const int64_t *rows, *columns;
  const T* values;
};

struct Checked {
  Rows rows;
  Indices columns;
  Tensor values;
  Checked(const Tensor& pointers, const Tensor& columns_, const Tensor& values_, int64_t n)
      : rows(pointers, columns_.numel()), columns(columns_, "columns") {
    check_below(columns, n, "columns");
    if (!values_.defined()) return;
    TAEDA_CHECK(values_.dim() == 1 && values_.numel() == columns.size(), "there must be a value for each of ",
                columns.size(), " columns; got shape ", values_.sizes());
    values = ops::contiguous(values_);
  }
  template <class T>
  Matrix<T> as() const {
    return {rows.data(), columns.data(), values.defined() ? values.data<T>() : nullptr};
  }
};

template <class T>
int64_t products_of(const Matrix<T>& a, const Matrix<T>& b, int64_t from, int64_t to) {
  int64_t count = 0;
  for (int64_t k = a.rows[from]; k < a.rows[to]; ++k) count += b.rows[a.columns[k] + 1] - b.rows[a.columns[k]];
  return count;
}

// One row of the product at a time in a dense workspace. A bit says that a column was met in this row, another that one
// of 64 columns was: so those that were are read off in rising order, without looking at all others.
template <class T>
class RowSum {
  using A = Accumulator<T>;

 public:
  explicit RowSum(int64_t n)
      : sums_(static_cast<size_t>(n), A()), met_(static_cast<size_t>(n + 63) / 64), words_((met_.size() + 63) / 64) {}

  // Writes the columns, rising, and their sums; returns their number.
  int64_t write(const Matrix<T>& a, const Matrix<T>& b, int64_t row, int64_t* columns, T* values) {
    A* sums = sums_.data();
    uint64_t *met = met_.data(), *words = words_.data();
    for (int64_t k = a.rows[row]; k < a.rows[row + 1]; ++k) {
      const A value = convert<A>(a.values[k]);
      for (int64_t l = b.rows[a.columns[k]], end = b.rows[a.columns[k] + 1]; l < end; ++l) {
        const int64_t column = b.columns[l];
        sums[column] = plus(sums[column], times(value, convert<A>(b.values[l])));
        met[column >> 6] |= uint64_t{1} << (column & 63);
        words[column >> 12] |= uint64_t{1} << (column >> 6 & 63);
      }
    }
    int64_t count = 0;
    each_bit(words_, [&](size_t word) {
      for (uint64_t bits = std::exchange(met[word], 0); bits; bits &= bits - 1) {
        const size_t column = word * 64 + static_cast<size_t>(std::countr_zero(bits));
        columns[count] = static_cast<int64_t>(column);
        values[count++] = convert<T>(std::exchange(sums[column], A()));
      }
    });
    return count;
  }

 private:
  template <class F>
  static void each_bit(std::vector<uint64_t>& words, F&& visit) {
    for (size_t i = 0; i < words.size(); ++i)
      for (uint64_t bits = std::exchange(words[i], 0); bits; bits &= bits - 1)
        visit(i * 64 + static_cast<size_t>(std::countr_zero(bits)));
  }

  std::vector<A> sums_;
  std::vector<uint64_t> met_, words_;
};

constexpr int64_t kRowsAtOnce = 256;

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _sparse_matmul(const Tensor& pointers, const Tensor& columns, const Tensor& values,
                                                  const Tensor& other_pointers, const Tensor& other_columns,
                                                  const Tensor& other_values, int64_t n) {
  TAEDA_CHECK(values.dtype() == other_values.dtype(), "both factors must have one dtype; got ", values.dtype(), " and ",
              other_values.dtype());
  TAEDA_CHECK(other_pointers.numel() > 0, "row pointers must begin with 0");
  Checked a(pointers, columns, values, other_pointers.numel() - 1), b(other_pointers, other_columns, other_values, n);
  const int64_t rows = a.rows.count();
  Tensor begins = new_tensor(pointers.sizes(), DType::Int64), found, sums;
  int64_t* begin = begins.data<int64_t>();
  begin[0] = 0;
  visit_products(values.dtype(), [&]<class T>() {
    const Matrix<T> left = a.as<T>(), right = b.as<T>();
    const bool is_small = products_of(left, right, 0, rows) < 4 * kGrain;
    const int64_t piece = is_small ? std::max<int64_t>(rows, 1) : kRowsAtOnce;
    struct Part {
      std::unique_ptr<int64_t[]> columns;
      std::unique_ptr<T[]> values;
      int64_t count = 0;
    };
    std::vector<Part> parts(static_cast<size_t>((rows + piece - 1) / piece));
    parallel_for(0, rows, piece, [&](int64_t from, int64_t to) {
      Part& part = parts[static_cast<size_t>(from / piece)];
      const int64_t products = products_of(left, right, from, to);
      const auto most = static_cast<size_t>(n < products / (to - from) ? (to - from) * n : products);
      part.columns = std::make_unique_for_overwrite<int64_t[]>(most);
      part.values = std::make_unique_for_overwrite<T[]>(most);
      RowSum<T> sum(n);
      for (int64_t row = from; row < to; ++row) {
        begin[row + 1] = sum.write(left, right, row, part.columns.get() + part.count, part.values.get() + part.count);
        part.count += begin[row + 1];
      }
    });
    for (int64_t row = 0; row < rows; ++row) begin[row + 1] += begin[row];
    const int64_t count[] = {begin[rows]};
    found = new_tensor(count, DType::Int64);
    sums = new_tensor(count, values.dtype());
    int64_t next = 0;
    for (const Part& part : parts) {
      std::copy_n(part.columns.get(), part.count, found.data<int64_t>() + next);
      std::copy_n(part.values.get(), part.count, sums.data<T>() + next);
      next += part.count;
    }
  });
  return {begins, found, sums};
}

Tensor _sparse_matmul_at(const Tensor& pointers, const Tensor& columns, const Tensor& a_pointers,
                         const Tensor& a_columns, const Tensor& a_values, const Tensor& b_pointers,
                         const Tensor& b_columns, const Tensor& b_values, int64_t n, bool transposed_b) {
  TAEDA_CHECK(a_values.dtype() == b_values.dtype(), "both factors must have one dtype; got ", a_values.dtype(), " and ",
              b_values.dtype());
  const Tensor& middle = transposed_b ? b_pointers : pointers;  // its rows are what the other's columns name
  TAEDA_CHECK(middle.numel() > 0, "row pointers must begin with 0");
  Checked at(pointers, columns, Tensor(), transposed_b ? middle.numel() - 1 : n),
      a(a_pointers, a_columns, a_values, transposed_b ? n : middle.numel() - 1), b(b_pointers, b_columns, b_values, n);
  TAEDA_CHECK(a.rows.count() == (transposed_b ? at : b).rows.count(), "matrices of ", a.rows.count(), " and ",
              (transposed_b ? at : b).rows.count(), " rows do not fit together");
  Tensor out = new_tensor(columns.sizes(), a_values.dtype());
  visit_products(a_values.dtype(), [&]<class T>() {
    using A = Accumulator<T>;
    const Matrix<T> left = a.as<T>(), right = b.as<T>();
    const Matrix<T>& spread = transposed_b ? left : right;  // of which one row at a time lies in the workspace
    std::vector<A> line(static_cast<size_t>(n), A()), sums(static_cast<size_t>(at.columns.size()), A());
    for (int64_t row = 0; row < a.rows.count(); ++row) {
      for (int64_t k = spread.rows[row]; k < spread.rows[row + 1]; ++k) {
        A& place = line[static_cast<size_t>(spread.columns[k])];
        place = plus(place, convert<A>(spread.values[k]));
      }
      if (transposed_b) {
        for (int64_t k = at.rows[row]; k < at.rows[row + 1]; ++k)
          for (int64_t l = right.rows[at.columns[k]]; l < right.rows[at.columns[k] + 1]; ++l)
            sums[static_cast<size_t>(k)] =
                plus(sums[static_cast<size_t>(k)],
                     times(convert<A>(right.values[l]), line[static_cast<size_t>(right.columns[l])]));
      } else {
        for (int64_t k = left.rows[row]; k < left.rows[row + 1]; ++k)
          for (int64_t l = at.rows[left.columns[k]]; l < at.rows[left.columns[k] + 1]; ++l)
            sums[static_cast<size_t>(l)] =
                plus(sums[static_cast<size_t>(l)],
                     times(convert<A>(left.values[k]), line[static_cast<size_t>(at.columns[l])]));
      }
      for (int64_t k = spread.rows[row]; k < spread.rows[row + 1]; ++k)
        line[static_cast<size_t>(spread.columns[k])] = A();
    }
    for (size_t k = 0; k < sums.size(); ++k) out.data<T>()[k] = convert<T>(sums[k]);
  });
  return out;
}

namespace {

template <class F>
decltype(auto) visit_equations(DType dtype, F&& body) {
  TAEDA_CHECK(is_differentiable(dtype) && dtype != DType::Float16 && dtype != DType::BFloat16,
              "equations are solved in float32, float64, complex64 and complex128; got ", dtype);
  return visit_products(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, Accumulator<T>> && !std::is_integral_v<T>) body.template operator()<T>();
  });
}

Tensor right_side(const Checked& matrix, const Tensor& values, const Tensor& other) {
  TAEDA_CHECK(other.dim() == 2 && other.sizes()[0] == matrix.rows.count() && other.dtype() == values.dtype(),
              "the right side must have ", matrix.rows.count(), " rows of ", values.dtype(), "; got shape ",
              other.sizes(), " of ", other.dtype());
  return ops::clone(other, MemoryFormat::Contiguous);
}

}  // namespace

Tensor _sparse_solve_triangular(const Tensor& pointers, const Tensor& columns, const Tensor& values,
                                const Tensor& other, bool upper, bool unitriangular) {
  Checked a(pointers, columns, values, pointers.numel() - 1);
  Tensor x = right_side(a, values, other);
  const int64_t n = a.rows.count(), width = x.sizes()[1];
  visit_equations(values.dtype(), [&]<class T>() {
    T* data = x.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = upper ? n - 1 - i : i;
      T diagonal = unitriangular ? T(1) : T(0);
      for (int64_t k = a.rows[row]; k < a.rows[row + 1]; ++k) {
        const int64_t column = a.columns[k];
        const T value = a.values.data<T>()[k];
        if (column == row) {
          if (!unitriangular) diagonal += value;
        } else if (upper ? column > row : column < row) {
          for (int64_t j = 0; j < width; ++j) data[row * width + j] -= value * data[column * width + j];
        }
      }
      for (int64_t j = 0; j < width; ++j) data[row * width + j] /= diagonal;
    }
  });
  return x;
}

namespace {

// The rows of a matrix that is eliminated from the top: in each step the row with the largest element of a column
// comes first, and what it was is kept as the row of U.
template <class T>
struct Elimination {
  struct Element {
    int64_t column;
    T value;
  };
  std::vector<std::vector<Element>> rows;

  // `row` minus `factor` times `pivot` without the pivot's first column; columns rising.
  static std::vector<Element> reduced(const std::vector<Element>& row, const std::vector<Element>& pivot, T factor) {
    std::vector<Element> result;
    result.reserve(row.size() + pivot.size());
    size_t i = 1, j = 1;
    while (i < row.size() || j < pivot.size()) {
      const bool from_row = j == pivot.size() || (i < row.size() && row[i].column <= pivot[j].column);
      const bool from_pivot = i == row.size() || (j < pivot.size() && pivot[j].column <= row[i].column);
      const int64_t column = from_row ? row[i].column : pivot[j].column;
      T value = from_row ? row[i++].value : T(0);
      if (from_pivot) value -= factor * pivot[j++].value;
      result.push_back({column, value});
    }
    return result;
  }
};

}  // namespace

Tensor _sparse_solve(const Tensor& pointers, const Tensor& columns, const Tensor& values, const Tensor& other) {
  Checked a(pointers, columns, values, pointers.numel() - 1);
  Tensor x = right_side(a, values, other);
  const int64_t n = a.rows.count(), width = x.sizes()[1];
  visit_equations(values.dtype(), [&]<class T>() {
    using Element = typename Elimination<T>::Element;
    T* data = x.data<T>();
    std::vector<std::vector<Element>> upper(static_cast<size_t>(n));
    std::vector<int64_t> order(static_cast<size_t>(n));
    // Which rows begin with each column; a row moves on to a later column when it has been reduced.
    std::vector<std::vector<std::pair<int64_t, std::vector<Element>>>> waiting(static_cast<size_t>(n));
    auto wait = [&](int64_t number, std::vector<Element> row) {
      if (!row.empty()) waiting[static_cast<size_t>(row[0].column)].emplace_back(number, std::move(row));
    };
    for (int64_t row = 0; row < n; ++row) {
      std::vector<Element> elements;
      for (int64_t k = a.rows[row]; k < a.rows[row + 1]; ++k) elements.push_back({a.columns[k], a.values.data<T>()[k]});
      std::ranges::stable_sort(elements, {}, &Element::column);
      size_t kept = 0;
      for (const Element& element : elements) {
        if (kept && elements[kept - 1].column == element.column)
          elements[kept - 1].value += element.value;
        else
          elements[kept++] = element;
      }
      elements.resize(kept);
      wait(row, std::move(elements));
    }
    for (int64_t step = 0; step < n; ++step) {
      auto here = std::move(waiting[static_cast<size_t>(step)]);
      auto size_of = [](const auto& entry) { return std::abs(entry.second[0].value); };
      auto pivot = std::ranges::max_element(here, {}, size_of);
      TAEDA_CHECK(pivot != here.end() && size_of(*pivot) != 0, "the matrix is singular: column ", step,
                  " has no pivot");
      const int64_t number = order[static_cast<size_t>(step)] = pivot->first;
      const std::vector<Element> line = std::move(pivot->second);
      for (auto& [row, elements] : here) {
        if (row == number) continue;
        const T factor = elements[0].value / line[0].value;
        for (int64_t j = 0; j < width; ++j) data[row * width + j] -= factor * data[number * width + j];
        wait(row, Elimination<T>::reduced(elements, line, factor));
      }
      upper[static_cast<size_t>(step)] = line;
    }
    std::vector<T> solution(static_cast<size_t>(n * width));
    for (int64_t step = n; step-- > 0;) {
      const auto& line = upper[static_cast<size_t>(step)];
      for (int64_t j = 0; j < width; ++j) {
        T sum = data[order[static_cast<size_t>(step)] * width + j];
        for (size_t k = 1; k < line.size(); ++k)
          sum -= line[k].value * solution[static_cast<size_t>(line[k].column * width + j)];
        solution[static_cast<size_t>(step * width + j)] = sum / line[0].value;
      }
    }
    std::ranges::copy(solution, data);
  });
  return x;
}

}  // namespace taeda::cpu
