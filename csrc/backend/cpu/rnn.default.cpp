#include "backend/cpu/rnn_loops.h"
