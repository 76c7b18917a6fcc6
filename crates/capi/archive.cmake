# The CMakeLists.txt of a release's archive, for FetchContent and add_subdirectory: the targets
# tagmac::tagmac and tagmac::static. Nothing is built.
#
#     include(FetchContent)
#     FetchContent_Declare(tagmac URL https://.../tagmac-VERSION-x86_64-linux-gnu.tar.gz URL_HASH SHA256=...)
#     FetchContent_MakeAvailable(tagmac)
#     target_link_libraries(program PRIVATE tagmac::static)
cmake_minimum_required(VERSION 3.14)

# The targets must be known outside of this folder.
set(_tagmac_scope GLOBAL)
file(GLOB _tagmac_config
  "${CMAKE_CURRENT_LIST_DIR}/lib*/cmake/tagmac/tagmac-config.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/lib/*/cmake/tagmac/tagmac-config.cmake")
include(${_tagmac_config})
unset(_tagmac_config)
unset(_tagmac_scope)
