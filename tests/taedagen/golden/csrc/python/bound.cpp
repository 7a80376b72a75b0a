// Made by taedagen: the tables that _C's init reads.
#include "python/tables.h"

namespace taeda::python {
extern PyMethodDef first_methods[];
extern PyMethodDef first_functions[];
extern PyMethodDef first_nn[];
extern PyMethodDef first_linalg[];
extern PyMethodDef first_fft[];
extern PyMethodDef first_special[];
PyMethodDef* const all_methods[] = {first_methods, nullptr};
PyMethodDef* const all_functions[] = {first_functions, nullptr};
PyMethodDef* const all_nn[] = {first_nn, nullptr};
PyMethodDef* const all_linalg[] = {first_linalg, nullptr};
PyMethodDef* const all_fft[] = {first_fft, nullptr};
PyMethodDef* const all_special[] = {first_special, nullptr};
}  // namespace taeda::python
