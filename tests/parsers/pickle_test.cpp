#include "parsers/torch/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fixture.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;
using Outcome = Pickle::Outcome;

Pickle refused(const std::string& bytes, const std::string& why) {
  Pickle pickle = read_pickle(bytes);
  EXPECT_EQ(pickle.outcome, Outcome::refused) << why;
  EXPECT_THAT(pickle.reason, HasSubstr(why));
  return pickle;
}

std::string number_of(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}

TEST(Pickle, PlainValuesOfEveryKindAreRead) {
  const std::string bytes =
      "\x80\x02](K\x07M\x2c\x01J\xff\xff\xff\xff\x8a\x08\x15\xe3\x54\x10\x2e\xc8\x29\x18"
      "G\x3f\xe0\x00\x00\x00\x00\x00\x00\x88\x89NX\x02\x00\x00\x00hiq\x00h\x00h\x00\x86}e."s;
  const Pickle pickle = read_pickle(bytes);
  ASSERT_EQ(pickle.outcome, Outcome::whole) << pickle.reason;
  EXPECT_EQ(pickle.consumed, bytes.size());
  const ValueTree& tree = pickle.tree;
  std::vector<ValueTree::Index> items;
  tree.for_each(tree.root(), [&](ValueTree::Index item) { items.push_back(item); });
  ASSERT_EQ(items.size(), 11U);
  EXPECT_EQ(tree.integer(items[0]), 7);
  EXPECT_EQ(tree.integer(items[1]), 300);
  EXPECT_EQ(tree.integer(items[2]), -1);
  EXPECT_EQ(tree.integer(items[3]), 1741142831123456789);
  EXPECT_EQ(tree.number(items[4]), 0.5);
  EXPECT_EQ(tree.boolean(items[5]), true);
  EXPECT_EQ(tree.boolean(items[6]), false);
  EXPECT_EQ(tree.kind(items[7]), ValueTree::Kind::none);
  EXPECT_EQ(tree.text(items[8]), "hi");
  EXPECT_EQ(tree.size(items[9]), 2U);
  EXPECT_EQ(tree.kind(items[10]), ValueTree::Kind::dictionary);
}

TEST(Pickle, NumbersOfFewBytesKeepTheirSign) {
  EXPECT_EQ(read_pickle("\x80\x02\x8a\x00."s).tree.integer(0), 0);
  EXPECT_EQ(read_pickle("\x80\x02\x8a\x01\xff."s).tree.integer(0), -1);
  EXPECT_EQ(read_pickle("\x80\x02\x8a\x05\x00\x00\x00\x00\x80."s).tree.integer(0), -549755813888);
  EXPECT_EQ(read_pickle("\x80\x02\x8a\x05\x00\x00\x00\x80\x00."s).tree.integer(0), 2147483648);
  refused("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."s,
          "a number of 9 bytes is too long");
}

TEST(Pickle, WhateverNamesCodeIsRefusedByName) {
  refused(
      "\x80\x02"
      "cposix\nsystem\nX\x02\x00\x00\x00id\x85R."s,
      "it names code to run (GLOBAL)");
  refused("\x80\x04\x8c\x05posix\x8c\x06system\x93."s, "(STACK_GLOBAL)");
  refused("\x80\x02K\x01)R."s, "(REDUCE)");
  refused("\x80\x02}}b."s, "(BUILD)");
  refused("\x80\x02(iposix\nsystem\n."s, "(INST)");
  refused("\x80\x02(o."s, "(OBJ)");
  refused("\x80\x02)\x81."s, "(NEWOBJ)");
  refused("\x80\x04)\x92."s, "(NEWOBJ_EX)");
  refused("\x80\x02\x82\x01."s, "(EXT1)");
  refused("\x80\x02\x83\x01\x00."s, "(EXT2)");
  refused("\x80\x02\x84\x01\x00\x00\x00."s, "(EXT4)");
  refused("\x80\x02P1\n."s, "(PERSID)");
  refused("\x80\x02K\x01Q."s, "(BINPERSID)");
  EXPECT_THAT(read_pickle("\x80\x02K\x01)R."s).reason, HasSubstr("byte 5"));
}

TEST(Pickle, WhatNoDumpNeedsIsRefusedByName) {
  const std::pair<char, std::string> opcodes[] = {{'\x97', "NEXT_BUFFER"},
                                                  {'\x98', "READONLY_BUFFER"},
                                                  {'\x96', "BYTEARRAY8"},
                                                  {'B', "BINBYTES"},
                                                  {'C', "SHORT_BINBYTES"},
                                                  {'\x8e', "BINBYTES8"},
                                                  {'\x8f', "EMPTY_SET"},
                                                  {'\x90', "ADDITEMS"},
                                                  {'\x91', "FROZENSET"},
                                                  {'\x8b', "LONG4"},
                                                  {'0', "POP"},
                                                  {'1', "POP_MARK"},
                                                  {'2', "DUP"},
                                                  {'d', "DICT"},
                                                  {'l', "LIST"},
                                                  {'g', "GET"},
                                                  {'p', "PUT"},
                                                  {'F', "FLOAT"},
                                                  {'I', "INT"},
                                                  {'L', "LONG"},
                                                  {'S', "STRING"},
                                                  {'T', "BINSTRING"},
                                                  {'U', "SHORT_BINSTRING"},
                                                  {'V', "UNICODE"}};
  for (const auto& [code, name] : opcodes)
    refused("\x80\x02N"s + code, "opcode " + name + ", which no dump needs");
  refused("\x80\x02\xff"s, "0xff is not an opcode");
  refused("\x80\x02N\x80\x02"s, "a second PROTO");
}

TEST(Pickle, OtherProtocolsAreRefused) {
  refused("(dp0\nVversion\np1\n"s, "protocols 0 and 1");
  refused("}q\0."s, "protocols 0 and 1");
  refused("\x80\x01}."s, "protocol 1 is not known");
  refused("\x80\x06}."s, "protocol 6 is not known");
}

TEST(Pickle, ImpossibleStructuresAreRefused) {
  refused("\x80\x02u"s, "SETITEMS without a MARK");
  refused(
      "\x80\x02"
      "e"s,
      "APPENDS without a MARK");
  refused("\x80\x02t"s, "TUPLE without a MARK");
  refused("\x80\x02(u"s, "SETITEMS without a container");
  refused("\x80\x02](N(u"s, "SETITEMS into something else");
  refused("\x80\x02](K\x01K\x02u"s, "SETITEMS into something else");
  refused(
      "\x80\x02}(K\x01"
      "e"s,
      "APPENDS into something else");
  refused("\x80\x02}(K\x01u"s, "a key without a value");
  refused("\x80\x02}(]K\x01u"s, "a key that is a container");
  refused("\x80\x02}s"s, "SETITEM without a container");
  refused(
      "\x80\x02"
      "a"s,
      "APPEND without a container");
  refused("\x80\x02N\x86"s, "a TUPLE of too few values");
  refused("\x80\x02N(N\x86"s, "a TUPLE of too few values");
  refused("\x80\x02h\x00"s, "the memo has no entry 0");
  refused("\x80\x02Nj\x05\x00\x00\x00"s, "the memo has no entry 5");
  refused("\x80\x02q\x00"s, "no value for the memo");
  refused("\x80\x02(q\x00"s, "no value for the memo");
  refused("\x80\x02."s, "0 values at STOP");
  refused("\x80\x02NN."s, "2 values at STOP");
  refused("\x80\x02(N."s, "STOP within a container");
  refused("\x80\x02X\x02\x00\x00\x00\xc3\x28."s, "not UTF-8");
  refused("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00N."s, "a FRAME that goes on");
}

std::string bomb_of(char opcode, std::size_t count) {
  std::string bomb = "\x80\x02";
  bomb.resize(bomb.size() + count, opcode);
  return bomb;
}

TEST(Pickle, BombsAreRefused) {
  refused(bomb_of('(', 100'000), "nested deeper");
  refused(bomb_of('N', 20'000'000), "more values");
  refused(bomb_of(']', 20'000'000), "more values");
  // Nested lists without a MARK.
  std::string nested = "\x80\x02";
  for (int i = 0; i < 1000; ++i) nested += "]";
  refused(nested + std::string(999, 'a') + ".", "nested too deeply");
  // Each list is in the next one twice.
  std::string doubled =
      "\x80\x02](K\x01"
      "e";
  for (int i = 0; i < 40; ++i)
    doubled += "q" + number_of(static_cast<unsigned>(i), 1) + "h" +
               number_of(static_cast<unsigned>(i), 1) + "\x86";
  refused(doubled + ".", "too often");
  std::string wide = "\x80\x02](N";
  wide += "eq"s + '\0';
  for (int level = 1; level < 6; ++level) {
    wide = wide + "](";
    for (int i = 0; i < 100; ++i) wide += "h" + number_of(static_cast<unsigned>(level - 1), 1);
    wide += "eq" + number_of(static_cast<unsigned>(level), 1);
  }
  refused(wide + std::string(5, '\x85') + ".", "values at STOP");
  // A list that is its own element.
  refused(
      "\x80\x02]q\x00h\x00"
      "a."s,
      "contains itself");
  refused("\x80\x02}q\x00X\x01\x00\x00\x00kh\x00s."s, "contains itself");
  // Lengths and memo places that do not exist.
  refused("\x80\x02X\xff\xff\xff\xff"s, "a text of 4294967295 bytes is too long");
  refused("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"s,
          "a text of 9223372036854775807 bytes is too long");
  refused("\x80\x02Nr\xff\xff\xff\xff"s, "more memo entries than bytes");
  std::string memo = "\x80\x02N";
  for (unsigned i = 0; i < 2'000'000; ++i) memo += "r" + number_of(i, 4);
  refused(memo + ".", "more memo entries than bytes");
}

TEST(Pickle, SharedPartsAreNoBomb) {
  // As the frames of all entries in a loop.
  std::string bytes =
      "\x80\x02](](K\x01"
      "eq\x00"s;
  for (int i = 0; i < 10'000; ++i) bytes += "h\0"s;
  const Pickle pickle = read_pickle(bytes + "e.");
  ASSERT_EQ(pickle.outcome, Outcome::whole) << pickle.reason;
  EXPECT_EQ(pickle.tree.size(pickle.tree.root()), 10'001U);
}

TEST(Pickle, CutAnywhereItIsBrokenOffAndNeverRefused) {
  for (const char* name : {"torch_v2.10.pickle", "v2.10_p2.pickle", "v2.10_p5.pickle"}) {
    const std::string whole = fixture(std::string("flight_recorder/") + name);
    ASSERT_EQ(read_pickle(whole).outcome, Outcome::whole);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string cut = whole.substr(0, size);  // so that reading beyond it is noticed
      EXPECT_EQ(read_pickle(cut).outcome, Outcome::broken_off) << name << " at " << size;
    }
  }
}

TEST(Pickle, OfOneThatIsBrokenOffWhatIsCompleteRemains) {
  const std::string bytes =
      "\x80\x02}(X\x01\x00\x00\x00"
      "a](K\x01}(K\x02K\x03uX\x01\x00\x00\x00z}(K"s;
  const Pickle pickle = read_pickle(bytes);
  ASSERT_EQ(pickle.outcome, Outcome::broken_off);
  const auto list = pickle.tree.member(pickle.tree.root(), "a");
  ASSERT_NE(list, ValueTree::kNothing);
  std::vector<bool> unfinished;
  pickle.tree.for_each(
      list, [&](ValueTree::Index item) { unfinished.push_back(pickle.tree.unfinished(item)); });
  EXPECT_THAT(unfinished, testing::ElementsAre(false, false, false, true));
}

TEST(Pickle, OnlyUtf8Passes) {
  EXPECT_TRUE(is_utf8("Grüße, 你好 \xf0\x9f\x9a\x80"));
  EXPECT_FALSE(is_utf8("\xc3"));
  EXPECT_FALSE(is_utf8("\xc0\x80"));
  EXPECT_FALSE(is_utf8("\xe0\x80\x80"));
  EXPECT_FALSE(is_utf8("\xf5\x80\x80\x80"));
  EXPECT_FALSE(is_utf8("\x80"));
}

}  // namespace
}  // namespace faultline
