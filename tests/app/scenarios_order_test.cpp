// The order in which a job's files or posts come changes no byte of the answer: for every scenario
// that `simulate` writes.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "sampled.h"
#include "sent_scenario.h"

namespace faultline {
namespace {

using Posts = std::vector<const Commit*>;

class AnyOrder : public SentScenario {
 protected:
  // Cut anywhere; those of a source are in their order, and the sources take turns by chance.
  std::vector<Commit> posts() {
    return commits(std::make_shared<AskedByCatalog>(catalog()), false);
  }

  // When something came is no matter of order, so all come at the same time.
  static std::string answer_to(const Posts& posts) {
    JobState job("j");
    for (const Commit* post : posts) job.apply(post->source, post->batch, kNow);
    return answer_of(job);
  }

  static Posts pointers_to(const std::vector<Commit>& posts) {
    Posts pointers;
    for (const Commit& post : posts) pointers.push_back(&post);
    return pointers;
  }

  // One file after the other, in the order of `place`.
  static Posts by_file(const std::vector<Commit>& posts, const std::map<std::string, int>& place) {
    Posts sorted = pointers_to(posts);
    std::ranges::stable_sort(sorted, {},
                             [&](const Commit* post) { return place.at(post->source.name); });
    return sorted;
  }

  // The files in the order of their names.
  static std::map<std::string, int> places_of(const std::vector<Commit>& posts) {
    std::map<std::string, int> places;
    for (const Commit& post : posts) places.emplace(post.source.name, 0);
    int next = 0;
    for (auto& [name, place] : places) place = next++;
    return places;
  }

  void shuffle(std::map<std::string, int>& places) {
    std::vector<int> order;
    for (const auto& [name, place] : places) order.push_back(place);
    std::ranges::shuffle(order, random);
    std::size_t next = 0;
    for (auto& [name, place] : places) place = order[next++];
  }
};

// Empty: none. Answers are long.
std::string difference(const std::string& answer, const std::string& expected) {
  constexpr std::size_t kBefore = 200;
  constexpr std::size_t kShown = 500;
  const auto at =
      static_cast<std::size_t>(std::ranges::mismatch(answer, expected).in1 - answer.begin());
  if (answer == expected) return {};
  const std::size_t from = at < kBefore ? 0 : at - kBefore;
  return "expected …" + expected.substr(from, kShown) + "…\n    came …" +
         answer.substr(from, kShown) + "…";
}

// FAULTLINE_SHUFFLES=100 tries all scenarios, each in more orders.
const char* asked_shuffles() { return std::getenv("FAULTLINE_SHUFFLES"); }

TEST_P(AnyOrder, OfFilesOrPostsChangesNoByteOfTheAnswer) {
  const int shuffles = asked_shuffles() != nullptr ? std::atoi(asked_shuffles()) : 1;
  random.seed(1);
  simulate(1);
  const std::vector<Commit> sent = posts();
  std::map<std::string, int> places = places_of(sent);
  const std::string expected = answer_to(by_file(sent, places));
  for (int i = 0; i < shuffles; ++i) {
    shuffle(places);
    ASSERT_EQ(difference(answer_to(by_file(sent, places)), expected), "")
        << "files in another order, " << i;
    const std::vector<Commit> others = posts();
    ASSERT_EQ(difference(answer_to(pointers_to(others)), expected), "") << "other posts, " << i;
  }
}

std::vector<std::string> some_scenarios() {
  const std::vector<std::string> all = scenario_names();
  const std::size_t step = asked_shuffles() != nullptr ? 1 : every(6);
  std::vector<std::string> some;
  for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Some, AnyOrder, testing::ValuesIn(some_scenarios()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace faultline
