// Padding a tensor by its own elements: each dimension has a table that says which element stands where.
#include "backend/cpu/ops/pad.h"
#include "backend/cpu/engine/tensor_iterator.h"
#include "backend/cpu/pool/pool.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/view.h"

namespace taeda::cpu {

namespace {

struct Sources {
  std::array<std::vector<int64_t>, 3>
      at;  // per dimension, the first ones trivial: where each padded element comes from
  std::array<int64_t, 3> image{1, 1, 1};
  int64_t before = 0, kept = 0;  // of the last dimension: the stretch that is copied as it is

  Sources(IntList sizes, IntList padding, int64_t rank, bool mirrored) {
    for (int64_t d = 0; d < 3; ++d) {
      int64_t i = 2 - d, size = i < rank ? sizes[sizes.size() - 1 - i] : 1;
      int64_t left = i < rank ? padding[2 * i] : 0, right = i < rank ? padding[2 * i + 1] : 0;
      image[d] = size;
      for (int64_t x = -left; x < size + right; ++x)
        at[d].push_back(mirrored ? (x < 0       ? -x
                                    : x >= size ? 2 * (size - 1) - x
                                                : x)
                                 : std::clamp<int64_t>(x, 0, size - 1));
      if (i == 0) {
        // More than the input may be cut off on one side: then nothing of it is left, and padding is cut off too.
        const int64_t width = size + left + right;
        before = std::clamp<int64_t>(left, 0, width);
        kept = std::clamp<int64_t>(size + std::min<int64_t>(left, 0) + std::min<int64_t>(right, 0), 0, width - before);
      }
    }
  }
  int64_t area() const { return image[0] * image[1] * image[2]; }
  int64_t padded_area() const { return static_cast<int64_t>(at[0].size() * at[1].size() * at[2].size()); }
  // body(row of the padded plane, offset of the image row it comes from)
  template <class F>
  void each_row(const F& body) const {
    int64_t row = 0;
    for (int64_t z : at[0])
      for (int64_t y : at[1]) body(row++, (z * image[1] + y) * image[2]);
  }
};

}  // namespace

void pad_by_itself(const Tensor& self, IntList padding, int64_t rank, int64_t mode, const Tensor& out) {
  if (out.numel() == 0) return;
  const Planes planes(out, rank);
  const int64_t inner = planes.inner;
  Tensor x = ops::contiguous(self, planes.format);
  Sources s(self.sizes(), padding, rank, mode == 0);
  const int64_t area = s.area() * inner, padded = s.padded_area() * inner, width = static_cast<int64_t>(s.at[2].size());
  by_size(self.itemsize(), [&]<class T>() {
    parallel_for(0, planes.outer, std::max<int64_t>(1, kGrain / padded), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        s.each_row([&](int64_t row, int64_t offset) {
          const T* from = x.data<T>() + p * area + offset * inner;
          T* to = out.data<T>() + p * padded + row * width * inner;
          auto one = [&](int64_t i) { std::copy_n(from + s.at[2][i] * inner, inner, to + i * inner); };
          for (int64_t i = 0; i < s.before; ++i) one(i);
          if (s.kept > 0) std::copy_n(from + s.at[2][s.before] * inner, s.kept * inner, to + s.before * inner);
          for (int64_t i = s.before + s.kept; i < width; ++i) one(i);
        });
    });
  });
}

void pad_by_itself_backward(const Tensor& upper, IntList sizes, IntList padding, int64_t rank, int64_t mode,
                            const Tensor& result) {
  if (result.numel() == 0) return;
  const Planes planes(result, rank);
  Tensor g = ops::contiguous(upper, planes.format), out = result;
  const int64_t inner = planes.inner * (is_complex(result.dtype()) ? 2 : 1);  // sums of complex numbers go by parts
  if (is_complex(result.dtype())) g = ops::view_as_real(g), out = ops::view_as_real(out);
  Sources s(sizes, padding, rank, mode == 0);
  const int64_t area = s.area() * inner, padded = s.padded_area() * inner, width = static_cast<int64_t>(s.at[2].size());
  visit_compute(out.dtype(), [&]<class T>() {
    parallel_for(0, planes.outer, std::max<int64_t>(1, kGrain / padded), [&](int64_t begin, int64_t end) {
      RowReader<T> in(g, padded);
      RowWriter<T> to(out, area);
      for (int64_t p = begin; p < end; ++p) {
        const T* from = in(p * padded, padded);
        T* image = to.at(p * area);
        std::fill_n(image, area, T(0));
        s.each_row([&](int64_t row, int64_t offset) {
          for (int64_t i = 0; i < width; ++i)
            for (int64_t c = 0; c < inner; ++c)
              image[(offset + s.at[2][i]) * inner + c] += from[(row * width + i) * inner + c];
        });
        to.done(p * area, area);
      }
    });
  });
}

}  // namespace taeda::cpu
