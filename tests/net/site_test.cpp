#include "apps/talus/server_site.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace talus {
namespace {

struct Site : testing::Test {
    TemporaryFolder outside;
    std::filesystem::path root = outside / "page";
    void SetUp() override {
        std::filesystem::create_directories(root / "assets");
        for (const char* name :
             {"index.html", "talus.wasm", "assets/main-1a2b.js", ".hidden", "../secret.txt"})
            std::ofstream(root / name) << "x";
        std::filesystem::create_symlink("../secret.txt", root / "link.txt");
        std::filesystem::create_symlink("index.html", root / "inside.html");
    }
};

TEST_F(Site, FindsThePagesFiles) {
    EXPECT_EQ(find_site_file(root, "/")->path.filename(), "index.html");
    EXPECT_STREQ(find_site_file(root, "/")->content_type, "text/html; charset=utf-8");
    EXPECT_STREQ(find_site_file(root, "/talus.wasm?v=3")->content_type, "application/wasm");
    EXPECT_FALSE(find_site_file(root, "/talus.wasm")->immutable);
    EXPECT_TRUE(find_site_file(root, "/assets/main-1a2b.js")->immutable);
    EXPECT_EQ(find_site_file(root, "/%69ndex.html")->path.filename(), "index.html");
    EXPECT_TRUE(find_site_file(root, "/inside.html"));
}

TEST_F(Site, NeverLeavesItsFolder) {
    for (const char* target : {"/../secret.txt",
                               "/assets/../../secret.txt",
                               "/%2e%2e/secret.txt",
                               "/..%2fsecret.txt",
                               "/%2e%2e%2fsecret.txt",
                               "/..\\secret.txt",
                               "/link.txt",
                               "/.hidden",
                               "//../secret.txt",
                               "secret.txt",
                               "",
                               "/%00",
                               "/index.html%00.js",
                               "/%",
                               "/%2",
                               "/%zz",
                               "/nothing",
                               "/assets",
                               "/C:/x",
                               "/etc/passwd"})
        EXPECT_FALSE(find_site_file(root, target)) << target;
    EXPECT_FALSE(find_site_file(root, "/" + std::string(5000, 'a')));
    EXPECT_FALSE(find_site_file(root / "no such folder", "/"));
}

TEST(Origin, OnlyThePagesOwn) {
    EXPECT_TRUE(origin_allowed("127.0.0.1:8080", "http://127.0.0.1:8080", true, 8080));
    EXPECT_TRUE(origin_allowed("localhost:8080", "http://localhost:8080", true, 8080));
    EXPECT_FALSE(origin_allowed("127.0.0.1:8080", "http://localhost:8080", true, 8080));
    EXPECT_FALSE(origin_allowed("127.0.0.1:8080", "http://evil.example", true, 8080));
    EXPECT_FALSE(origin_allowed("evil.example:8080", "http://evil.example:8080", true, 8080))
        << "a foreign name pointed at this machine";
    EXPECT_FALSE(origin_allowed("127.0.0.1:8080", "", true, 8080));
    EXPECT_FALSE(origin_allowed("", "http://", true, 8080));
    EXPECT_FALSE(origin_allowed("127.0.0.1:8080", "null", true, 8080));
    EXPECT_FALSE(origin_allowed("127.0.0.1:8081", "http://127.0.0.1:8081", true, 8080));
    EXPECT_FALSE(origin_allowed("127.0.0.1:8080", "http://127.0.0.1:8080.evil.example", true, 8080));
    EXPECT_TRUE(origin_allowed("talus.example", "https://talus.example", false, 8080));
    EXPECT_FALSE(origin_allowed("talus.example", "https://other.example", false, 8080));
}

TEST(RateLimit, LetsABurstThenARate) {
    RateLimit limit(3, 2);
    int passed = 0;
    for (int i = 0; i < 10; i++) passed += limit.take(0);
    EXPECT_EQ(passed, 3);
    EXPECT_FALSE(limit.take(0.4));
    EXPECT_TRUE(limit.take(0.6));
    passed = 0;
    for (int i = 0; i < 1000; i++) passed += limit.take(1 + i * 0.01);
    EXPECT_NEAR(passed, 20, 3);
}

}  // namespace
}  // namespace talus
