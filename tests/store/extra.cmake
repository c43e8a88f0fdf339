target_link_libraries(test_store PRIVATE SQLite::SQLite3)
