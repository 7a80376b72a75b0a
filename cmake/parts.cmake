# The libraries that the wheel carries beside libtaeda, taken from pip packages and the compiler, never linked but for
# libgomp, of which a process must have one.
execute_process(
  COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/find_parts.py
  OUTPUT_VARIABLE parts OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET parts 0 OPENBLAS_LIBRARY)
list(GET parts 1 DNNL_INCLUDE)
list(GET parts 2 DNNL_LIBRARY)
# Copied, so that compile commands do not name the environment and a compiler cache serves every checkout.
file(GLOB dnnl_headers ${DNNL_INCLUDE}/dnnl*.h ${DNNL_INCLUDE}/oneapi)
file(COPY ${dnnl_headers} DESTINATION ${CMAKE_BINARY_DIR}/parts/include)
include_directories(SYSTEM ${CMAKE_BINARY_DIR}/parts/include)
find_package(OpenMP REQUIRED COMPONENTS CXX)

execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1
  OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(TAEDA_PARTS "")
set(TAEDA_PART_FILES "")

# Stripped, and under the name that is asked for at run time.
function(carry_part source name)
  set(copy ${CMAKE_BINARY_DIR}/parts/${name})
  if(NOT EXISTS ${copy})
    file(REAL_PATH ${source} real)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/parts)
    execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded -o ${copy} ${real} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set(TAEDA_PART_FILES ${TAEDA_PART_FILES} ${copy} PARENT_SCOPE)
endfunction()
carry_part(${gomp} libgomp.so.1)
set(part_definitions "")
foreach(part "openblas OPENBLAS libscipy_openblas.so" "onednn DNNL libdnnl.so.3")
  separate_arguments(part)
  list(GET part 0 word)
  list(GET part 1 name)
  list(GET part 2 file)
  set(has 0)
  set(built_from "")
  if(NOT word IN_LIST TAEDA_WITHOUT_PARTS)
    carry_part(${${name}_LIBRARY} ${file})
    set(has 1)
    # A development build opens the pip packages' files where they lie; a wheel must not remember its builder's folders.
    if(NOT SKBUILD)
      set(built_from ${${name}_LIBRARY})
    endif()
  endif()
  list(APPEND part_definitions TAEDA_HAS_${name}=${has} "TAEDA_${name}_LIBRARY=\"${built_from}\"")
endforeach()
set_source_files_properties(${CMAKE_SOURCE_DIR}/csrc/backend/cpu/libraries/bundled_libraries.cpp PROPERTIES COMPILE_DEFINITIONS
  "${part_definitions}")
