target_link_libraries(test_dynamics PRIVATE rapidcheck)
target_compile_definitions(test_dynamics PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
