#include "ingest/unpack/tar_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unpacking.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(TarStage, ReadsLongNames) {
  const std::string folder = std::string(90, 'a') + "/" + std::string(200, 'b');
  Workshop workshop;
  workshop.write(folder + "/x.log", "x\n");
  workshop.write("y.log", "y\n");
  for (const char* format : {"gnu", "posix"}) {
    SCOPED_TRACE(format);
    const std::string archive = workshop.make("tar --format="s + format + " -cf out aaa* y.log");
    EXPECT_THAT(unpack(archive).files,
                ElementsAre(Pair("log/" + folder + "/x.log", "x\n"), Pair("log/y.log", "y\n")));
  }
  workshop.write(std::string(90, 'c') + "/" + std::string(90, 'd'), "z\n");
  EXPECT_THAT(unpack(workshop.make("tar --format=ustar -cf out ccc*")).files,
              ElementsAre(Pair("log/" + std::string(90, 'c') + "/" + std::string(90, 'd'), "z\n")));
}

TEST(TarStage, PassesOverWhatIsNoRegularFile) {
  Workshop workshop;
  workshop.write("a.log", "a\n");
  workshop.write("z.log", "z\n");
  workshop.make(
      "ln -s a.log b.link; ln a.log c.link; mkfifo d; mkdir e; ln -s $(printf 'n%.0s' $(seq 200)) "
      "f;"
      "for i in $(seq 1 2 60); do printf x | dd of=s.log bs=8k seek=$i conv=notrunc; done; touch "
      "out");
  for (const char* format :
       {"--format=gnu", "--format=posix", "--format=posix --sparse-version=0.0"}) {
    SCOPED_TRACE(format);
    const std::string archive =
        workshop.make("tar -S "s + format + " -cf out a.log b.link c.link d e f s.log z.log");
    EXPECT_EQ(unpack(archive), (Outcome{{{"log/a.log", "a\n"}, {"log/z.log", "z\n"}}, "", {}}));
  }
}

TEST(TarStage, ReadsArchivesWrittenOneAfterTheOther) {
  Workshop workshop;
  workshop.write("a.log", "a\n");
  workshop.write("b.log", "b\n");
  const std::string archives = workshop.make("(tar -cf - a.log; tar -cf - b.log) > out");
  EXPECT_EQ(unpack(archives), (Outcome{{{"log/a.log", "a\n"}, {"log/b.log", "b\n"}}, "", {}}));
}

TEST(TarStage, SaysWhereAnArchiveIsDamaged) {
  Workshop workshop;
  workshop.write("a.log", "a\n");
  workshop.write("b.log", "b\n");
  std::string archive = workshop.make("tar -cf out a.log b.log");
  archive[1024 + 3] ^= 1;  // breaks the checksum of the second member's header
  EXPECT_EQ(
      unpack(archive),
      (Outcome{{{"log/a.log", "a\n"}},
               "the tar archive is damaged at byte 1024: no member begins there; what came before "
               "was read",
               {}}));
}

TEST(TarStage, TakesABadChecksumAtTheStartForAFileThatIsNoArchive) {
  Workshop workshop;
  workshop.write("a.log", "a\n");
  std::string archive = workshop.make("tar -cf out a.log");
  archive[3] ^= 1;
  EXPECT_EQ(unpack(archive), (Outcome{{{"log", archive}}, "", {}}));
}

TEST(TarStage, GoesOnBehindADamagedMember) {
  Workshop workshop;
  workshop.write("a.gz", gzip(many_lines(1000)).substr(0, 60));
  workshop.write("b.log", "b\n");
  const Outcome outcome = unpack(workshop.make("tar -cf out a.gz b.log"));
  EXPECT_EQ(outcome.error,
            "in a.gz: the gzip data breaks off after 60 bytes; what came before was read");
  ASSERT_EQ(outcome.files.size(), 2U);
  EXPECT_TRUE(many_lines(1000).starts_with(outcome.files[0].second));
  EXPECT_EQ(outcome.files[1], std::pair("log/b.log"s, "b\n"s));
}

TEST(TarStage, KeepsTheNamesOfHostileArchivesHarmless) {
  Workshop workshop;
  workshop.write("a.log", "a\n");
  const std::string archive = workshop.make(
      "tar -cf out --transform='s,a.log,x'$(printf '\\033')'[2J,' a.log && tar -Prf out "
      "--transform='s,a.log,/../b,' a.log");
  EXPECT_THAT(unpack(archive).files,
              ElementsAre(Pair("log/x?[2J", "a\n"), Pair("log/../b", "a\n")));
}

}  // namespace
}  // namespace faultline
