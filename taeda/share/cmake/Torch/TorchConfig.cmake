# find_package(Torch) finds Taeda: the headers and libraries of the package that this file lies in, and nothing else.
#
#   find_package(Torch REQUIRED)
#   add_executable(program program.cpp)
#   target_link_libraries(program "${TORCH_LIBRARIES}")
#
# TORCH_LIBRARIES, TORCH_INCLUDE_DIRS, TORCH_CXX_FLAGS, TORCH_INSTALL_PREFIX; the targets torch, torch_library,
# torch_cpu, torch_cpu_library and c10 stand for all of it. Headers are C++20, which the targets ask for.
include("${CMAKE_CURRENT_LIST_DIR}/../Taeda/TaedaConfig.cmake")
foreach(name torch torch_library torch_cpu torch_cpu_library c10)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES Taeda::taeda)
  endif()
endforeach()
set(TORCH_FOUND TRUE)
set(Torch_FOUND TRUE)
set(TORCH_LIBRARY "${TAEDA_LIBRARY_DIR}/libtaeda_torch.so")
set(TORCH_LIBRARIES torch torch_library)
set(TORCH_INCLUDE_DIRS ${TAEDA_INCLUDE_DIRS})
set(TORCH_CXX_FLAGS "${TAEDA_CXX_FLAGS}")
set(TORCH_INSTALL_PREFIX "${TAEDA_PREFIX}")
set(TORCH_CUDA_LIBRARIES "")
# Bindings for Python are headers alone; who asks for the library that PyTorch has them in gets ours.
set(TORCH_PYTHON_LIBRARY "${TORCH_LIBRARY}" CACHE FILEPATH "What bindings are linked with")
