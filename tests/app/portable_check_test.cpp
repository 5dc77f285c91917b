// What ./dev package checks of the binary that it packs: packaging/portable/check.sh.
#include <gmock/gmock.h>

#include "program.h"

namespace faultline {
namespace {

using testing::HasSubstr;
using PortableCheck = ProgramTest;

TEST_F(PortableCheck, NamesTheLibrariesThatAMachineMayNotHave) {
  const Outcome outcome = run(TESTS_DIR "/../packaging/portable/check.sh $F");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("  needs the library libre2.so"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("libc.so")));
}

TEST_F(PortableCheck, NamesTheSymbolsThatAnOlderGlibcLacks) {
  const Outcome outcome =
      run(TESTS_DIR "/../packaging/portable/check.sh $(g++ -print-file-name=libgcc_s.so.1)");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("  needs the symbol _dl_find_object GLIBC_2.35\n"));
}

TEST_F(PortableCheck, LetsPassWhatNeedsAnOldGlibcAlone) {
  workshop.write("old.c", "int main(void) { return 0; }\n");
  EXPECT_EQ(run("gcc old.c -o old && " TESTS_DIR "/../packaging/portable/check.sh old").status, 0);
}

}  // namespace
}  // namespace faultline
