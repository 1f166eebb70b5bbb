# SPDX-License-Identifier: Apache-2.0
# The installed tree, which can be moved as a whole, and the packages that CPack makes of it: quantscope_VERSION_amd64.deb and
# quantscope-VERSION-Linux.tar.zst. Programs find libraries and resources beside themselves.
include(GNUInstallDirs)
option(QUANTSCOPE_CARRY_TORCH "Install LibTorch's CPU libraries too; without, they stay in the Python environment, and the CUDA plug-in is installed" ON)
set(packageScripts "${CMAKE_SOURCE_DIR}/resources/packages")
set(ownLibraries lib/quantscope) # no other program looks for libraries there
set(installed quantscope quantscope_engine)
if(TARGET quantscope-ui)
    list(APPEND installed quantscope-ui)
endif()
set(carriedTorch "")
set(standIns "")

if(QUANTSCOPE_CARRY_TORCH)
    execute_process(COMMAND "${QUANTSCOPE_VENV}/bin/python" "${packageScripts}/torch_libraries.py"
            "${torchRoot}/lib/libtorch_cpu.so" "${CMAKE_BINARY_DIR}/stand_ins"
        OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL "[^\n]+" lines "${lines}")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^[a-z_]+ " "" word "${line}")
        if(line MATCHES "^carry ")
            list(APPEND carriedTorch "${word}")
            continue()
        endif()
        list(APPEND standIns "${word}")
        add_library("stand_in_${word}" SHARED "${CMAKE_BINARY_DIR}/stand_ins/${word}.c")
        set_target_properties("stand_in_${word}" PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME "${word}"
            LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/stand_ins" POSITION_INDEPENDENT_CODE ON
            LINK_OPTIONS "-Wl,--version-script=${CMAKE_BINARY_DIR}/stand_ins/${word}.map")
        install(TARGETS "stand_in_${word}" LIBRARY DESTINATION ${ownLibraries} COMPONENT programs)
        if(TARGET apps)
            add_dependencies(apps "stand_in_${word}")
        endif()
    endforeach()
    install(PROGRAMS ${carriedTorch} DESTINATION ${ownLibraries} COMPONENT programs)
elseif(TARGET quantscope_cuda)
    list(APPEND installed quantscope_cuda)
endif()

foreach(target IN LISTS installed)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../${ownLibraries};$ORIGIN")
    if(NOT QUANTSCOPE_CARRY_TORCH)
        set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    endif()
endforeach()
install(TARGETS ${installed} COMPONENT programs
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" LIBRARY DESTINATION ${ownLibraries})
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION share/doc/quantscope COMPONENT programs)
install(FILES "${CMAKE_SOURCE_DIR}/resources/licences.json" DESTINATION share/quantscope COMPONENT programs)
# Where `resourceFolder` looks, whatever the other folders are called.
foreach(folder backends export extensions help report samples screenshots verify)
    install(DIRECTORY "${CMAKE_SOURCE_DIR}/resources/${folder}" DESTINATION share/quantscope COMPONENT programs
        PATTERN "make_*.py" EXCLUDE PATTERN "train_*.py" EXCLUDE PATTERN "refresh" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endforeach()

# What the command line says of itself, as man page and completions.
set(described "${CMAKE_BINARY_DIR}/described")
function(qs_install_description form folder name)
    add_custom_command(OUTPUT "${described}/${form}/${name}"
        COMMAND ${CMAKE_COMMAND} -E make_directory "${described}/${form}"
        COMMAND quantscope describe ${form} > "${described}/${form}/${name}"
        DEPENDS quantscope COMMENT "Describing the command line: ${form}" VERBATIM)
    add_custom_target(described_${form} ALL DEPENDS "${described}/${form}/${name}")
    add_dependencies(apps described_${form})
    install(FILES "${described}/${form}/${name}" DESTINATION "share/${folder}" COMPONENT programs)
endfunction()
qs_install_description(man man/man1 quantscope.1)
qs_install_description(bash bash-completion/completions quantscope)
qs_install_description(zsh zsh/vendor-completions _quantscope)
qs_install_description(fish fish/vendor_completions.d quantscope.fish)

if(TARGET quantscope-ui)
    install(FILES "${CMAKE_SOURCE_DIR}/resources/desktop/quantscope.desktop"
        DESTINATION share/applications COMPONENT desktop)
    install(FILES "${CMAKE_SOURCE_DIR}/resources/icons/quantscope.svg"
        DESTINATION share/icons/hicolor/scalable/apps COMPONENT desktop)
    install(FILES "${packageScripts}/quantscope-mime.xml" DESTINATION share/mime/packages RENAME quantscope.xml COMPONENT desktop)
    install(FILES "${CMAKE_SOURCE_DIR}/ui/LICENSE" DESTINATION share/doc/quantscope RENAME LICENSE.ui COMPONENT programs)
endif()

# What the tree is made of, written from the tree itself once all else lies there.
function(qs_json_list out)
    list(TRANSFORM ARGN REPLACE "(.+)" "\"\\1\"")
    list(JOIN ARGN ", " text)
    set(${out} "[${text}]" PARENT_SCOPE)
endfunction()
set(torchFiles ${carriedTorch})
list(TRANSFORM torchFiles REPLACE "^.*/" "")
list(REMOVE_ITEM torchFiles libgomp.so.1)
qs_json_list(torchFiles ${torchFiles})
file(GLOB torchLicences "${QUANTSCOPE_SITE}/torch-*.dist-info/licenses/*")
file(GLOB_RECURSE ogdfLicences "${QUANTSCOPE_SITE}/ogdf_wheel-*.dist-info/licenses/*")
file(GLOB ogdfInfo "${QUANTSCOPE_SITE}/ogdf_wheel-*.dist-info")
string(REGEX REPLACE ".*ogdf_wheel-(.*)\\.dist-info$" "\\1" ogdfVersion "${ogdfInfo}")
qs_json_list(torchLicences ${torchLicences})
qs_json_list(ogdfLicences ${ogdfLicences})
file(WRITE "${CMAKE_BINARY_DIR}/package_facts.json" "{\"version\": \"${PROJECT_VERSION}\", \"carried\": [
 {\"name\": \"torch\", \"version\": \"${QUANTSCOPE_TORCH_VERSION}\", \"licence\": \"BSD-3-Clause\",
  \"files\": ${torchFiles}, \"licences\": ${torchLicences}},
 {\"name\": \"libgomp\", \"version\": \"of torch ${QUANTSCOPE_TORCH_VERSION}\", \"licence\": \"GPL-3.0-or-later WITH GCC-exception-3.1\",
  \"files\": [\"libgomp.so.1\"], \"licences\": [\"/usr/share/doc/libgomp1/copyright\"]},
 {\"name\": \"ogdf-wheel\", \"version\": \"${ogdfVersion}\", \"licence\": \"GPL-2.0-only OR GPL-3.0-only\",
  \"files\": [\"libOGDF.so\", \"libCOIN.so\"], \"licences\": ${ogdfLicences}}]}
")
install(CODE "execute_process(COMMAND \"${QUANTSCOPE_VENV}/bin/python\" \"${packageScripts}/describe_package.py\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" \"${CMAKE_BINARY_DIR}/package_facts.json\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT programs)

set(CPACK_GENERATOR "DEB;TZST")
set(CPACK_PACKAGE_NAME quantscope)
set(CPACK_PACKAGE_VENDOR "Quantscope")
set(CPACK_PACKAGE_CONTACT "The makers of Quantscope <quantscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Quantize PyTorch models and see what every layer loses")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_THREADS 0)
set(CPACK_STRIP_FILES OFF) # LibTorch's libraries stay byte for byte those of the wheel
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libqt6svg6")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, fonts-dejavu-core, python3-venv") # `verify` and `export` run Python
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
file(GLOB ogdfFolder "${QUANTSCOPE_VENV}/lib")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/lib" "${CMAKE_BINARY_DIR}/stand_ins" "${torchRoot}/lib" ${ogdfFolder})
include(CPack)
