# Not yet tried: packaging/README.md.
vcpkg_download_distfile(archive URLS "RELEASE_URL" FILENAME "solver-${VERSION}.tar.gz" SHA512 RELEASE_SHA512)
vcpkg_extract_source_archive(source_folder ARCHIVE "${archive}")
vcpkg_cmake_configure(SOURCE_PATH "${source_folder}" OPTIONS -DSOLVER_BUILD_TESTS=OFF -DSOLVER_BUILD_TOOLS=OFF -DSOLVER_CUDA=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME solver CONFIG_PATH lib/cmake/solver)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${source_folder}/LICENSE")
