// Forward mode: tangents that travel with tensors. Levels nest: what is computed for a tangent of one level sees the
// tangents of the levels below it only, so that a tangent may itself have tangents. The generated autograd layer calls
//
//   if (has_tangents(self, other)) [[unlikely]] mul_tangent(made, self, other);
//
//   void mul_tangent(const Tensor& made, const Tensor& self, const Tensor& other) {
//     for (EachLevel level; level.next();) {
//       …                                            // from the declaration, one of:
//       give_tangent(made, ops::transpose(laid_out_tangent(self, level), 0, 1), level);                   // a view
//       if (has_tangent(self, level)) jacobian.add(self, [&](const Tensor& grad) { return <gradient>; });  // pointwise
//       if (has_tangent(self, level)) jacobian.add(self, <gradient>);                                // anything else
//     }
//   }
//
// From the lowest level up: the tangent of a level may read the result, whose lower tangents are there by then.
#pragma once
#include <tuple>
#include <vector>

#include "taeda/autograd/meta.h"

namespace taeda::autograd {

// --- levels
// The new level; RuntimeError inside another one unless it may nest.
TAEDA_API int enter_dual_level(bool nests = false);
TAEDA_API void exit_dual_level(int level);  // tangents of the level are gone afterwards
TAEDA_API int visible_levels();             // how many levels this thread's calls see
TAEDA_API void see_levels(int count);

// The thread sees fewer levels in the scope.
class LevelsBelow {
 public:
  explicit LevelsBelow(int count) : before_(visible_levels()) { see_levels(count); }
  ~LevelsBelow() { see_levels(before_); }
  LevelsBelow(const LevelsBelow&) = delete;

 private:
  int before_;
};

class EachLevel {
 public:
  bool next() {
    if (++level_ >= count_) return false;
    see_levels(level_);
    return true;
  }
  operator int() const { return level_; }
  ~EachLevel() { see_levels(count_); }

 private:
  int count_ = visible_levels(), level_ = -1;
};

// --- tangents
// Undefined if none; a view made before its base got a tangent has a part of that one.
TAEDA_API Tensor tangent(const Tensor& t, int level = 0);
// RuntimeError if the level is not open.
TAEDA_API void set_tangent(const Tensor& t, Tensor tangent, int level = 0);
// Tangents of all levels, for another tensor of the same contents.
TAEDA_API void copy_tangents(const Tensor& from, const Tensor& to);
TAEDA_API Tensor tangent_or_zeros(const Tensor& t, int level);
// The tensor without its tangent of a level: an alias with the history and the tangents of the levels below.
TAEDA_API Tensor primal(const Tensor& t, int level);
// The tensor outside the graph, its tangents too.
TAEDA_API Tensor without_history(const Tensor& t);

TAEDA_API bool has_tangent(const Tensor& t, int level);
inline bool has_tangent(TensorList list, int level) {
  for (const Tensor& t : list)
    if (has_tangent(t, level)) return true;
  return false;
}
TAEDA_API bool has_visible_tangent(const Tensor& t);
inline bool has_visible_tangent(TensorList list) {
  for (const Tensor& t : list)
    if (has_visible_tangent(t)) return true;
  return false;
}
template <class... Args>
bool has_tangents(const Args&... args) {
  return t_state.forward_grad && (has_visible_tangent(args) || ...);
}

// --- the ends of generated functions
// Of a result: `value` is brought to its shape and dtype. Of several, one by one.
TAEDA_API void give_tangent(const Tensor& made, Tensor value, int level);
TAEDA_API void give_tangent(TensorList made, std::vector<Tensor> values, int level);
// Of a tensor that was written to: seen in views of it, and in its base if it is one. Undefined means zero.
TAEDA_API void write_tangent(const Tensor& written, Tensor value, int level);
TAEDA_API void write_tangent(TensorList written, std::vector<Tensor> values, int level);
// After a write that no tangent survives.
TAEDA_API void zero_tangents(const Tensor& written);
TAEDA_API void zero_tangents(TensorList written);
// NotImplementedError.
[[noreturn]] TAEDA_API void fail_forward(const char* function);
// For an op without a derivative: its results must not need one.
inline void refuse_tangents(const char* function, const Tensor& made) {
  if (made.defined() && is_differentiable(made.dtype())) fail_forward(function);
}
inline void refuse_tangents(const char* function, TensorList made) {
  for (const Tensor& t : made) refuse_tangents(function, t);
}
template <class... Ts>
void refuse_tangents(const char* function, const std::tuple<Ts...>& made) {
  std::apply([&](const Ts&... parts) { (refuse_tangents(function, parts), ...); }, made);
}
// The tangent with the strides of the tensor, so that whatever view of the one exists, exists of the other.
TAEDA_API Tensor laid_out_tangent(const Tensor& t, int level);

// A gradient as a function of the result's: borrowed for one call.
class Formula {
 public:
  template <class F>
  Formula(const F& function)
      : function_(&function),
        call_([](const void* f, const Tensor& grad) -> Tensor { return (*static_cast<const F*>(f))(grad); }) {}
  Tensor operator()(const Tensor& grad) const { return call_(function_, grad); }

 private:
  const void* function_;
  Tensor (*call_)(const void*, const Tensor&);
};

// The tangent of a pointwise op. Its Jacobian is diagonal, so the formula of the gradient serves both ways; where
// numbers are complex, an entry is a 2x2 matrix that the gradients of 1 and of i show.
class TAEDA_API Diagonal {
 public:
  Diagonal(const Tensor& made, int level) : made_(made), level_(level) {}
  void add(const Tensor& input, Formula gradient);
  Tensor sum();  // undefined if nothing was added

 private:
  const Tensor& made_;
  int level_;
  Tensor sum_;
  std::vector<Tensor> used_;
};

// The tangents of any op that has a gradient. The gradients J'u are linear in u; their own backward pass from the
// tangents t of the inputs leads to J t (Townsend, "A new trick for calculating Jacobian vector products", 2017).
class TAEDA_API Transposed {
 public:
  // `undifferentiated`: a bit for each result without a gradient.
  Transposed(const char* function, const Tensor& made, int level, uint64_t undifferentiated = 0);
  Transposed(const char* function, TensorList made, int level, uint64_t undifferentiated = 0);
  template <class... Ts>
  Transposed(const char* function, const std::tuple<Ts...>& made, int level, uint64_t undifferentiated = 0)
      : Transposed(function, std::apply([](const Ts&... parts) { return flat(parts...); }, made), level,
                   undifferentiated) {}
  Transposed(const Transposed&) = delete;

  // Stands for the gradients of the results; undefined for those that have none.
  std::span<Tensor> grads() { return stand_ins_; }
  // NotImplementedError if the formula computes the gradient by an op that cannot be differentiated in turn.
  void add(const Tensor& input, Tensor gradient);
  void add(TensorList inputs, std::vector<Tensor> gradients);
  // One for each result; undefined where it has no gradient.
  std::vector<Tensor> finish();
  void give() { give_tangent(made_, finish(), level_); }

 private:
  template <class... Ts>
  static std::vector<Tensor> flat(const Ts&... parts) {
    std::vector<Tensor> all;
    auto add = [&](const auto& part) {
      if constexpr (std::is_same_v<std::decay_t<decltype(part)>, Tensor>)
        all.push_back(part);
      else if constexpr (std::is_convertible_v<decltype(part), TensorList>)
        all.insert(all.end(), part.begin(), part.end());
    };
    (add(parts), ...);
    return all;
  }

  const char* function_;
  bool grad_mode_;
  Scoped<bool> recording_;
  Scoped<KeySet> exclude_;
  int level_;
  std::vector<Tensor> made_, stand_ins_, gradients_, tangents_;
};

}  // namespace taeda::autograd
