target_link_libraries(test_net PRIVATE rapidcheck)
target_compile_definitions(test_net PRIVATE TALUS_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_sources(test_net PRIVATE ${PROJECT_SOURCE_DIR}/apps/talus/server_site.cpp)
