// The number of the binary interface that extensions are compiled against.
#include <c10/macros/Macros.h>

const int TAEDA_ABI = 1;
