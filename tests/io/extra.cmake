find_package(nlohmann_json REQUIRED)
target_link_libraries(test_io PRIVATE rapidcheck ZLIB::ZLIB nlohmann_json::nlohmann_json)
target_compile_definitions(test_io PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
if(TARGET talus_cli)  # the command-line program, for end-to-end tests
    add_dependencies(test_io talus_cli)
    target_compile_definitions(test_io PRIVATE TALUS_PROGRAM="$<TARGET_FILE:talus_cli>")
endif()
