// A class of C++ that Python and programs use: the mean and variance of all numbers that it was ever shown, without
// keeping them (Welford, "Note on a method for calculating corrected sums of squares and products", 1962).
#include <torch/extension.h>

namespace {

struct RunningMean : torch::CustomClassHolder {
  int64_t count = 0;
  double mean = 0, squares = 0;  // the sum of squares of what is left when the mean is taken away

  void update(const at::Tensor& values) {
    at::Tensor flat = values.detach().to(at::kDouble).contiguous();
    const double* items = flat.data_ptr<double>();
    for (int64_t i = 0; i < flat.numel(); ++i) {
      const double before = items[i] - mean;
      mean += before / static_cast<double>(++count);
      squares += before * (items[i] - mean);
    }
  }
  double variance() const { return count > 1 ? squares / static_cast<double>(count - 1) : 0; }
  std::string text() const { return c10::str("RunningMean of ", count, " numbers: ", mean); }
};

}  // namespace

TORCH_LIBRARY_FRAGMENT(example, m) {
  m.class_<RunningMean>("RunningMean")
      .def(torch::init<>())
      .def("update",
           [](const c10::intrusive_ptr<RunningMean>& self, const at::Tensor& values) {
             self->update(values);
             return self;
           })
      .def("count", [](const c10::intrusive_ptr<RunningMean>& self) { return self->count; })
      .def("mean", [](const c10::intrusive_ptr<RunningMean>& self) { return self->mean; })
      .def("variance", &RunningMean::variance)
      .def("__str__", &RunningMean::text)
      .def_pickle(
          [](const c10::intrusive_ptr<RunningMean>& self) {
            return std::make_tuple(self->count, self->mean, self->squares);
          },
          [](std::tuple<int64_t, double, double> state) {
            auto self = c10::make_intrusive<RunningMean>();
            std::tie(self->count, self->mean, self->squares) = state;
            return self;
          });
}
