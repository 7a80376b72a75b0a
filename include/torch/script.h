// What a program needs to run what torch.jit.save wrote.
#pragma once
#include <torch/autograd.h>
#include <torch/jit.h>
#include <torch/library.h>
#include <torch/serialize.h>
