#include "ingest/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unpacking.h"
#include "workshop.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string skippable_frame(std::string_view content) {
  const auto size = static_cast<char>(content.size());
  return "\x53\x2a\x4d\x18"s + size + "\0\0\0"s + std::string(content);
}

TEST(Unpacker, HandsPlainTextOnAsItIs) {
  EXPECT_THAT(unpack(kLine).files, ElementsAre(Pair("log", kLine)));
}

TEST(Unpacker, TakesNothingForAnEmptyFile) {
  EXPECT_THAT(unpack("").files, ElementsAre(Pair("log", "")));
  EXPECT_THAT(unpack("", Encoding::gzip).files, ElementsAre(Pair("log", "")));
}

TEST(Unpacker, DoesNotHoldUpALiveStreamOfShortLines) {
  Collector collector;
  Unpacker unpacker("log", Encoding::detect, collector);
  const std::string first = "[    1.0] usb 1-1: new device found\n";
  ASSERT_TRUE(unpacker.feed(first));
  EXPECT_THAT(collector.files, ElementsAre(Pair("log", first)));
  ASSERT_TRUE(unpacker.feed("[  "));
  EXPECT_THAT(collector.files, ElementsAre(Pair("log", first + "[  ")));
  ASSERT_TRUE(unpacker.finish());
}

TEST(Unpacker, DoesNotHoldUpALiveCompressedStream) {
  Collector collector;
  Unpacker unpacker("log", Encoding::detect, collector);
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(kLine.data()));
  stream.avail_in = static_cast<uInt>(kLine.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);

  ASSERT_TRUE(unpacker.feed(packed));
  EXPECT_THAT(collector.files, ElementsAre(Pair("log", kLine)));
  EXPECT_FALSE(unpacker.finish());
}

TEST(Unpacker, PassesPlainTextOnWithoutCopyingIt) {
  struct Addresses : FileVisitor {
    void open(std::string_view) override {}
    void bytes(std::string_view piece) override { pieces.push_back(piece.data()); }
    void close() override {}
    void unreadable(std::uint64_t, std::string_view) override {}
    std::vector<const char*> pieces;
  } addresses;
  Unpacker unpacker("log", Encoding::detect, addresses);
  const std::string text = many_lines(10'000);
  ASSERT_TRUE(unpacker.feed(text));
  ASSERT_TRUE(unpacker.feed(text));
  EXPECT_THAT(addresses.pieces, ElementsAre(text.data(), text.data()));
}

TEST(Unpacker, TellsFormatsFromTheirBytes) {
  Workshop workshop;
  const std::string text = many_lines(300'000);
  workshop.write("a.log", text);
  struct Case {
    const char* why;
    const char* command;
    const char* name;
  };
  const Case cases[] = {
      {"gzip", "gzip -c a.log > out", "log"},
      {"gzip, several members", "(head -c 100000 a.log | gzip; tail -c +100001 a.log | gzip) > out",
       "log"},
      {"gzip, padded with zeros", "(gzip -c a.log; head -c 3000 /dev/zero) > out", "log"},
      {"zstd", "zstd -qc a.log > out", "log"},
      {"zstd, several frames",
       "(head -c 100000 a.log | zstd -q; tail -c +100001 a.log | zstd -q) > out", "log"},
      {"zstd at its slowest ordinary level", "zstd -q -19 -c a.log > out", "log"},
      {"xz", "xz -0c a.log > out", "log"},
      {"xz, several streams and zeros between them",
       "(head -c 100000 a.log | xz -0; head -c 8 /dev/zero; tail -c +100001 a.log | xz -0) > out",
       "log"},
      {"xz at its slowest", "xz -9c a.log > out", "log"},
      {"bzip2", "bzip2 -c a.log > out", "log"},
      {"bzip2, several streams",
       "(head -c 100000 a.log | bzip2; tail -c +100001 a.log | bzip2 -1) > out", "log"},
      {"bzip2, nothing and then something", "(bzip2 < /dev/null; bzip2 -c a.log) > out", "log"},
      {"tar", "tar -cf out a.log", "log/a.log"},
      {"tar, POSIX", "tar --format=posix -cf out a.log", "log/a.log"},
      {"tar, ustar", "tar --format=ustar -cf out a.log", "log/a.log"},
      {"tar of the current folder",
       "tar -cf ../out.$$ --exclude out --exclude messages . && mv ../out.$$ out", "log/a.log"},
      {"tar, gzip around it", "tar -cf - a.log | gzip > out", "log/a.log"},
      {"tar, zstd around it", "tar -cf - a.log | zstd -q > out", "log/a.log"},
      {"tar, xz around it", "tar -cf - a.log | xz -0 > out", "log/a.log"},
      {"tar, bzip2 around it", "tar -cf - a.log | bzip2 > out", "log/a.log"},
      {"zip", "zip -q out.zip a.log && mv out.zip out", "log/a.log"},
      {"zip, a compressed member", "gzip -k a.log && zip -q - a.log.gz > out; rm a.log.gz",
       "log/a.log.gz"},
      {"UTF-16 with its mark", "(printf '\\377\\376'; iconv -t UTF-16LE a.log) > out", "log"},
      {"UTF-16 without", "iconv -t UTF-16LE a.log > out", "log"},
      {"UTF-16, big end first", "iconv -t UTF-16BE a.log > out", "log"},
      {"UTF-16 of iconv, gzip around it", "iconv -t UTF-16 a.log | gzip > out", "log"},
      {"UTF-32", "iconv -t UTF-32 a.log > out", "log"},
      {"UTF-32 without a mark", "iconv -t UTF-32BE a.log > out", "log"},
      {"a compressed member", "gzip -k a.log && tar -cf out a.log.gz", "log/a.log.gz"},
      {"a compressed member, gzip around all",
       "zstd -q a.log && tar -czf out a.log.zst; rm a.log.zst", "log/a.log.zst"},
      {"gzip twice", "gzip -c a.log | gzip > out", "log"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const std::string packed = workshop.make(c.command);
    const Outcome outcome = unpack(packed);
    EXPECT_EQ(outcome.error, "");
    ASSERT_THAT(outcome.files, ElementsAre(Pair(c.name, testing::SizeIs(text.size()))));
    EXPECT_TRUE(outcome.files[0].second == text);
  }
}

TEST(Unpacker, GivesTheSameFilesHoweverTheBytesAreCut) {
  Workshop workshop;
  workshop.write("node-1/dmesg.txt", kLine);
  workshop.write("node-1/empty", "");
  workshop.write("node-2/nccl.log", many_lines(3000));
  workshop.write("node-2/" + std::string(150, 'n') + "/x.log", "x\n");
  workshop.make("gzip node-2/nccl.log; touch out");
  std::mt19937 random(7);
  for (const char* command :
       {"tar --format=gnu -cf out node-1 node-2", "tar --format=posix -cf out node-1 node-2",
        "tar -czf out node-1 node-2", "tar -cf - node-1 node-2 | zstd -q > out",
        "cat node-1/dmesg.txt > out",
        "(echo one | gzip; echo two | gzip; head -c 20 /dev/zero) > out",
        "gzip -c node-1/dmesg.txt | head -c 40 > out", "head -c 300 /dev/zero | tr '\\0' a > out",
        "tar -cf - node-1 node-2 | head -c 5000 > out", "zip -qr - node-1 node-2 > out",
        "zip -qr - node-1 | head -c 200 > out",
        // A member of unknown size: no descriptor ends it, but some of its bytes look like one.
        "echo UEsDBBQACAB2pur9gbGg0wAAAAAAAAAAAAABAAQAYW9uZQpQQVIwAAAAAAAAAAAAAAAJCAAAAFBLBghQ"
        "SwMEFAAIAAAAAC4AP//7PgAgAAAAAAAAIwAAAAA= | base64 -d > out",
        "tar -cf - node-1 | xz -0 > out", "tar -cf - node-1 | xz -0 | head -c 100 > out",
        "tar -cf - node-1 | bzip2 > out", "(echo one | bzip2; echo two | bzip2; echo three) > out",
        "iconv -t UTF-16 node-1/dmesg.txt > out", "printf '%%PDF-1.4 and so on' > out",
        "printf '[\\n {\"message\": \"a, [b]\\\\n\"},\\n {\"log\": \"c\"\\n}\\n]\\n' > out",
        "printf '\\t\\n [{\"message\": \"a\"}, {\"message\": \"b\"}]\\n' > out",
        "printf '{\\n\"message\":\\n \"a\"}\\n{\"message\":\\n\"b\"}\\n' > out"}) {
    SCOPED_TRACE(command);
    const std::string packed = workshop.make(command);
    const Outcome whole = unpack(packed);
    EXPECT_EQ(unpack(packed, [] { return 1; }), whole);
    for (std::size_t split = 0; split <= std::min<std::size_t>(packed.size(), 1100); ++split) {
      bool first = true;
      const auto size = [&] {
        return std::exchange(first, false) && split > 0 ? split : packed.size();
      };
      ASSERT_EQ(unpack(packed, size), whole) << "split at " << split;
    }
    for (int i = 0; i < 50; ++i) {
      std::geometric_distribution<std::size_t> sizes(i % 2 == 0 ? 0.1 : 0.002);
      ASSERT_EQ(unpack(packed, [&] { return 1 + sizes(random); }), whole);
    }
  }
}

TEST(Unpacker, GivesWhatCameBeforeABreak) {
  // The text is random, so that its compressed form is long enough to be cut anywhere.
  std::string text;
  std::mt19937 random(3);
  while (text.size() < 500'000) text += std::to_string(random()) + "\n";
  Workshop workshop;
  workshop.write("a.log", text);
  struct Case {
    const char* why;
    const char* command;
    const char* error;
  };
  const Case cases[] = {
      {"gzip", "gzip -c a.log | head -c 150000 > out",
       "the gzip data breaks off after 150000 bytes; what came before was read"},
      {"zstd", "zstd -qc a.log | head -c 150000 > out",
       "the zstd data breaks off after 150000 bytes; what came before was read"},
      {"xz", "xz -0c a.log | head -c 150000 > out",
       "the xz data breaks off after 150000 bytes; what came before was read"},
      {"zip", "zip -q - a.log | head -c 150000 > out",
       "the zip archive breaks off after 150000 bytes, in a.log; what came before was read"},
      {"bzip2", "bzip2 -1c a.log | head -c 150000 > out",
       "the bzip2 data breaks off after 150000 bytes; what came before was read"},
      {"xz, a block damaged",
       "xz -0c a.log > out; printf '%064d' 1 | dd of=out bs=1 seek=150000 conv=notrunc",
       "the xz data is damaged near byte "},
      {"bzip2, a block damaged",
       "bzip2 -1c a.log > out; printf '%064d' 1 | dd of=out bs=1 seek=150000 conv=notrunc",
       "the bzip2 data is damaged near byte "},
      {"tar", "tar -cf - a.log | head -c 150000 > out",
       "the tar archive breaks off after 150000 bytes, in a.log; what came before was read"},
      {"tar in gzip", "tar -cf - a.log | gzip | head -c 150000 > out",
       "the gzip data breaks off after 150000 bytes; what came before was read"},
      {"gzip, a block damaged",
       "gzip -c a.log > out; printf '%064d' 1 | dd of=out bs=1 seek=150000 conv=notrunc",
       "the gzip data is damaged at byte "},
      {"zstd, a block damaged",
       "zstd -qc a.log > out; printf '%064d' 1 | dd of=out bs=1 seek=150000 conv=notrunc",
       "the zstd data is damaged near byte "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Outcome outcome = unpack(workshop.make(c.command));
    EXPECT_THAT(outcome.error, HasSubstr(c.error));
    EXPECT_EQ(outcome.kind, Error::Kind::invalid_input);
    ASSERT_EQ(outcome.files.size(), 1U);
    EXPECT_GT(outcome.files[0].second.size(), 100'000U);
    // A flipped bit may be noticed only by the checksum.
    const bool torn = std::string(c.error).find("breaks off") != std::string::npos;
    EXPECT_TRUE(!torn || text.starts_with(outcome.files[0].second));
  }
}

TEST(Unpacker, GivesTheFewBytesOfAGzipThatBreaksOffAtOnce) {
  const std::string packed = gzip("no newline, and few bytes");
  const Outcome outcome = unpack(packed.substr(0, packed.size() - 8));
  EXPECT_THAT(outcome.files, ElementsAre(Pair("log", "no newline, and few bytes")));
  EXPECT_THAT(outcome.error, HasSubstr("breaks off"));
}

TEST(Unpacker, RefusesWhatFollowsTheEndOfCompressedData) {
  EXPECT_EQ(
      unpack(gzip("one\n") + "plain text").error,
      "the gzip data is damaged at byte 26 (incorrect header check); what came before was read");
  EXPECT_EQ(
      unpack(gzip("one\n") + "\0\0x"s).error,
      "the gzip data ends before byte 26, and what follows is not gzip; what came before was read");
  const Outcome outcome = unpack(zstd("one\n") + "plain text");
  EXPECT_THAT(outcome.error, HasSubstr("the zstd data is damaged near byte "));
  EXPECT_THAT(outcome.files, ElementsAre(Pair("log", "one\n")));
}

TEST(Unpacker, PassesOverSkippableFrames) {
  const std::string frame = skippable_frame("metadata");
  EXPECT_EQ(unpack(frame + zstd("one\n") + frame + zstd("two\n") + frame),
            (Outcome{{{"log", "one\ntwo\n"}}, "", {}}));
  EXPECT_THAT(unpack(frame + zstd("one\n") + frame.substr(0, 10)).error, HasSubstr("breaks off"));
}

TEST(Unpacker, HoldsTheSenderToTheEncodingItNamed) {
  EXPECT_THAT(unpack(gzip(kLine), Encoding::gzip).files, ElementsAre(Pair("log", kLine)));
  EXPECT_THAT(unpack(zstd(kLine), Encoding::zstd).files, ElementsAre(Pair("log", kLine)));
  EXPECT_THAT(unpack(gzip(gzip(kLine)), Encoding::gzip).files, ElementsAre(Pair("log", kLine)));
  EXPECT_EQ(unpack(kLine, Encoding::gzip),
            (Outcome{{}, "Content-Encoding says gzip, but the body is not", {}}));
  EXPECT_EQ(unpack(gzip(kLine), Encoding::zstd),
            (Outcome{{}, "Content-Encoding says zstd, but the body is not", {}}));
  EXPECT_EQ(unpack("\x1f", Encoding::gzip).error,
            "Content-Encoding says gzip, but the body is not");
  EXPECT_EQ(unpack(gzip(kLine), Encoding::xz).error,
            "Content-Encoding says xz, but the body is not");
  EXPECT_EQ(unpack(kLine, Encoding::bzip2).error,
            "Content-Encoding says bzip2, but the body is not");
}

TEST(Unpacker, TakesGarbageForAFileLikeAnyOther) {
  std::mt19937 random(11);
  for (int i = 0; i < 200; ++i) {
    std::string garbage(static_cast<std::size_t>(i) * 7, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    if (!garbage.empty()) garbage[0] = 'G';
    EXPECT_EQ(unpack(garbage), (Outcome{{{"log", garbage}}, "", {}}));
  }
  EXPECT_EQ(unpack(std::string(5000, '\0')).files, (Files{{"log", std::string(5000, '\0')}}));
}

TEST(Unpacker, SaysWhatCannotBeRead) {
  struct Case {
    std::string body;
    const char* hint;
  };
  const Case cases[] = {
      {"7z\xbc\xaf\x27\x1c\0\4"s, "This is 7z, which Faultline cannot read; unpack it"},
      {"%PDF-1.7\n", "This is a PDF; "},
      {"\177ELF\2\1\1" + std::string(9, '\0') + "\4\0"s, "This is a core dump; "},
      {"\177ELF\2\1\1" + std::string(9, '\0') + "\3\0"s, "This is a program or a library (ELF), "},
      {"LPKSHHRH\0\0"s, "journalctl --file FILE -o export"},
      {gzip("SQLite format 3\0"s), "This is an SQLite database"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.hint);
    const Outcome outcome = unpack(c.body);
    EXPECT_EQ(outcome.error, "");
    EXPECT_THAT(outcome.files, ElementsAre(Pair("log", "")));
    EXPECT_THAT(outcome.hints, ElementsAre(HasSubstr(c.hint)));
    EXPECT_EQ(unpack(c.body, [] { return 1; }), outcome);
  }
  EXPECT_THAT(unpack("%PDF? no.\n").hints, ElementsAre());
}

TEST(Unpacker, MakesALineOfEachRecordOfAListWithoutAByteMoreOrLess) {
  struct Case {
    const char* why;
    std::string body;
    std::string lines;
  };
  const Case cases[] = {
      {"a list", R"([{"message":"a"},{"message":"b, ]"}])",
       " {\"message\":\"a\"}\n{\"message\":\"b, ]\"} "},
      {"a list over lines", "[\n  {\n    \"log\": \"a\"\n  },\n  {\"log\": [1,\n2]}\n]\n",
       "    {     \"log\": \"a\"   }\n   {\"log\": [1, 2]}  \n"},
      {"two lists", "[{\"log\":\"a\"}]\n[{\"log\":\"b\"}]\n",
       " {\"log\":\"a\"} \n {\"log\":\"b\"} \n"},
      {"records over lines", "{\n \"log\": \"a\"\n}\n{\n \"log\": \"b\"\n}\n",
       "{  \"log\": \"a\" }\n{  \"log\": \"b\" }\n"},
      {"no record of a line", "[\n{\"ifname\":\n\"eth0\"}]\n", "[\n{\"ifname\":\n\"eth0\"}]\n"},
      {"a text that goes over lines is none", "[{\"log\":\"a\"},\"b\n\"]\n",
       " {\"log\":\"a\"}\n\"b\n\"]\n"},
      {"one that breaks off", "[{\"log\":\"a\"},\n{\"log\":", " {\"log\":\"a\"}\n {\"log\":"},
      {"brackets that nothing opened", "[{\"log\":\"a\"}]}]\n]", " {\"log\":\"a\"} }]\n]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    const Outcome whole = unpack(c.body);
    EXPECT_THAT(whole.files, ElementsAre(Pair("log", c.lines)));
    EXPECT_EQ(c.body.size(), c.lines.size());
    EXPECT_EQ(unpack(c.body, [] { return 1; }), whole);
  }
  // The reader holds a bounded number of bytes until it knows the form.
  const std::string endless = "[{\"log\":\"" + std::string(1'000'000, 'x');
  EXPECT_THAT(unpack(endless).files, ElementsAre(Pair("log", endless)));
}

}  // namespace
}  // namespace faultline
