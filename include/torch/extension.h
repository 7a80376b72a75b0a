// All that an extension module for Python needs.
#pragma once
#include <torch/all.h>
#include <torch/python.h>
