#include "rules/picture/who/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
  EXPECT_LT(hosts_in_list("a[1-900000000]b[1-900000000]").size(), 100'000U);
}

}  // namespace
}  // namespace faultline
