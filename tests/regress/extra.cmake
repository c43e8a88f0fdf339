if(TALUS_STORE)
    target_compile_definitions(test_regress PRIVATE TALUS_HAS_STORE)
endif()
