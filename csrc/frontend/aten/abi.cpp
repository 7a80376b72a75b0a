// The number of the binary interface that extensions are compiled against.
#include <c10/macros/Abi.h>

const int TAEDA_ABI = TAEDA_ABI_NUMBER;
