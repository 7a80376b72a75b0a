// Made by taedagen: the tables that _C's init reads.
#include "python/tables.h"

namespace taeda::python {
extern PyMethodDef first_methods[];
extern PyMethodDef first_functions[];
extern PyMethodDef first_nn[];
extern PyMethodDef first_linalg[];
extern PyMethodDef first_fft[];
extern PyMethodDef first_special[];
extern PyMethodDef second_methods[];
extern PyMethodDef second_functions[];
extern PyMethodDef second_nn[];
extern PyMethodDef second_linalg[];
extern PyMethodDef second_fft[];
extern PyMethodDef second_special[];
PyMethodDef* const all_methods[] = {first_methods, second_methods, nullptr};
PyMethodDef* const all_functions[] = {first_functions, second_functions, nullptr};
PyMethodDef* const all_nn[] = {first_nn, second_nn, nullptr};
PyMethodDef* const all_linalg[] = {first_linalg, second_linalg, nullptr};
PyMethodDef* const all_fft[] = {first_fft, second_fft, nullptr};
PyMethodDef* const all_special[] = {first_special, second_special, nullptr};
}  // namespace taeda::python
