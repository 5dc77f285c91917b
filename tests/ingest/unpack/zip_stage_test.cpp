#include "ingest/unpack/zip_stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unpacking.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string number(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

struct Member {
  std::string name;
  std::string data;
  int flags = 0;
  int method = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::string extra;
};

std::string header(const Member& member) {
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(member.data.data()),
                         static_cast<uInt>(member.data.size()));
  const bool described = (member.flags & 8) != 0;
  return "PK\3\4\x14\0"s + number(member.flags, 2) + number(member.method, 2) + "\0\0\0\0"s +
         number(described ? 0 : crc, 4) + number(member.packed, 4) + number(member.size, 4) +
         number(member.name.size(), 2) + number(member.extra.size(), 2) + member.name +
         member.extra;
}

const std::string kDirectory = "PK\5\6"s + std::string(18, '\0');

std::string described(std::uint64_t size, std::string_view data, int width, bool sign) {
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  return (sign ? "PK\7\10"s : ""s) + number(crc, 4) + number(size, width) + number(size, width);
}

TEST(ZipStage, ReadsWhatZipWrites) {
  Workshop workshop;
  const std::string text = many_lines(300'000);
  workshop.write("d/a.log", text);
  workshop.write("d/b.log", "b\n");
  workshop.write("d/empty", "");
  for (const std::string& command :
       {"zip -qr - d > out"s, "zip -qr out.zip d && mv out.zip out"s, "zip -q0r - d > out"s,
        "zip -qr -fz - d > out"s, "zip -qr - d | gzip > out"s}) {
    SCOPED_TRACE(command);
    const Outcome outcome = unpack(workshop.make(command));
    EXPECT_EQ(outcome.error, "");
    EXPECT_THAT(outcome.files,
                testing::UnorderedElementsAre(Pair("log/d/a.log", text), Pair("log/d/b.log", "b\n"),
                                              Pair("log/d/empty", "")));
  }
}

TEST(ZipStage, TellsWhereAMemberOfUnknownSizeEnds) {
  struct Case {
    const char* why;
    std::string data;
    int width;
    bool sign;
  };
  const Case cases[] = {{"short sizes", "one\ntwo\n", 4, true},
                        {"long sizes", "one\ntwo\n", 8, true},
                        {"nothing in it", "", 4, true},
                        {"half a descriptor in it", "a\nPK\7\10 and PK\7 P PK", 4, true},
                        {"a descriptor of another member in it",
                         "x" + described(3, "abc", 4, true) + "PK\3\4 y\n", 4, true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const std::string archive = header({.name = "a", .data = c.data, .flags = 8}) + c.data +
                                described(c.data.size(), c.data, c.width, c.sign) +
                                header({.name = "b", .data = "b\n", .packed = 2, .size = 2}) +
                                "b\n" + kDirectory;
    const Outcome whole = unpack(archive);
    EXPECT_EQ(whole.error, "");
    EXPECT_THAT(whole.files, ElementsAre(Pair("log/a", c.data), Pair("log/b", "b\n")));
    EXPECT_EQ(unpack(archive, [] { return 1; }), whole);
    for (std::size_t piece = 2; piece < 40; ++piece)
      EXPECT_EQ(unpack(archive, [&] { return piece; }), whole);
  }
}

TEST(ZipStage, SaysWhyAMemberIsNotRead) {
  const std::string archive =
      header({.name = "secret.log", .data = "1234", .flags = 1, .packed = 4, .size = 4}) + "1234" +
      header({.name = "old.log", .data = "12", .method = 14, .packed = 2, .size = 9}) + "12" +
      header({.name = "folder/"}) +
      header({.name = "/a.log", .data = "a\n", .packed = 2, .size = 2}) + "a\n" + kDirectory;
  const Outcome outcome = unpack(archive);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.files, ElementsAre(Pair("log/secret.log", ""), Pair("log/old.log", ""),
                                         Pair("log/a.log", "a\n")));
  EXPECT_THAT(outcome.hints, ElementsAre(HasSubstr("encrypted"), HasSubstr("method 14")));
}

TEST(ZipStage, ReadsOnBehindADamagedMember) {
  const std::string rest =
      header({.name = "b", .data = "b\n", .packed = 2, .size = 2}) + "b\n" + kDirectory;
  struct Case {
    const char* why;
    std::string member;
    std::string error;
  };
  const Case cases[] = {
      {"another checksum", header({.name = "a", .data = "x", .packed = 2, .size = 2}) + "a\n",
       "in a: its checksum is wrong"},
      {"no deflated data", header({.name = "a", .method = 8, .packed = 4, .size = 9}) + "\7\7\7\7",
       "in a: its data are damaged"},
      {"deflated data that break off",
       header({.name = "a", .method = 8, .packed = 2, .size = 9}) + "\xca\x48",
       "in a: its data break off"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Outcome outcome = unpack(c.member + rest);
    EXPECT_THAT(outcome.error, HasSubstr(c.error));
    ASSERT_EQ(outcome.files.size(), 2U);
    EXPECT_EQ(outcome.files[1], std::pair("log/b"s, "b\n"s));
  }
  EXPECT_THAT(
      unpack(header({.name = "a", .data = "a\n", .packed = 2, .size = 2}) + "a\nrubbish").error,
      HasSubstr("is damaged at byte 33"));
}

TEST(ZipStage, ReadsSizesThatStandElsewhere) {
  const std::string extra = "\1\0\x10\0"s + number(2, 8) + number(2, 8);
  const std::string archive = header({.name = "a",
                                      .data = "a\n",
                                      .packed = 0xffffffff,
                                      .size = 0xffffffff,
                                      .extra = "xx\0\0"s + extra}) +
                              "a\n" + kDirectory;
  EXPECT_THAT(unpack(archive).files, ElementsAre(Pair("log/a", "a\n")));
}

}  // namespace
}  // namespace faultline
