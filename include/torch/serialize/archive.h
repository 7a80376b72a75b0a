// Files of tensors, values and archives in archives, as torch::save writes and torch::load reads them.
#pragma once
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>
