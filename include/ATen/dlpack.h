#pragma once
#include <taeda/core/dlpack.h>
