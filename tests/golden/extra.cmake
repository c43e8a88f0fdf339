find_package(Threads REQUIRED)
target_link_libraries(test_golden PRIVATE Threads::Threads)
target_compile_definitions(test_golden PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
