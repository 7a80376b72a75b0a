// torch::data: datasets, samplers, transformations and the loader that joins them.
#pragma once
#include <torch/data/dataloader.h>
#include <torch/data/datasets.h>
#include <torch/data/samplers.h>
#include <torch/data/transforms.h>

namespace torch::data {
// Their names without the namespace between.
using datasets::BatchDataset;  // NOLINT
using datasets::Dataset;       // NOLINT
}  // namespace torch::data
