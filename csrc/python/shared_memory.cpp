// Storages that several processes see: anonymous memory files, passed on by descriptor, and files mapped into memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "core/foreign_memory.h"
#include "python/storage_object.h"

namespace taeda::python {

namespace {
struct Mapping {
  void* data = nullptr;
  size_t nbytes = 0;
  int descriptor = -1;  // kept open, so that it can be sent to other processes
  bool shared = true;
  std::string path;
  DataPtr previous;  // memory that was moved from here, where someone outside may still look at it

  ~Mapping() {
    if (data) munmap(data, nbytes);
    if (descriptor >= 0) close(descriptor);
  }
};
void delete_mapping(void* context) { delete static_cast<Mapping*>(context); }

const Mapping* mapping_of(const StorageImpl& storage) {
  const DataPtr& data = storage.data_ptr();
  return data.deleter() == delete_mapping ? static_cast<const Mapping*>(data.context()) : nullptr;
}

[[noreturn]] void fail_errno(std::string_view what) { TAEDA_FAIL(Runtime, what, ": ", std::strerror(errno)); }

DataPtr to_data(std::unique_ptr<Mapping> mapping) {
  declare_foreign(delete_mapping);
  void* data = mapping->data;
  return DataPtr(data, mapping.release(), delete_mapping, Device{DeviceType::CPU});
}

void map(Mapping& mapping) {
  if (mapping.nbytes == 0) return;  // mmap refuses an empty range
  int flags = mapping.shared ? MAP_SHARED : MAP_PRIVATE;
  void* data = mmap(nullptr, mapping.nbytes, PROT_READ | PROT_WRITE, flags, mapping.descriptor, 0);
  if (data == MAP_FAILED) fail_errno(str("cannot map ", mapping.nbytes, " bytes"));
  mapping.data = data;
}

std::unique_ptr<Mapping> new_memory_file(size_t nbytes) {
  auto mapping = std::make_unique<Mapping>();
  mapping->nbytes = nbytes;
  mapping->descriptor = memfd_create("taeda", MFD_CLOEXEC);
  if (mapping->descriptor < 0) fail_errno("cannot make a memory file");
  if (ftruncate(mapping->descriptor, static_cast<off_t>(nbytes)) < 0)
    fail_errno(str("cannot make a memory file of ", nbytes, " bytes"));
  map(*mapping);
  return mapping;
}

size_t file_size(int descriptor) {
  struct stat facts;
  if (fstat(descriptor, &facts) < 0) fail_errno("cannot ask the file's size");
  return static_cast<size_t>(facts.st_size);
}
}  // namespace

Storage new_shared_storage(size_t nbytes) {
  return make_ref<StorageImpl>(to_data(new_memory_file(nbytes)), nbytes, false);
}

Storage open_shared_storage(int descriptor, size_t nbytes) {
  auto mapping = std::make_unique<Mapping>();
  mapping->nbytes = nbytes;
  mapping->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (mapping->descriptor < 0) fail_errno(str("cannot duplicate the descriptor ", descriptor));
  // Touching a page beyond the file's end would kill the process.
  size_t held = file_size(mapping->descriptor);
  TAEDA_CHECK(held >= nbytes, "the memory file holds ", held, " bytes; ", nbytes, " were asked for");
  map(*mapping);
  return make_ref<StorageImpl>(to_data(std::move(mapping)), nbytes, false);
}

Storage map_file(const char* path, bool shared, size_t nbytes) {
  auto mapping = std::make_unique<Mapping>();
  mapping->nbytes = nbytes;
  mapping->shared = shared;
  mapping->path = path;
  mapping->descriptor = open(path, (shared ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600);
  if (mapping->descriptor < 0) fail_errno(str("cannot open '", path, "'"));
  size_t held = file_size(mapping->descriptor);
  if (nbytes == 0) mapping->nbytes = nbytes = held;
  if (held < nbytes) {
    TAEDA_CHECK(shared, "'", path, "' holds ", held, " bytes; ", nbytes, " were asked for");
    if (ftruncate(mapping->descriptor, static_cast<off_t>(nbytes)) < 0) fail_errno(str("cannot lengthen '", path, "'"));
  }
  map(*mapping);
  return make_ref<StorageImpl>(to_data(std::move(mapping)), nbytes, false);
}

bool is_shared(const StorageImpl& storage) {
  const Mapping* mapping = mapping_of(storage);
  return mapping ? mapping->shared : storage.device().type == DeviceType::CUDA;
}
int shared_descriptor(const StorageImpl& storage) {
  const Mapping* mapping = mapping_of(storage);
  return mapping && mapping->shared ? mapping->descriptor : -1;
}
std::string mapped_path(const StorageImpl& storage) {
  const Mapping* mapping = mapping_of(storage);
  return mapping && mapping->shared ? mapping->path : std::string();
}

namespace {
void check_on_cpu(const StorageImpl& storage) {
  TAEDA_CHECK(storage.device().is_cpu(), "only memory of the CPU can be shared; this storage is on ", storage.device());
}

void move_into(std::unique_ptr<Mapping> mapping, StorageImpl& storage) {
  size_t nbytes = storage.nbytes();
  if (nbytes) std::memcpy(mapping->data, storage.data(), nbytes);
  if (!storage.resizable()) mapping->previous = storage.take_data();
  storage.replace(to_data(std::move(mapping)), nbytes);
}

// Maps a whole file of at least `nbytes` and keeps its name only: there may be more such files than descriptors.
std::unique_ptr<Mapping> map_by_name(const char* path, size_t nbytes, bool create) {
  auto mapping = std::make_unique<Mapping>();
  mapping->nbytes = nbytes;
  mapping->path = path;
  mapping->descriptor = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600);
  if (mapping->descriptor < 0) fail_errno(str("cannot open '", path, "'"));
  if (create) {
    // Reserves the memory: where a file system is full, a write to its mapping would kill the process.
    int failed = nbytes ? posix_fallocate(mapping->descriptor, 0, static_cast<off_t>(nbytes)) : 0;
    if (failed) unlink(path);
    TAEDA_CHECK(!failed, "cannot make '", path, "' of ", nbytes, " bytes: ", std::strerror(failed));
  }
  size_t held = file_size(mapping->descriptor);
  TAEDA_CHECK(held >= nbytes, "'", path, "' holds ", held, " bytes; ", nbytes, " were asked for");
  map(*mapping);
  close(std::exchange(mapping->descriptor, -1));
  return mapping;
}
}  // namespace

void move_to_shared_memory(StorageImpl& storage) {
  if (is_shared(storage)) return;
  check_on_cpu(storage);
  move_into(new_memory_file(storage.reach()), storage);
}

// --- methods
namespace {
PyObject* is_shared_method(PyObject* self, PyObject*) { return PyBool_FromLong(is_shared(*storage_of(self))); }

PyObject* share_memory(PyObject* self, PyObject*) {
  return guarded("UntypedStorage.share_memory_", [&] {
    move_to_shared_memory(*storage_of(self));
    return Py_NewRef(self);
  });
}

PyObject* new_shared(PyObject* cls, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("UntypedStorage._new_shared", [&] {
    constexpr const char* kNames[] = {"size", "device"};
    PyObject* given[2];
    read_arguments(kNames, 1, args, count, names, given);
    int64_t nbytes = to_int(given[0], "size");
    TAEDA_CHECK_VALUE(nbytes >= 0, "'size' must not be negative; got ", nbytes);
    return new_storage_object(reinterpret_cast<PyTypeObject*>(cls), new_shared_storage(static_cast<size_t>(nbytes)));
  });
}

PyObject* share_fd(PyObject* self, PyObject*) {
  return guarded("UntypedStorage._share_fd_cpu_", [&] {
    StorageImpl& storage = *storage_of(self);
    move_to_shared_memory(storage);
    TAEDA_CHECK(shared_descriptor(storage) >= 0, "the storage is shared by the file name ", mapped_path(storage),
                " and has no descriptor");
    int copy = fcntl(shared_descriptor(storage), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) fail_errno("cannot duplicate the memory file's descriptor");
    return Py_BuildValue("in", copy, static_cast<Py_ssize_t>(storage.nbytes()));
  });
}

PyObject* new_shared_fd(PyObject* cls, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("UntypedStorage._new_shared_fd_cpu", [&] {
    constexpr const char* kNames[] = {"fd", "size"};
    PyObject* given[2];
    read_arguments(kNames, 2, args, count, names, given);
    int64_t nbytes = to_int(given[1], "size");
    TAEDA_CHECK_VALUE(nbytes >= 0, "'size' must not be negative; got ", nbytes);
    Storage storage = open_shared_storage(static_cast<int>(to_int(given[0], "fd")), static_cast<size_t>(nbytes));
    return new_storage_object(reinterpret_cast<PyTypeObject*>(cls), std::move(storage));
  });
}

PyObject* share_filename(PyObject* self, PyObject* given) {
  return guarded("UntypedStorage._share_filename_cpu_", [&] {
    StorageImpl& storage = *storage_of(self);
    check_on_cpu(storage);
    TAEDA_CHECK(!is_shared(storage), "the storage is in shared memory already");
    PyObject* path;
    if (!PyUnicode_FSConverter(given, &path)) throw PythonError();
    Owned owned(path);
    move_into(map_by_name(PyBytes_AS_STRING(path), storage.reach(), true), storage);
    return Py_NewRef(self);
  });
}

PyObject* new_shared_filename(PyObject* cls, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("UntypedStorage._new_shared_filename_cpu", [&] {
    constexpr const char* kNames[] = {"path", "size"};
    PyObject* given[2];
    read_arguments(kNames, 2, args, count, names, given);
    PyObject* path;
    if (!PyUnicode_FSConverter(given[0], &path)) throw PythonError();
    Owned owned(path);
    int64_t nbytes = to_int(given[1], "size");
    TAEDA_CHECK_VALUE(nbytes >= 0, "'size' must not be negative; got ", nbytes);
    auto mapping = map_by_name(PyBytes_AS_STRING(path), static_cast<size_t>(nbytes), false);
    Storage storage = make_ref<StorageImpl>(to_data(std::move(mapping)), static_cast<size_t>(nbytes), false);
    return new_storage_object(reinterpret_cast<PyTypeObject*>(cls), std::move(storage));
  });
}

PyObject* get_shared_fd(PyObject* self, PyObject*) {
  return guarded("UntypedStorage._get_shared_fd", [&] {
    int descriptor = shared_descriptor(*storage_of(self));
    TAEDA_CHECK(descriptor >= 0, "the storage is not in shared memory; call share_memory_() first");
    return PyLong_FromLong(descriptor);
  });
}

PyObject* from_file(PyObject* cls, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded("UntypedStorage.from_file", [&] {
    constexpr const char* kNames[] = {"filename", "shared", "nbytes"};
    PyObject* given[3];
    read_arguments(kNames, 1, args, count, names, given);
    PyObject* path;
    if (!PyUnicode_FSConverter(given[0], &path)) throw PythonError();
    Owned owned(path);
    int64_t nbytes = given[2] ? to_int(given[2], "nbytes") : 0;
    TAEDA_CHECK_VALUE(nbytes >= 0, "'nbytes' must not be negative; got ", nbytes);
    Storage storage = map_file(PyBytes_AS_STRING(path), to_flag(given[1], false), static_cast<size_t>(nbytes));
    return new_storage_object(reinterpret_cast<PyTypeObject*>(cls), std::move(storage));
  });
}

// What was written into a shared file mapping reaches the disk.
PyObject* writeback(PyObject* self, PyObject*) {
  return guarded("UntypedStorage._writeback", [&] {
    StorageImpl& storage = *storage_of(self);
    TAEDA_CHECK(!mapped_path(storage).empty(),
                "the storage is not a shared mapping of a file; make it with from_file(path, shared=True)");
    int result;
    {
      NoGil unlocked;
      result = storage.nbytes() ? msync(storage.data(), storage.nbytes(), MS_SYNC) : 0;
    }
    if (result < 0) fail_errno("cannot write the mapping back");
    return Py_NewRef(self);
  });
}
}  // namespace

PyMethodDef shared_memory_methods[] = {
    {"is_shared", is_shared_method, METH_NOARGS,
     "is_shared($self)\n--\n\nWhether other processes can see this memory."},
    {"share_memory_", share_memory, METH_NOARGS,
     "share_memory_($self)\n--\n\nMoves the bytes to shared memory; returns self."},
    {"_new_shared", as_method(new_shared), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, nullptr},
    {"_share_fd_cpu_", share_fd, METH_NOARGS, "Shares, and returns (a new descriptor, bytes)."},
    {"_new_shared_fd_cpu", as_method(new_shared_fd), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, nullptr},
    {"_share_filename_cpu_", share_filename, METH_O,
     "Moves the bytes to a new file of this path, mapped; returns self."},
    {"_new_shared_filename_cpu", as_method(new_shared_filename), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, nullptr},
    {"_get_shared_fd", get_shared_fd, METH_NOARGS, nullptr},
    {"from_file", as_method(from_file), METH_FASTCALL | METH_KEYWORDS | METH_CLASS,
     "from_file($type, filename, shared=False, nbytes=0)\n--\n\nMaps a file; with ``shared`` writes reach it."},
    {"_writeback", writeback, METH_NOARGS, nullptr},
    {}};

}  // namespace taeda::python
