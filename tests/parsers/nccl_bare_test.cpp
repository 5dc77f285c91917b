#include "parsers/nccl/nccl_bare.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

TEST(NcclBare, TakesOffThePlaceAndNothingElse) {
  const struct {
    const char* line;
    const char* place;
    const char* text;
  } rows[] = {
      {"misc/socket.cc:521 Call to bind failed", "misc/socket.cc:521", "Call to bind failed"},
      {"bootstrap.cc:77: Bootstrap : none", "bootstrap.cc:77", "Bootstrap : none"},
      {"bootstrapNetInit:88 Bootstrap : none", "bootstrapNetInit:88", "Bootstrap : none"},
      {"> NET/IB : Got", "", "NET/IB : Got"},
      {"  NET/IB : Got \r", "", "NET/IB : Got"},
      {"train.py:12 Call to bind failed", "", "train.py:12 Call to bind failed"},
      {"at 10:30 it failed", "", "at 10:30 it failed"},
      {"host:80 refused", "", "host:80 refused"},
      {"", "", ""},
      {":1 ", "", ":1"},
      {">>>", "", ""},
  };
  for (const auto& row : rows) {
    const BareWarning bare = bare_warning(row.line);
    EXPECT_EQ(bare.place, row.place) << row.line;
    EXPECT_EQ(bare.text, row.text) << row.line;
  }
}

TEST(NcclBare, OnlyWordsOfNcclStandBeforeItsMessage) {
  for (const char* words : {"", "Bootstrap : ", "NET/OFI ", "socketProgress: ", "Net : "})
    EXPECT_TRUE(may_stand_before_warning(words)) << words;
  for (const char* words : {"You may see ", "Note: ", "error: ", "# ", "2026-03-05 INFO ", "NET "})
    EXPECT_FALSE(may_stand_before_warning(words)) << words;
}

}  // namespace
}  // namespace faultline
