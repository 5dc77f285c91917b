#include "parsers/nccl/nccl_call.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace faultline {
namespace {

std::optional<NcclCall> parsed(std::string_view message) {
  NcclCall call;
  if (!parse_nccl_call(message, call)) return std::nullopt;
  return call;
}

std::string shown(const std::optional<NcclCall>& call) {
  if (!call) return "no call";
  std::string text = std::string(call->function) + " op " + std::to_string(call->op_count);
  if (call->done) return text + " done";
  return text + (call->count_is_size ? " size " : " count ") + std::to_string(call->count) +
         " type " + std::to_string(call->datatype) + " red " + std::to_string(call->operation) +
         " root " + std::to_string(call->root) + " comm " + std::to_string(call->communicator) +
         " of " + std::to_string(call->nranks);
}

TEST(NcclCall, ReadsEveryFormThatAVersionOrADialectPrints) {
  struct Case {
    const char* why;
    const char* message;
    const char* expected;
  };
  const Case cases[] = {
      {"2.3.7 to the newest; opCount is hexadecimal",
       "AllReduce: opCount 139d sendbuff 0x78d056200000 recvbuff 0x78d056200000 count 7382228 "
       "datatype 7 op 0 root 0 comm 0x10 [nranks=128] stream 0x78d07125e5e0",
       "AllReduce op 5021 count 7382228 type 7 red 0 root 0 comm 16 of 128"},
      {"the default stream prints as (nil)",
       "Broadcast: opCount 0 sendbuff (nil) recvbuff 0x1 count 4 datatype 0 op 0 root 3 comm 0xa "
       "[nranks=8] stream (nil)",
       "Broadcast op 0 count 4 type 0 red 0 root 3 comm 10 of 8"},
      {"an operation made by the program is a large number",
       "AllReduce: opCount a sendbuff 0x1 recvbuff 0x1 count 1 datatype 9 op 2147480001 root 0 "
       "comm "
       "0xa [nranks=8] stream 0x2",
       "AllReduce op 10 count 1 type 9 red 2147480001 root 0 comm 10 of 8"},
      {"2.3.5 printed no name, and a size besides the count",
       "opCount 7 sendbuff 0x1 recvbuff 0x2 count 1024 size 4 datatype 7 op 0 comm 0xa [nranks=4] "
       "stream 0x3",
       "(unnamed) op 7 count 1024 type 7 red 0 root 0 comm 10 of 4"},
      {"2.3.5 with a root",
       "opCount 7 sendbuff 0x1 recvbuff 0x2 count 1024 size 4 datatype 7 op 0 root 2 comm 0xa "
       "[nranks=4] stream 0x3",
       "(unnamed) op 7 count 1024 type 7 red 0 root 2 comm 10 of 4"},
      {"the peer of a Send stands where the root does",
       "Send: opCount 1f sendbuff (nil) recvbuff 0x7f count 512 datatype 9 op 0 root 5 comm 0xa "
       "[nranks=8] stream 0x3",
       "Send op 31 count 512 type 9 red 0 root 5 comm 10 of 8"},
      {"RCCL adds its own words",
       "AllReduce: opCount 2 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0xa "
       "[nranks=8] stream 0x3 task 0 globalrank 3",
       "AllReduce op 2 count 9 type 7 red 0 root 0 comm 10 of 8"},
      {"the dialect with a size",
       "AllReduce: opCount 1e size 4194304 datatype 7 op 0 root 0 comm 0xa [nranks=8] stream 0x7f",
       "AllReduce op 30 size 4194304 type 7 red 0 root 0 comm 10 of 8"},
      {"the dialect's end of a call", "AllReduce: opCount 1e DONE", "AllReduce op 30 done"},
      {"CRLF",
       "AllReduce: opCount 2 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0xa "
       "[nranks=8] stream 0x3\r",
       "AllReduce op 2 count 9 type 7 red 0 root 0 comm 10 of 8"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(shown(parsed(c.message)), c.expected);
  }
}

TEST(NcclCall, RefusesWhatIsTornOrSomethingElse) {
  const char* const refused[] = {
      "",
      "AllReduce",
      "AllReduce: 29528912 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..7}",
      "SymCheck: coll AllReduce size 5 rank 0",
      "AllReduce: opCount zz sendbuff 0x1",
      "All Reduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0xa "
      "[nranks=8] stream 0x3",
      "AllReduce: opCount 2 sendbuff 0x1 recvbuff 0x2 count 99999999999999999999999 datatype 7 op "
      "0 "
      "root 0 comm 0xa [nranks=8] stream 0x3",
      "AllReduce: opCount 12345678901234567 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root "
      "0 "
      "comm 0xa [nranks=8] stream 0x3",
      "AllReduce: opCount 1 sendbuff 0x1 recvbuff 0x2 count 9 datatype 7 op 0 root 0 comm 0xa "
      "[nranks=8] stream 0x3 task 0 globalrank 3node2:8:9 [1] NCCL INFO x",
  };
  for (const char* message : refused) {
    SCOPED_TRACE(message);
    EXPECT_EQ(shown(parsed(message)), "no call");
  }
}

TEST(NcclCall, IsNoCallWhereverItsLineWasCutOff) {
  const std::string whole =
      "AllReduce: opCount 139d sendbuff 0x78d056200000 recvbuff 0x78d056200000 count 7382228 "
      "datatype 7 op 0 root 0 comm 0x78cfda045840 [nranks=128] stream ";
  for (std::size_t length = 0; length <= whole.size(); ++length)
    EXPECT_EQ(shown(parsed(whole.substr(0, length))), "no call") << length;
  EXPECT_TRUE(parsed(whole + "0"));  // the stream says nothing that is needed
}

}  // namespace
}  // namespace faultline
