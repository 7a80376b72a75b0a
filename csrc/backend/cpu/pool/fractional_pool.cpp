// Max pooling whose windows start at random places: a sample in [0, 1) shifts the rounding of evenly spaced ones.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/cpu/ops/fractional_pool.h"
#include "taeda/core/parallel.h"
#include "taeda/ops/copy.h"

namespace taeda::cpu {

namespace {

// The last window ends with the image. Every step is rounded to T, since it decides where a window stands; a sample
// outside of 0 to 1 must not push one over the edge.
template <class T>
std::vector<int64_t> starts(T sample, int64_t image, int64_t windows, int64_t kernel) {
  using A = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<int64_t> result(windows);
  if (windows == 0) return result;
  auto rounded = [](A x) { return convert<A>(convert<T>(x)); };
  auto whole = [&](int64_t n) { return rounded(static_cast<A>(n)); };
  const A shift = convert<A>(sample), step = windows > 1 ? rounded(whole(image - kernel) / whole(windows - 1)) : A(0);
  const double first = std::trunc(rounded(shift * step)), last = static_cast<double>(image - kernel);
  for (int64_t i = 0; i + 1 < windows; ++i) {
    double start = std::trunc(rounded(rounded(whole(i) + shift) * step)) - first;
    result[i] = start > 0 ? static_cast<int64_t>(std::min(start, last)) : 0;  // 0 also for not a number
  }
  result[windows - 1] = image - kernel;
  return result;
}

struct Volume {
  std::array<int64_t, 3> image{1, 1, 1}, kernel{1, 1, 1}, windows{1, 1, 1};
  Volume(const Tensor& self, IntList kernel_size, IntList output_size) {
    const size_t rank = kernel_size.size();
    for (size_t d = 0; d < rank; ++d) {
      image[3 - rank + d] = self.size(static_cast<int64_t>(d) - static_cast<int64_t>(rank));
      kernel[3 - rank + d] = kernel_size[d];
      windows[3 - rank + d] = output_size[d];
    }
  }
  static int64_t area(const std::array<int64_t, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }
};

// The largest element of the window that begins at (z, y, x), and its place; not a number is the largest.
template <class T>
std::pair<T, int64_t> largest(const T* plane, const Volume& v, int64_t z, int64_t y, int64_t x) {
  int64_t place = (z * v.image[1] + y) * v.image[2] + x;
  double best = -std::numeric_limits<double>::infinity();
  T value = convert<T>(best);
  for (int64_t k = z; k < z + v.kernel[0]; ++k)
    for (int64_t j = y; j < y + v.kernel[1]; ++j)
      for (int64_t i = x; i < x + v.kernel[2]; ++i) {
        const int64_t at = (k * v.image[1] + j) * v.image[2] + i;
        const double here = convert<double>(plane[at]);
        if (here > best || here != here) best = here, value = plane[at], place = at;
      }
  return {value, place};
}

void pool(const Tensor& self, IntList kernel_size, IntList output_size, const Tensor& random_samples,
          const Tensor& output, const Tensor& indices) {
  if (output.numel() == 0) return;
  const Volume v(self, kernel_size, output_size);
  const int64_t rank = static_cast<int64_t>(kernel_size.size()), area = Volume::area(v.image),
                windows = Volume::area(v.windows);
  Tensor image = ops::contiguous(self), samples = ops::contiguous(random_samples);
  visit_floating(self.dtype(), [&]<class T>() {
    parallel_for(0, output.numel() / windows, std::max<int64_t>(1, kGrain / (windows * Volume::area(v.kernel) + 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t p = begin; p < end; ++p) {
                     const T* sample = samples.data<T>() + p * rank;
                     std::array<std::vector<int64_t>, 3> from{{{0}, {0}, {0}}};
                     for (int64_t d = 0; d < rank; ++d) {
                       const int64_t axis = 3 - rank + d;
                       from[axis] =
                           starts(sample[rank == 2 ? 1 - d : d], v.image[axis], v.windows[axis], v.kernel[axis]);
                     }
                     T* to = output.data<T>() + p * windows;
                     int64_t* index = indices.data<int64_t>() + p * windows;
                     for (int64_t z : from[0])
                       for (int64_t y : from[1])
                         for (int64_t x : from[2])
                           std::tie(*to++, *index++) = largest(image.data<T>() + p * area, v, z, y, x);
                   }
                 });
  });
}

}  // namespace

void fractional_max_pool2d(const Tensor& self, IntList kernel_size, IntList output_size, const Tensor& random_samples,
                           const Tensor& output, const Tensor& indices) {
  pool(self, kernel_size, output_size, random_samples, output, indices);
}
void fractional_max_pool3d(const Tensor& self, IntList kernel_size, IntList output_size, const Tensor& random_samples,
                           const Tensor& output, const Tensor& indices) {
  pool(self, kernel_size, output_size, random_samples, output, indices);
}

}  // namespace taeda::cpu
