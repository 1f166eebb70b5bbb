# SPDX-License-Identifier: Apache-2.0
# Compiler settings common to every target, and the include root.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
# Asserts guard our own invariants and stay on in every build.
foreach(config RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_${config} "${CMAKE_CXX_FLAGS_${config}}")
endforeach()
# Time goes into LibTorch, and into loops whose sources ask for -O3 themselves.
string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

find_program(QUANTSCOPE_CCACHE ccache)
if(QUANTSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${QUANTSCOPE_CCACHE}")
endif()

# Includes resolve from the repository root: "engine/graph/graph.h".
add_library(qs_build INTERFACE)
target_include_directories(qs_build INTERFACE "${CMAKE_SOURCE_DIR}")
# At -O1 GCC takes empty optionals for uninitialized ones.
target_compile_options(qs_build INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-maybe-uninitialized -Wno-unknown-pragmas -fpch-preprocess>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${QUANTSCOPE_WERROR}>>:-Werror>)
target_compile_definitions(qs_build INTERFACE QUANTSCOPE_VERSION="${PROJECT_VERSION}")
if(QUANTSCOPE_SANITIZE)
    # LibTorch hides the type information that the check of virtual tables asks for. The four checks of every access make a build
    # take three times as long, and the address sanitizer sees most of what they would.
    target_compile_options(qs_build INTERFACE -fsanitize=${QUANTSCOPE_SANITIZE}
        -fno-sanitize=vptr,null,alignment,object-size,pointer-overflow -fno-omit-frame-pointer)
    target_link_options(qs_build INTERFACE -fsanitize=${QUANTSCOPE_SANITIZE})
endif()
find_package(Threads REQUIRED)
target_link_libraries(qs_build INTERFACE Threads::Threads)
