# Runs taedagen now, to learn the names of the files, and as a build step whenever a declaration or emitter changes.
set(TAEDA_GENERATED ${CMAKE_BINARY_DIR}/generated)
set(generator_options --out ${TAEDA_GENERATED})
if(TAEDA_SELECT_OPS)
  get_filename_component(select_ops ${TAEDA_SELECT_OPS} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  list(APPEND generator_options --select-ops ${select_ops})
endif()
if(TAEDA_FORCE_SCHEMAS)
  list(APPEND generator_options --force-schemas)
endif()
if(NOT TAEDA_AUTOGRAD)
  list(APPEND generator_options --no-autograd)
endif()

file(GLOB_RECURSE generator_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/taedagen/*.py
  ${CMAKE_SOURCE_DIR}/csrc/python/stubs/*.pyi ${CMAKE_SOURCE_DIR}/docs/reference/*.txt
  ${CMAKE_SOURCE_DIR}/taeda/__init__.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${generator_sources} ${select_ops})

execute_process(
  COMMAND ${Python_EXECUTABLE} -m taedagen ${generator_options}
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${TAEDA_GENERATED}/library.txt TAEDA_GENERATED_LIBRARY)
file(STRINGS ${TAEDA_GENERATED}/bindings.txt TAEDA_GENERATED_BINDINGS)
file(STRINGS ${TAEDA_GENERATED}/frontend.txt TAEDA_GENERATED_FRONTEND)
list(TRANSFORM TAEDA_GENERATED_FRONTEND PREPEND ${TAEDA_GENERATED}/)
list(TRANSFORM TAEDA_GENERATED_LIBRARY PREPEND ${TAEDA_GENERATED}/)
list(TRANSFORM TAEDA_GENERATED_BINDINGS PREPEND ${TAEDA_GENERATED}/)
