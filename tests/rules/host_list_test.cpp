#include "rules/picture/who/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> hosts_in_list(std::string_view text) { return HostLists().hosts_in(text); }

TEST(HostList, NamesEachHostThatItsBracketsStandFor) {
  EXPECT_THAT(hosts_in_list("vm1"), ElementsAre("vm1"));
  EXPECT_THAT(hosts_in_list("vm[1,3]"), ElementsAre("vm1", "vm3"));
  EXPECT_THAT(hosts_in_list("gpu[008-011],login.lab"),
              ElementsAre("gpu008", "gpu009", "gpu010", "gpu011", "login"));
  EXPECT_THAT(hosts_in_list("r[1-2]n[1,4]"), ElementsAre("r1n1", "r2n1", "r1n4", "r2n4"));
}

TEST(HostList, WhatIsNoneNamesNobody) {
  for (const char* text : {"", "None assigned", "n/a", "(null)", "vm[1", "vm[a-b]", "vm[]"})
    EXPECT_THAT(hosts_in_list(text), IsEmpty()) << text;
}

// A cut list would say of the hosts behind the cut that the job did not run there.
TEST(HostList, OfMoreHostsThanAClusterHasNamesNobody) {
  EXPECT_THAT(hosts_in_list("a[1-16384]"), SizeIs(16384));
  for (const char* text : {"a[1-16385]", "a[1-128]b[1-129]", "a[1-900000000]b[1-900000000]",
                           "a[1-16384]b[1-16384]c[1-16384]", "a[1-9000],b[1-9000]"})
    EXPECT_THAT(hosts_in_list(text), IsEmpty()) << text;
}

TEST(HostList, AllTogetherNameSoMany) {
  HostLists lists;
  for (int i = 0; i < 16; ++i) EXPECT_THAT(lists.hosts_in("a[1-16384]"), SizeIs(16384));
  EXPECT_THAT(lists.hosts_in("a1"), IsEmpty());
}

}  // namespace
}  // namespace faultline
