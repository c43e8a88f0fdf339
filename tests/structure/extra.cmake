target_compile_definitions(test_structure PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
