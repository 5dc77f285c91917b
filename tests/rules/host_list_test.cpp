#include "rules/picture/who/host_list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> hosts_in_list(std::string_view text) { return HostLists().of(text).hosts; }

TEST(HostList, NamesEachHostThatItsBracketsStandFor) {
  EXPECT_THAT(hosts_in_list("vm1"), ElementsAre("vm1"));
  EXPECT_THAT(hosts_in_list("vm[1,3]"), ElementsAre("vm1", "vm3"));
  EXPECT_THAT(hosts_in_list("gpu[008-011],login.lab"),
              ElementsAre("gpu008", "gpu009", "gpu010", "gpu011", "login"));
  EXPECT_THAT(hosts_in_list("r[1-2]n[1,4]"), ElementsAre("r1n1", "r1n4", "r2n1", "r2n4"));
}

TEST(HostList, WhatIsNoneNamesNobody) {
  for (const char* text : {"", "None assigned", "n/a", "(null)", "vm[1", "vm[a-b]", "vm[]"})
    EXPECT_THAT(hosts_in_list(text), IsEmpty()) << text;
}

TEST(HostList, SaysIfAPartOfItCannotBeReadOrIsMoreThanAClusterHas) {
  EXPECT_THAT(hosts_in_list("a[1-16384]"), SizeIs(16384));
  for (const char* part :
       {"vm[a-b]", "vm[2-1]", "a[1-16385]", "a[1-128]b[1-129]", "a[1-900000000]b[1-900000000]",
        "a[1-16384]b[1-16384]c[1-16384]", "a[1-16384]"})
    for (const std::string& text : {std::string("c7,") + part, std::string(part) + ",c7"}) {
      SCOPED_TRACE(text);
      HostLists lists;
      const HostList& list = lists.of(text);
      EXPECT_FALSE(list.whole);
      EXPECT_TRUE(std::ranges::count(list.hosts, "c7") == 1 || list.hosts.size() == 16384U);
    }
  HostLists lists;
  for (const char* text : {"a[1-3],,c7,", "(null)", "None assigned"})
    EXPECT_TRUE(lists.of(text).whole);
  EXPECT_FALSE(lists.of("c7,vm[1").whole);
}

TEST(HostList, ThatItsToolCutLacksTheLastName) {
  HostLists lists;
  const std::string long_one = "c7," + std::string(256, 'x');
  for (const std::string& text : {std::string("c7,gpu-node-1+"), std::string("c7,+"), long_one}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(lists.of(text).hosts, ElementsAre("c7"));
    EXPECT_FALSE(lists.of(text).whole);
  }
}

// What is not given costs something, too.
TEST(HostList, AllTogetherAreReadUpToALimit) {
  for (const char* end : {"", "[1][1]", "/", ",["}) {
    SCOPED_TRACE(end);
    HostLists lists;
    for (int i = 0; i < 64; ++i) lists.of(fmt::format("b{}_[1-16384]{}", i, end));
    const HostList& last = lists.of("c[1-16384][1]");
    EXPECT_THAT(last.hosts, IsEmpty());
    EXPECT_FALSE(last.whole);
  }
  HostLists lists;
  for (int i = 0; i < 64; ++i) EXPECT_THAT(lists.of("a[1-16384]").hosts, SizeIs(16384));
  EXPECT_THAT(lists.of("a1").hosts, SizeIs(1));
}

}  // namespace
}  // namespace faultline
