# Small units are compiled together, neighbours of a folder up to so many bytes: much of what each costs alone is reading
# the same headers and instantiating the same templates. Anonymous names of such a folder must differ.
if(NOT DEFINED TAEDA_JOINED_BYTES)  # not cached: a folder that was configured before follows a change
  set(TAEDA_JOINED_BYTES 98304)     # 0 compiles each alone
endif()

function(taeda_join target pattern)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX ${pattern})
  list(FILTER sources EXCLUDE REGEX "/signatures_[0-9]+\\.cpp$")  # little text that takes long
  list(SORT sources)
  set(bytes 0)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    file(SIZE ${source} size)
    math(EXPR size "(${size} + 4095) / 4096 * 4096")  # so that an edit seldom moves a file to another group
    if(NOT source MATCHES "/generated/")
      math(EXPR size "${size} * 2")  # denser, so that it takes longer
    endif()
    math(EXPR bytes "${bytes} + ${size}")
    if(bytes GREATER TAEDA_JOINED_BYTES OR NOT folder STREQUAL last_folder)
      set(bytes ${size})
      string(REGEX REPLACE ".*csrc/(.*)\\.cpp" "\\1" group ${source})  # called by its first
      string(REPLACE / _ group ${group})
    endif()
    set(last_folder ${folder})
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
