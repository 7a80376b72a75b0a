#include "distributed/mpi_library.h"

#include <dlfcn.h>

#include "taeda/core/error.h"

namespace taeda::distributed {

namespace {

constexpr int kLongestText = 8192;  // more than any library's MPI_MAX_LIBRARY_VERSION_STRING

}  // namespace

void* MpiLibrary::symbol(const char* name) const {
  void* found = ::dlsym(library_, name);
  TAEDA_CHECK_KIND(DistBackend, found, "the MPI library lacks ", name, "; one of MPI 3 or later is needed");
  return found;
}

MpiLibrary::MpiLibrary(const std::string& path) : library_(::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
  TAEDA_CHECK_KIND(DistBackend, library_, "the MPI library '", path, "' cannot be opened: ", ::dlerror());
  auto bind = [this]<class F>(F*& function, const char* name) { function = reinterpret_cast<F*>(symbol(name)); };
  bind(init_thread, "MPI_Init_thread");
  bind(initialized, "MPI_Initialized");
  bind(finalized, "MPI_Finalized");
  bind(finalize, "MPI_Finalize");
  bind(comm_rank, "MPI_Comm_rank");
  bind(comm_size, "MPI_Comm_size");
  bind(comm_group, "MPI_Comm_group");
  bind(group_incl, "MPI_Group_incl");
  bind(group_free, "MPI_Group_free");
  bind(comm_create_group, "MPI_Comm_create_group");
  bind(comm_set_errhandler, "MPI_Comm_set_errhandler");
  bind(comm_get_attr, "MPI_Comm_get_attr");
  bind(isend, "MPI_Isend");
  bind(irecv, "MPI_Irecv");
  bind(test, "MPI_Test");
  bind(cancel, "MPI_Cancel");
  bind(iprobe, "MPI_Iprobe");
  bind(get_count, "MPI_Get_count");
  bind(error_string, "MPI_Error_string");
  bind(error_class, "MPI_Error_class");
  bind(get_library_version, "MPI_Get_library_version");
  if (void* open_mpi = ::dlsym(library_, "ompi_mpi_comm_world")) {
    world = reinterpret_cast<MpiHandle>(open_mpi);
    byte = reinterpret_cast<MpiHandle>(symbol("ompi_mpi_byte"));
    errors_return = reinterpret_cast<MpiHandle>(symbol("ompi_mpi_errors_return"));
    any_source = -1;
    tag_bound_key = 0;
    source_word = 0;
    truncated = 15;
    return;
  }
  TAEDA_CHECK_KIND(DistBackend, ::dlsym(library_, "MPIR_Dup_fn"), "'", path,
                   "' has neither MPICH's ABI nor Open MPI's: ", version());
  world = 0x44000000;
  byte = 0x4c00010d;
  errors_return = 0x54000001;
  any_source = -2;
  tag_bound_key = 0x64400001;
  source_word = 2;
  truncated = 14;
}

void MpiLibrary::check(int code, const char* what) const {
  if (code == 0) return;
  char text[kLongestText] = "";
  int length = 0;
  error_string(code, text, &length);
  TAEDA_FAIL(DistBackend, what, " failed in MPI: ", text);
}

bool MpiLibrary::too_long(int code) const {
  int kind = 0;
  return code != 0 && error_class(code, &kind) == 0 && kind == truncated;
}

std::string MpiLibrary::version() const {
  char text[kLongestText] = "";
  int length = 0;
  get_library_version(text, &length);
  std::string all(text);
  return all.substr(0, all.find('\n'));
}

}  // namespace taeda::distributed
