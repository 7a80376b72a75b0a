#include "backend/cpu/fft_loops.h"
