// Random numbers on CPU, over contiguous buffers. For the default generator every function consumes the stream as the
// PyTorch op of the same name does, so a seed gives PyTorch's numbers. Each call locks the generator once; none splits
// its work over threads, so the stream never depends on their number.
//
// T is float, double, Half or BFloat16 unless a list says more; sampling is done in double or float and rounded to T.
// Arguments are checked by the ops, not here.
#pragma once
#include <cstdint>

#include "taeda/core/generator.h"

namespace taeda::cpu::random {

// Uniform on [from, to): one word per element (24 bits), two for double (53 bits).
template <class T>
void uniform(Generator& generator, T* out, int64_t n, double from, double to);

// Below 16 elements as normal_sequential; from 16 on in blocks of 16 that hold 8 Box-Muller pairs.
template <class T>
void normal(Generator& generator, T* out, int64_t n, double mean, double stddev);
// Box-Muller pairs in double, four words per pair; an odd call leaves the second number in the generator. PyTorch
// fills tensors that are not contiguous so, in the order of memory, whatever their size.
template <class T>
void normal_sequential(Generator& generator, T* out, int64_t n, double mean, double stddev);

// The next three: every dtype but the complex ones.
// base + word mod range; two words per element when range is 2^28 or more.
template <class T>
void random_from_to(Generator& generator, T* out, int64_t n, uint64_t range, int64_t base);
// All 64 bits: random_ from the smallest int64 without an upper end.
template <class T>
void random_full_range(Generator& generator, T* out, int64_t n);
// random_(): non-negative integers of T, or for floating T the integers up to 2^digits.
template <class T>
void random_default(Generator& generator, T* out, int64_t n);

// Fisher-Yates from the front, one word per element but the last; inside out with two words for each from 2^32 / 20
// elements on. T: integers and floating types.
template <class T>
void randperm(Generator& generator, T* out, int64_t n);

// T: every dtype but the complex ones. Two words per element, one where the probabilities are not double.
template <class T>
void bernoulli(Generator& generator, T* out, int64_t n, double p);
template <class T, class P>
void bernoulli(Generator& generator, T* out, int64_t n, const P* p);

template <class T>
void exponential(Generator& generator, T* out, int64_t n, double lambda);
template <class T>
void cauchy(Generator& generator, T* out, int64_t n, double median, double sigma);
template <class T>
void log_normal(Generator& generator, T* out, int64_t n, double mean, double stddev);
// T: integers too.
template <class T>
void geometric(Generator& generator, T* out, int64_t n, double p);

// Category indices for each row of weights; the weights need not sum to one.
template <class T>
void multinomial_with_replacement(Generator& generator, const T* weights, int64_t rows, int64_t categories,
                                  int64_t samples, int64_t* out);
// Also right with replacement when samples is 1, and what PyTorch does then. Source: Efraimidis and Spirakis,
// "Weighted random sampling with a reservoir", 2006.
template <class T>
void multinomial_without_replacement(Generator& generator, const T* weights, int64_t rows, int64_t categories,
                                     int64_t samples, int64_t* out);

template <class T>
void poisson(Generator& generator, const T* rate, T* out, int64_t n);
template <class T>
void binomial(Generator& generator, const T* count, const T* prob, T* out, int64_t n);
template <class T>
void standard_gamma(Generator& generator, const T* concentration, T* out, int64_t n);
template <class T>
void dirichlet(Generator& generator, const T* concentration, T* out, int64_t rows, int64_t categories);

// Leaky slopes drawn for the elements that are 0 or less; the others draw nothing and get noise 1.
template <class T>
void rrelu(Generator& generator, const T* input, T* noise, T* out, int64_t n, double lower, double upper);

}  // namespace taeda::cpu::random
