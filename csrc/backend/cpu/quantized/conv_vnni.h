// Convolutions as products of the rows under the filter (vnni.h), without copies of them.
#pragma once
#include "backend/cpu/quantized/image.h"
#include "backend/cpu/quantized/vnni.h"

namespace taeda::cpu::quantized::vnni {

// Whether such a filter is convolved with here: of one group, or with a filter for each channel.
bool serves(const Geometry& g);
// A contiguous filter as `convolve` reads it.
Tensor pack_filter(const Geometry& g, const Tensor& weight);
// The convolution of a padded image whose last three bytes may be followed by any; `e` is of unsigned bytes.
void convolve(const Geometry& g, const uint8_t* image, const Tensor& packed, const Epilogue& e, char* to);
// Whether what is read four bytes at a time may go on behind the image's end.
inline bool reads_on(const Geometry& g) { return g.groups == 1 && g.c % 4 != 0; }

}  // namespace taeda::cpu::quantized::vnni
