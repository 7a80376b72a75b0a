#include "backend/cpu/fft/fft_loops.h"
