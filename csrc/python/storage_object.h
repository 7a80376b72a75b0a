// taeda.UntypedStorage: the bytes under tensors. storage_object.cpp is the type, storage_life.cpp who owns
// whom, shared_memory.cpp memory that processes share.
#pragma once
#include "python/types.h"

namespace taeda::python {

struct StorageObject {
  PyObject_HEAD
  Storage storage;
  PyObject* weakrefs;
  PyObject* dict;
};
extern PyTypeObject storage_base_type;  // taeda._C.StorageBase, which programs may subclass
extern PyTypeObject storage_type;
int init_storage_life(PyObject* module);  // readies the base type, whose other slots are filled

inline const Storage& storage_of(PyObject* self) { return reinterpret_cast<StorageObject*>(self)->storage; }
inline const uint8_t* bytes_of(PyObject* self) { return static_cast<const uint8_t*>(storage_of(self)->data()); }
inline uint8_t* writable_bytes_of(PyObject* self) {
  storage_of(self)->materialize();
  return static_cast<uint8_t*>(storage_of(self)->data());
}
// The object of a storage that has none yet.
PyObject* new_storage_object(PyTypeObject* type, Storage storage);
// Memory that another Python object holds; the reference is dropped with the storage.
Storage storage_over(void* data, size_t nbytes, PyObject* owner);

// --- shared_memory.cpp
Storage new_shared_storage(size_t nbytes);
Storage open_shared_storage(int descriptor, size_t nbytes);  // the descriptor stays the caller's
Storage map_file(const char* path, bool shared, size_t nbytes);
bool is_shared(const StorageImpl& storage);
int shared_descriptor(const StorageImpl& storage);    // -1 when it was not made from one
std::string mapped_path(const StorageImpl& storage);  // empty when it is not a file's
void move_to_shared_memory(StorageImpl& storage);
extern PyMethodDef shared_memory_methods[];

}  // namespace taeda::python
