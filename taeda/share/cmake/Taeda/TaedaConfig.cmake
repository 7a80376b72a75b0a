# find_package(Taeda): the target Taeda::taeda with headers, libraries and flags; TAEDA_LIBRARIES, TAEDA_INCLUDE_DIRS,
# TAEDA_LIBRARY_DIR, TAEDA_CXX_FLAGS, TAEDA_PREFIX.
get_filename_component(TAEDA_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(EXISTS "${TAEDA_PREFIX}/include/taeda")
  set(TAEDA_INCLUDE_DIRS "${TAEDA_PREFIX}/include")
  set(TAEDA_LIBRARY_DIR "${TAEDA_PREFIX}/lib")
else()  # a developer's tree: the build folder is where the extension module is linked to
  file(GLOB module "${TAEDA_PREFIX}/_C.*.so")
  get_filename_component(module "${module}" REALPATH)
  get_filename_component(TAEDA_LIBRARY_DIR "${module}" DIRECTORY)
  get_filename_component(sources "${TAEDA_PREFIX}/.." ABSOLUTE)
  set(TAEDA_INCLUDE_DIRS "${sources}/include" "${TAEDA_LIBRARY_DIR}/generated/include")
endif()
set(TAEDA_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=1")
set(TAEDA_LIBRARIES Taeda::taeda)
set(TAEDA_FOUND TRUE)
set(Taeda_FOUND TRUE)
if(NOT TARGET Taeda::taeda)
  foreach(name taeda taeda_torch)
    add_library(Taeda::lib${name} SHARED IMPORTED)
    set_target_properties(Taeda::lib${name} PROPERTIES IMPORTED_LOCATION "${TAEDA_LIBRARY_DIR}/lib${name}.so")
  endforeach()
  add_library(Taeda::taeda INTERFACE IMPORTED)
  set_target_properties(Taeda::taeda PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${TAEDA_INCLUDE_DIRS}"
    INTERFACE_COMPILE_DEFINITIONS _GLIBCXX_USE_CXX11_ABI=1
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "Taeda::libtaeda_torch;Taeda::libtaeda")
endif()
