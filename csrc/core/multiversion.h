// TAEDA_MULTIVERSION(declaration, call) defines a function once per instruction set, with the call of an inline
// function as its body; the loader picks the widest that the machine has. All versions give the same bits.
#pragma once

#if defined(__x86_64__) && defined(__gnu_linux__)
#define TAEDA_MULTIVERSION(declaration, call)                                                  \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))) declaration { call; } \
  __attribute__((target("avx2,fma"))) declaration { call; }                                    \
  __attribute__((target("default"))) declaration { call; }
#else
#define TAEDA_MULTIVERSION(declaration, call) \
  declaration { call; }
#endif

// Inlined into the versions, so that it is compiled for each.
#define TAEDA_VERSIONED [[gnu::always_inline]] inline
