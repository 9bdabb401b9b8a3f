# wb_add_library(NAME DIR [LINK libs...] [INCLUDE dirs...])
#   A static library of all DIR/*.c; an interface library while the folder holds none. Everybody sees sim/include; a folder's
#   private headers are seen by itself and by those who name the folder under INCLUDE.
set(WB_SIM_INCLUDE "${PROJECT_SOURCE_DIR}/sim/include")
set_property(GLOBAL PROPERTY WB_LIBRARIES "")

function(wb_add_library name dir)
    cmake_parse_arguments(ARG "" "" "LINK;INCLUDE" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${dir}/*.c")
    if(sources)
        add_library(${name} STATIC ${sources})
        target_include_directories(${name} PUBLIC "${WB_SIM_INCLUDE}" PRIVATE "${PROJECT_SOURCE_DIR}/${dir}")
        foreach(inc ${ARG_INCLUDE})
            target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/${inc}")
        endforeach()
        target_link_libraries(${name} PRIVATE wb_flags PUBLIC ${ARG_LINK})
    else()
        add_library(${name} INTERFACE)
        target_include_directories(${name} INTERFACE "${WB_SIM_INCLUDE}")
        target_link_libraries(${name} INTERFACE ${ARG_LINK})
    endif()
    set_property(GLOBAL APPEND PROPERTY WB_LIBRARIES ${name})
    set_property(GLOBAL APPEND PROPERTY WB_DIRECTORIES "${PROJECT_SOURCE_DIR}/${dir}")
endfunction()

# Where a binary looks for shipped scenarios: beside the sources while it runs from the build tree, else where they are installed.
function(wb_scenario_paths target)
    target_compile_definitions(${target} PRIVATE
        WB_SOURCE_SCENARIOS="${PROJECT_SOURCE_DIR}/scenarios"
        WB_BUILD_DIR="${PROJECT_BINARY_DIR}"
        WB_INSTALL_SCENARIOS="${CMAKE_INSTALL_FULL_DATADIR}/wakebal"
        WB_VERSION="${PROJECT_VERSION}")
endfunction()
