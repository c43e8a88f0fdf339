target_link_libraries(test_net PRIVATE rapidcheck)
target_compile_definitions(test_net PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
