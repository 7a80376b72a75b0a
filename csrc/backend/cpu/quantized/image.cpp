#include "backend/cpu/quantized/image.h"

#include <algorithm>
#include <cstring>

namespace taeda::cpu::quantized {

Sizes channels_last(const Sizes& sizes) {
  Sizes strides(sizes.size());
  int64_t step = sizes[1];
  strides[1] = 1;
  for (size_t d = sizes.size(); d-- > 2;) {
    strides[d] = step;
    step *= sizes[d];
  }
  strides[0] = step;
  return strides;
}

// Where along dimension d of x a place of the padded image comes from; -1 for one of the zero point.
int64_t Placement::source(size_t d, int64_t place) const {
  int64_t at = place - before[d];
  if (at < 0 || at % spread[d]) return -1;
  at /= spread[d];
  return at < x.sizes()[d + 2] ? at : -1;
}

// `count` neighbours along the last dimension.
void Placement::copy_run(const char* from, char* to, int64_t count, size_t last) const {
  const int64_t c = x.size(1), step = x.strides()[1], along = x.strides()[last + 2];
  if (step == 1 && along == c) {
    std::memcpy(to, from, static_cast<size_t>(count * c));
  } else if (step == 1) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * c, from + i * along, static_cast<size_t>(c));
  } else {
    for (int64_t k = 0; k < c; ++k)
      for (int64_t i = 0; i < count; ++i) to[i * c + k] = from[i * along + k * step];
  }
}

void Placement::place_row(const char* from, char* to, size_t last) const {
  const int64_t c = x.size(1), along = x.strides()[last + 2], places = padded[last];
  if (spread[last] == 1) {
    const int64_t begin = std::clamp<int64_t>(before[last], 0, places),
                  end = std::clamp<int64_t>(before[last] + x.sizes()[last + 2], begin, places);
    std::memset(to, zero, static_cast<size_t>(begin * c));
    if (end > begin) copy_run(from + (begin - before[last]) * along, to + begin * c, end - begin, last);
    std::memset(to + end * c, zero, static_cast<size_t>((places - end) * c));
    return;
  }
  for (int64_t i = 0; i < places; ++i, to += c) {
    const int64_t at = source(last, i);
    if (at < 0)
      std::memset(to, zero, static_cast<size_t>(c));
    else
      copy_run(from + at * along, to, 1, last);
  }
}

void Placement::place_from(const char* from, char* to, size_t d) const {
  if (d + 1 == padded.size()) return place_row(from, to, d);
  int64_t step = x.size(1);
  for (size_t k = d + 1; k < padded.size(); ++k) step *= padded[k];
  for (int64_t i = 0; i < padded[d]; ++i, to += step) {
    int64_t at = source(d, i);
    if (at < 0)
      std::memset(to, zero, static_cast<size_t>(step));
    else
      place_from(from + at * x.strides()[d + 2], to, d + 1);
  }
}

bool Placement::lies_ready(IntList after) const {
  for (size_t d = 0; d < padded.size(); ++d)
    if (before[d] || after[d] || spread[d] != 1) return false;
  Sizes sizes(x.sizes().begin(), x.sizes().end()), strides = channels_last(sizes);
  for (size_t d = 1; d < sizes.size(); ++d)
    if (sizes[d] > 1 && x.strides()[d] != strides[d]) return false;
  return true;
}

}  // namespace taeda::cpu::quantized
