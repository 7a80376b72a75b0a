// Everything but the bindings for Python.
#pragma once
#include <torch/autograd.h>
#include <torch/data.h>
#include <torch/jit.h>
#include <torch/library.h>
#include <torch/namespaces.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/serialize.h>
#include <torch/types.h>
#include <torch/version.h>
