// Which lines become remarks of the kernel, and which only quote a kernel line.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/reader.h"

namespace faultline {
namespace {

constexpr std::string_view kText = "nfs: server fs-01 not responding, still trying";

// Signatures that know one message of the kernel and one of networkd.
class Asking : public Noteworthy {
 public:
  bool wants(std::string_view text, std::string_view dialect) const override {
    if (dialect == "kernel") return text.find("not responding") != std::string_view::npos;
    if (dialect == "system") return text.find("carrier") != std::string_view::npos;
    return false;
  }
  bool reads_like_kernel(std::string_view text) const override { return text.starts_with("nfs: "); }
  std::optional<std::size_t> nccl_warning_in(std::string_view) const override { return {}; }
  TroubleKind trouble_in(std::string_view) const override { return TroubleKind::none; }
  bool completes(const Remark&, std::string_view) const override { return false; }
};

struct Kept {
  std::string dialect;
  std::string place;
  std::string text;
  std::string host;
  bool operator==(const Kept&) const = default;
};

std::vector<Kept> kept(const std::string& text) {
  Reader reader(Cursor{}, Timestamp{}, std::make_shared<Asking>());
  reader.feed(text);
  reader.close();
  std::vector<Kept> all;
  const Batch batch = reader.take();
  for (const Event& event : batch.events)
    if (const auto* remark = std::get_if<Remark>(&event.fact))
      all.push_back(
          {remark->dialect, remark->place, remark->text, batch.speakers[event.speaker].host});
  return all;
}

// Knows the message only with its last word, which a mail broke off.
class AskingForTheWhole : public Asking {
 public:
  bool knows(const Remark& remark) const override { return remark.text.ends_with("trying"); }
  bool completes(const Remark& begun, std::string_view text) const override {
    return !knows(begun) && text.ends_with(" trying");
  }
};

TEST(KernelRemarks, AreToldAtOnceWhereTheyAreUnderstood) {
  const auto asking = std::make_shared<AskingForTheWhole>();
  Reader reader(Cursor{}, Timestamp{}, asking);
  reader.feed("[ 8423.118204] nfs: server fs-01 not responding, still trying\n");
  EXPECT_EQ(reader.take().events.size(), 1U);
  reader.feed("[ 8424.118204] nfs: server fs-01 not responding, still\n");
  EXPECT_EQ(reader.take().events.size(), 0U);
  reader.feed("trying\n[ 8425.118204] eth0: link becomes ready\n");
  const Batch batch = reader.take();
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(std::get<Remark>(batch.events.front().fact).text,
            "nfs: server fs-01 not responding, still trying");
}

TEST(KernelRemarks, AreTheFramesOfItsStacksInEveryFramingAndWhatEndsThem) {
  const std::string frame = "nfs_wait_bit_killable+0x1c/0x90 [nfs]";
  const Kept told{"kernel", "stack", frame, ""};
  EXPECT_EQ(kept("[ 8423.118204] " + frame + "\n"), std::vector{told});
  EXPECT_EQ(kept(frame + "\n"), std::vector{told}) << "as dmesg -t prints it";
  EXPECT_EQ(kept("[ 8423.118204] ? " + frame + "\n"), std::vector<Kept>());
  const std::string end = "---[ end trace 0000000000000000 ]---";
  EXPECT_EQ(kept("[ 8423.118204] " + end + "\n"), std::vector{(Kept{"kernel", "stack", end, ""})});
}

TEST(KernelRemarks, ComeInEveryFramingOfTheKernels) {
  const std::string text(kText);
  const Kept plain{"kernel", "", text, ""};
  const Kept named{"kernel", "", text, "gpu-node-4"};
  EXPECT_EQ(kept("[ 8423.118204] " + text + "\n"), std::vector{plain});
  EXPECT_EQ(kept("[Thu Mar  5 02:47:11 2026] " + text + "\n"), std::vector{plain});
  EXPECT_EQ(kept("2026-03-05T02:47:11,123456+00:00 " + text + "\n"), std::vector{plain});
  EXPECT_EQ(kept("kern  :warn  : [ 8423.118204] " + text + "\r\n"), std::vector{plain});
  EXPECT_EQ(kept("<4>[ 8423.118204] [   T1946] " + text + "\n"), std::vector{plain});
  EXPECT_EQ(kept("4,20931,8423118204,-;" + text + "\n"), std::vector{plain});
  EXPECT_EQ(kept("Mar  5 02:47:11 gpu-node-4 kernel: [12345.678901] " + text + "\n"),
            std::vector{named});
  EXPECT_EQ(kept("<4>1 2026-03-05T02:47:11.123456+00:00 gpu-node-4 kernel - - - " + text + "\n"),
            std::vector{named});
  EXPECT_EQ(
      kept(R"({"MESSAGE":")" + text +
           R"(","_HOSTNAME":"gpu-node-4","SYSLOG_IDENTIFIER":"kernel","_TRANSPORT":"kernel",)" +
           R"("__REALTIME_TIMESTAMP":"1772678831000000"})" + "\n"),
      std::vector{named});
  EXPECT_EQ(kept("2026-03-05T02:47:11.123456789Z stderr F [ 8423.118204] " + text + "\n"),
            std::vector{plain});
}

TEST(KernelRemarks, ComeWithoutAFramingWhereTheTextIsTheKernels) {
  EXPECT_EQ(kept(std::string(kText) + "\n"),
            (std::vector{Kept{"kernel", "", std::string(kText), ""}}));
}

TEST(KernelRemarks, AreNotWhatAProgramQuotes) {
  const std::string text(kText);
  EXPECT_TRUE(kept("Mar  5 02:47:11 gpu-node-4 shipper[77]: " + text + "\n").empty());
  EXPECT_TRUE(kept("<30>[ 8423.118204] shipper: " + text + "\n").empty());
  EXPECT_TRUE(kept("12,20931,8423118204,-;" + text + "\n").empty());
  EXPECT_TRUE(kept("2026-03-05 02:47:11 INFO watcher saw " + text + "\n").empty());
  EXPECT_TRUE(kept("[rank3]: " + text + "\n").empty()) << "a rank's own line";
}

TEST(KernelRemarks, OfAHostsProgramsCarryTheProgramsName) {
  EXPECT_EQ(kept("Mar  5 02:47:11 gpu-node-4 systemd-networkd[771]: ib1: Lost carrier\n"),
            (std::vector{Kept{"system", "systemd-networkd", "ib1: Lost carrier", "gpu-node-4"}}));
  EXPECT_EQ(kept(R"({"MESSAGE":"ib1: Lost carrier","_HOSTNAME":"gpu-node-4",)"
                 R"("SYSLOG_IDENTIFIER":"systemd-networkd","_TRANSPORT":"journal"})"
                 "\n"),
            (std::vector{Kept{"system", "systemd-networkd", "ib1: Lost carrier", "gpu-node-4"}}));
}

TEST(KernelRemarks, CountAsTheKernelsLinesWhetherOrNotTheySayAnything) {
  Reader reader(Cursor{}, Timestamp{}, std::make_shared<Asking>());
  reader.feed("[ 8423.118204] " + std::string(kText) + "\n[ 8423.200000] usb 1-1: new device\n");
  reader.close();
  const Batch batch = reader.take();
  EXPECT_EQ(batch.recognized, 2U);
  EXPECT_EQ(batch.dialects, (std::map<std::string, std::uint64_t>{{"kernel", 2}}));
  EXPECT_EQ(batch.events.size(), 1U);
}

}  // namespace
}  // namespace faultline
