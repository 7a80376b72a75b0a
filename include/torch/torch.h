// Everything that a C++ program needs.
#pragma once
#include <torch/all.h>
