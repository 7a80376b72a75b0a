// The few functions of MPI that are needed, from a library that is opened at run time. Of MPI's ABIs those of MPICH
// (which Intel's and Cray's share) and of Open MPI are known. Handles are ints in one and pointers in the other: here
// words.
#pragma once
#include <cstdint>
#include <string>

namespace taeda::distributed {

using MpiHandle = uintptr_t;

struct MpiStatus {
  int words[12];
};

class MpiLibrary {
 public:
  // A DistBackend error where it cannot be opened, or has another ABI.
  explicit MpiLibrary(const std::string& path);

  int (*init_thread)(int*, char***, int, int*);
  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*finalize)();
  int (*comm_rank)(MpiHandle, int*);
  int (*comm_size)(MpiHandle, int*);
  int (*comm_group)(MpiHandle, MpiHandle*);
  int (*group_incl)(MpiHandle, int, const int*, MpiHandle*);
  int (*group_free)(MpiHandle*);
  int (*comm_create_group)(MpiHandle, MpiHandle, int, MpiHandle*);
  int (*comm_set_errhandler)(MpiHandle, MpiHandle);
  int (*comm_get_attr)(MpiHandle, int, void*, int*);
  int (*isend)(const void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*irecv)(void*, int, MpiHandle, int, int, MpiHandle, MpiHandle*);
  int (*test)(MpiHandle*, int*, MpiStatus*);
  int (*cancel)(MpiHandle*);
  int (*iprobe)(int, int, MpiHandle, int*, MpiStatus*);
  int (*get_count)(const MpiStatus*, MpiHandle, int*);
  int (*error_string)(int, char*, int*);
  int (*error_class)(int, int*);
  int (*get_library_version)(char*, int*);

  // --- what the ABIs differ in
  MpiHandle world, byte, errors_return;
  int any_source, tag_bound_key, source_word, truncated;

  // A DistBackend error with MPI's words, unless `code` is success.
  void check(int code, const char* what) const;
  // Whether the error is that of a message longer than the memory for it.
  bool too_long(int code) const;
  std::string version() const;

 private:
  void* symbol(const char* name) const;
  void* library_;
};

}  // namespace taeda::distributed
