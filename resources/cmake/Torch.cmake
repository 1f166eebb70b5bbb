# SPDX-License-Identifier: Apache-2.0
# Our own imported targets for the LibTorch of the pinned wheel: its package file insists on a CUDA toolkit.
#   torch::cpu   torch_cpu and c10
#   torch::cuda  torch_cuda, c10_cuda and the wheel's CUDA runtime; only for the plug-in
file(GLOB QUANTSCOPE_SITE LIST_DIRECTORIES true "${QUANTSCOPE_VENV}/lib/python3*/site-packages")
if(NOT QUANTSCOPE_SITE OR NOT EXISTS "${QUANTSCOPE_SITE}/torch/lib/libtorch_cpu.so")
    message(FATAL_ERROR "No LibTorch under ${QUANTSCOPE_VENV}. Run resources/setup/setup once, or give -DQUANTSCOPE_VENV=...")
endif()
get_filename_component(QUANTSCOPE_SITE "${QUANTSCOPE_SITE}" REALPATH)
set(torchRoot "${QUANTSCOPE_SITE}/torch")
file(STRINGS "${torchRoot}/version.py" torchVersionLine REGEX "^__version__")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" QUANTSCOPE_TORCH_VERSION "${torchVersionLine}")

add_library(torch::c10 SHARED IMPORTED)
set_target_properties(torch::c10 PROPERTIES IMPORTED_LOCATION "${torchRoot}/lib/libc10.so")
add_library(torch::cpu SHARED IMPORTED)
set_target_properties(torch::cpu PROPERTIES IMPORTED_LOCATION "${torchRoot}/lib/libtorch_cpu.so")
target_include_directories(torch::cpu SYSTEM INTERFACE
    "${torchRoot}/include" "${torchRoot}/include/torch/csrc/api/include")
target_link_libraries(torch::cpu INTERFACE torch::c10)

if(EXISTS "${torchRoot}/lib/libtorch_cuda.so")
    add_library(torch::c10_cuda SHARED IMPORTED)
    set_target_properties(torch::c10_cuda PROPERTIES IMPORTED_LOCATION "${torchRoot}/lib/libc10_cuda.so")
    add_library(torch::cuda SHARED IMPORTED)
    set_target_properties(torch::cuda PROPERTIES IMPORTED_LOCATION "${torchRoot}/lib/libtorch_cuda.so")
    target_link_libraries(torch::cuda INTERFACE torch::cpu torch::c10_cuda)
endif()
# Debian's linker would otherwise look for the wheel's CUDA libraries that libtorch_cpu names.
add_link_options(-Wl,--allow-shlib-undefined)
list(PREPEND CMAKE_PREFIX_PATH "${QUANTSCOPE_SITE}" "${QUANTSCOPE_VENV}" "${QUANTSCOPE_SITE}/ogdf_wheel")
message(STATUS "LibTorch ${QUANTSCOPE_TORCH_VERSION} at ${torchRoot}")
