# Each fuzz target under a name of its own.
foreach(name vox schem materials protocol snapshot recording)
    set(source ${PROJECT_SOURCE_DIR}/fuzz/fuzz_${name}.cpp)
    target_sources(test_fuzz PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz_${name})
endforeach()
target_compile_definitions(test_fuzz PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
