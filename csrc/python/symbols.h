// Sizes that a graph keeps as values: SymInt, SymFloat and SymBool (taeda/_schema/symbols.py), and the recorder that a
// thread may have set (taeda/_schema/recorder.py). Where nobody records, a size read costs one look at a global.
#pragma once
#include <vector>

#include "python/object.h"
#include "taeda/dispatch/op.h"

namespace taeda::python {

// On how many threads somebody records.
extern int size_recorders;
// What `tensor.shape[dim]` and its kin give while this thread records: a symbol for `value`, or the plain int. `dim` is
// negative for what has none. New reference.
PyObject* recorded_size(const Tensor& tensor, const char* what, int64_t dim, int64_t value);

PyObject* recorded_shape(const Tensor& tensor);  // all sizes, as a Size

// A symbol for the whole number in a tensor that is given where an op takes an int; null where it is a plain number.
// Requires is_tensor.
Owned recorded_number(PyObject* tensor);

// Before `detach_`, which is no op that a recorder would hear of.
void tell_detached(PyObject* tensor);

bool is_symbol(PyObject* object);
// The number that a symbol stands for, without anybody being told. Requires is_symbol.
Owned symbol_value(PyObject* object);
// The same where the program needs the number itself: a guard.
Owned fixed_symbol(PyObject* object);

// The symbols among the arguments of one call, for this thread's recorder.
class GivenSymbols {
 public:
  // An argument, or a list of which some items are symbols. Where the op takes ints, those of tensors are symbols too.
  void note(const char* parameter, PyObject* object, bool takes_ints) {
    if (size_recorders > 0) [[unlikely]]
      look(parameter, object, -1, takes_ints);
  }
  void note_item(const char* parameter, PyObject* item, int64_t index) {
    if (size_recorders > 0) [[unlikely]]
      look(parameter, item, index, true);
  }
  void clear() {
    if (size_recorders > 0) [[unlikely]]
      found_.clear();
  }
  // Once the op is known; before it runs.
  void tell(const Op& op) const {
    if (!found_.empty()) [[unlikely]]
      tell_recorder(op);
  }
  void tell(const char* name, const char* overload) const {
    if (!found_.empty()) [[unlikely]]
      tell_recorder(*find_op(name, overload));
  }

 private:
  struct Given {
    const char* parameter;
    int64_t index;  // in a list; negative for the argument itself
    Owned symbol;
  };
  void look(const char* parameter, PyObject* object, int64_t index, bool takes_ints);
  void tell_recorder(const Op& op) const;
  std::vector<Given> found_;
};

int init_symbols(PyObject* module);

}  // namespace taeda::python
