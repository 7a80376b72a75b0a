# The libraries that the wheel carries, taken from pip packages and from nowhere else.
execute_process(
  COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/find_parts.py
  OUTPUT_VARIABLE parts OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(GET parts 0 OPENBLAS_INCLUDE)
list(GET parts 1 OPENBLAS_LIBRARY)
list(GET parts 2 DNNL_INCLUDE)
list(GET parts 3 DNNL_LIBRARY)
include_directories(SYSTEM ${OPENBLAS_INCLUDE} ${DNNL_INCLUDE})
find_package(OpenMP REQUIRED COMPONENTS CXX)
set(TAEDA_PARTS "")
set(TAEDA_PART_FILES ${OPENBLAS_LIBRARY} ${DNNL_LIBRARY})
