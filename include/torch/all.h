// Everything but the bindings for Python.
#pragma once
#include <torch/autograd.h>
#include <torch/library.h>
#include <torch/types.h>
