#include "client/url.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

TEST(Urls, HoldAddressesAsEverybodyWritesThem) {
  for (const char* good : {"http://127.0.0.1:9093", "http://10.0.0.7", "http://[::1]:9093/",
                           "http://[::ffff:10.0.0.7]", "https://am-1.example", "http://gpu-7",
                           "http://7.example", "http://10.0.0.7.example"})
    EXPECT_TRUE(parse_url(good)) << good;
  for (const char* wrong : {"http://2130706433/", "http://0x7f.1/", "http://127.1", "http://0x",
                            "http://1.2.3.4.5", "http://256.0.0.1"})
    EXPECT_FALSE(parse_url(wrong)) << wrong;
}

// Whoever knows the path and the query of a hook can write to it.
TEST(NameOfUrl, TellsTheHostAndNothingOfThePath) {
  EXPECT_EQ(name_of_url("http://am-1.example:9093"), "http://am-1.example:9093");
  EXPECT_EQ(name_of_url("https://am-1.example:443/"), "https://am-1.example");
  EXPECT_EQ(name_of_url("http://[::1]:9093"), "http://[::1]:9093");
  const std::string name = name_of_url("https://hooks.example/services/T1/B2/q7Xm2Kd9?token=Rw4T");
  EXPECT_TRUE(name.starts_with("https://hooks.example/#")) << name;
  EXPECT_EQ(name.size(), std::string("https://hooks.example/#01234567").size());
  for (const char* told : {"services", "q7Xm2Kd9", "Rw4T"})
    EXPECT_EQ(name.find(told), name.npos) << name;
}

TEST(NameOfUrl, IsStableAndTellsHooksOfAHostApart) {
  const std::string first = name_of_url("https://hooks.example/a");
  EXPECT_EQ(name_of_url("https://hooks.example/a"), first);
  EXPECT_NE(name_of_url("https://hooks.example/b"), first);
  EXPECT_NE(name_of_url("https://hooks.example/?a"), name_of_url("https://hooks.example/?b"));
}

}  // namespace
}  // namespace faultline
