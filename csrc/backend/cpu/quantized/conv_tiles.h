// Convolutions as products of the rows under the filter (tiles.h), without copies of them.
#pragma once
#include "backend/cpu/quantized/image.h"
#include "backend/cpu/quantized/tiles.h"

namespace taeda::cpu::quantized {

// A filter for each channel.
bool is_depthwise(const Geometry& g);
// The tiles that such a filter is convolved with; null where oneDNN does it.
const Tiles* tiles_for(const Geometry& g);
// A contiguous filter as `convolve` reads it.
Tensor pack_filter(const Tiles& own, const Geometry& g, const Tensor& weight);
// The convolution of a padded image of such elements, which `kBehind` others follow; `e` is of such elements.
void convolve(const Tiles& own, const Geometry& g, const char* image, const Tensor& packed, const Epilogue& e,
              char* to);
// Whether what is read four elements at a time may go on behind the image's end.
inline bool reads_on(const Geometry& g) { return g.groups == 1 && g.c % 4 != 0; }

}  // namespace taeda::cpu::quantized
