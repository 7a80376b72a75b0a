# Libraries by the names that published binaries of PyTorch's world ask for. They lie in a folder of their own, where no
# loader looks by itself: the process that stands in for PyTorch opens them by their paths.
set(TAEDA_STAND_IN ${CMAKE_BINARY_DIR}/stand_in)
set(stand_in_targets)

function(taeda_stand_in target file)
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${file} LIBRARY_OUTPUT_DIRECTORY
    ${TAEDA_STAND_IN} INSTALL_RPATH "$ORIGIN/.." NO_SONAME ON)
  target_link_options(${target} PRIVATE -Wl,-soname,${file} ${strip} ${ARGN})
  set(stand_in_targets ${stand_in_targets} ${target} PARENT_SCOPE)
endfunction()

foreach(name torch torch_cpu torch_cuda torch_python c10 c10_cuda)
  add_library(stand_in_${name} SHARED csrc/frontend/stand_in/name.cpp)
  target_link_libraries(stand_in_${name} PRIVATE taeda_torch)
  taeda_stand_in(stand_in_${name} lib${name}.so -Wl,--no-as-needed)
endforeach()
target_sources(stand_in_c10 PRIVATE csrc/frontend/stand_in/libstdcxx.cpp)
foreach(version 12 13)
  set(script ${CMAKE_BINARY_DIR}/cudart_${version}.map)
  file(CONFIGURE OUTPUT ${script} CONTENT "libcudart.so.${version} { global: cuda*; __cuda*; local: *; };\n")
  add_library(stand_in_cudart_${version} SHARED csrc/frontend/stand_in/cudart.cpp)
  target_compile_options(stand_in_cudart_${version} PRIVATE -Os)
  taeda_stand_in(stand_in_cudart_${version} libcudart.so.${version} -Wl,--version-script=${script})
  add_library(stand_in_nvrtc_${version} SHARED csrc/frontend/stand_in/name.cpp)
  taeda_stand_in(stand_in_nvrtc_${version} libnvrtc.so.${version})
endforeach()
