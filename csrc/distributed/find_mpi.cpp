// Where the MPI library is, which moves the bytes of the engine.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "taeda/distributed/process_group.h"

namespace taeda::distributed {

namespace {

// What the loader finds, in whatever place the cluster keeps it.
std::string system_mpi() {
  std::string names[] = {"libmpi.so.12", "libmpi.so.40"};  // MPICH's ABI, Open MPI's
  if (std::getenv("OMPI_COMM_WORLD_RANK")) std::swap(names[0], names[1]);
  for (const std::string& name : names)
    if (::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) return name;
  return {};
}

// The lib folders above this library: a wheel's MPI lies in that of the environment.
void add_own(std::vector<std::string>& folders) {
  Dl_info found;
  if (!::dladdr(reinterpret_cast<void*>(&find_mpi), &found) || !found.dli_fname) return;
  std::error_code ignored;
  std::filesystem::path at = std::filesystem::absolute(found.dli_fname, ignored).parent_path();
  for (; at.has_relative_path(); at = at.parent_path()) folders.push_back((at / "lib").string());
}

}  // namespace

std::string find_mpi(std::vector<std::string> folders) {
  if (const char* given = std::getenv("TAEDA_MPI"); given && *given) return given;
  if (started_by_mpi().rank >= 0)
    if (std::string name = system_mpi(); !name.empty()) return name;
  if (const char* environment = std::getenv("VIRTUAL_ENV")) folders.push_back(std::string(environment) + "/lib");
  add_own(folders);
  for (const std::string& folder : folders) {
    std::error_code ignored;
    const std::filesystem::path library = std::filesystem::path(folder) / "libmpi.so.12";
    if (std::filesystem::exists(library, ignored)) return library.string();
  }
  return system_mpi();
}

}  // namespace taeda::distributed
