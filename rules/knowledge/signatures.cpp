#include "rules/knowledge/signatures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/literal_search.h"
#include "rules/knowledge/advice.h"
#include "rules/knowledge/catalog_words.h"
#include "rules/knowledge/placeholders.h"
#include "rules/knowledge/prose.h"
#include "rules/knowledge/when_asked.h"

namespace faultline {
namespace {

// A line may be very long; what a signature looks for stands near its beginning.
constexpr std::size_t kMaxSearched = std::size_t{16} << 10;
constexpr std::size_t kMaxFieldBytes = 256;

constexpr std::ptrdiff_t kMostBeforeAMessage = 64;
constexpr std::string_view kKernel = "kernel";

constexpr std::string_view kNcclLevels[] = {"warn", "info", "abort", "trace", "call", "version"};

// What a title or an action may name besides the pattern's groups.
constexpr std::string_view kPlaceholders[] = {"host", "rank", "gpu", "gpu_smi", "part"};

// Bytes, not characters: a log may hold anything.
RE2::Options options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

// Why the signature cannot be used at all; empty: it can.
std::string flaw_of(const MessageSignature& signature, const RE2& regex) {
  if (!regex.ok()) return fmt::format("pattern does not compile: {}; correct it", regex.error());
  if (signature.literals.empty())
    return "literals are missing; name a text that is in every line that the pattern matches";
  for (const std::string& literal : signature.literals)
    if (literal.size() < LiteralSearch::kMinBytes)
      return fmt::format("literal \"{}\" is too short; write at least {} characters", literal,
                         LiteralSearch::kMinBytes);
  return {};
}

bool takes(const MessageSignature& signature, const Remark& remark) {
  if (!signature.dialect.empty() && signature.dialect != remark.dialect) return false;
  if (remark.place.find(signature.place) == std::string::npos) return false;
  return signature.levels.empty() ||
         std::ranges::find(signature.levels, remark.level) != signature.levels.end();
}

// True: lines of its levels are kept in any case.
bool only_of_warnings(const MessageSignature& signature) {
  return !signature.levels.empty() &&
         std::ranges::all_of(signature.levels, [](const std::string& level) {
           return level == "warn" || level == "abort";
         });
}

// True: it may match a warning of NCCL by the message alone.
bool is_warning_of_nccl(const MessageSignature& signature) {
  return signature.dialect == "nccl" && signature.place.empty() &&
         (signature.levels.empty() ||
          std::ranges::find(signature.levels, "warn") != signature.levels.end());
}

// All placeholders of the title, and those of the actions that advice does not know.
std::set<std::string_view> placeholders_of(const MessageSignature& signature) {
  std::set<std::string_view> names;
  take_apart(
      signature.title, [](std::string_view) {}, [&](std::string_view name) { names.insert(name); });
  for (const Action& action : signature.actions)
    for (const std::string_view text :
         {std::string_view(action.what), std::string_view(action.where),
          std::string_view(action.command)})
      for (const std::string_view name : unknown_placeholders(text)) names.insert(name);
  return names;
}

bool holds_a_literal(const MessageSignature& signature, std::string_view text) {
  return std::ranges::any_of(signature.literals, [&](const std::string& literal) {
    return text.find(literal) != std::string_view::npos;
  });
}

bool finds(const MessageSignature& signature, const RE2& regex, std::string_view text) {
  return holds_a_literal(signature, text) && RE2::PartialMatch(piece(text), regex);
}

}  // namespace

std::vector<std::string> problems_of(const MessageSignature& signature) {
  std::vector<std::string> problems;
  const auto add = [&](std::string_view why) {
    problems.push_back(fmt::format("{}: {}: {}", signature.file, signature.id, why));
  };
  const RE2 regex(signature.pattern, options());
  if (const std::string flaw = flaw_of(signature, regex); !flaw.empty()) {
    add(flaw);
    return problems;
  }
  if (RE2::PartialMatch("", regex)) add("pattern matches an empty line; make it more specific");
  if (signature.confidence <= 0 || signature.confidence > 1)
    add(fmt::format("confidence {} is not valid; use a number above 0 and at most 1",
                    signature.confidence));
  if (signature.dialect == "nccl")
    for (const std::string& level : signature.levels)
      if (std::ranges::find(kNcclLevels, level) == std::end(kNcclLevels))
        add(fmt::format("level \"{}\" is not a level of NCCL; use {}", level, any_of(kNcclLevels)));
  if (signature.storm.count == 1)
    add("a storm of 1 matches every line; remove it, or use 2 or more");
  const auto& groups = regex.NamedCapturingGroups();
  if ((signature.blames == Blames::gpu || signature.blames == Blames::pci) &&
      !groups.contains("pci") && !groups.contains("bridge"))
    add("blames a device by its PCI address; name a group of the pattern for it, (?P<pci>...)");
  for (const std::string_view name : placeholders_of(signature))
    if (!groups.contains(std::string(name)) &&
        std::ranges::find(kPlaceholders, name) == std::end(kPlaceholders))
      add(
          fmt::format("placeholder {{{0}}} is unknown; use {{host}}, {{rank}}, {{gpu}} or a group "
                      "of the pattern, (?P<{0}>...)",
                      name));
  for (const std::string& sample : signature.matches) {
    if (!holds_a_literal(signature, sample))
      add(fmt::format("the sample \"{}\" holds none of the literals; add one that it holds",
                      sample));
    else if (!RE2::PartialMatch(piece(sample), regex))
      add(fmt::format("pattern does not match the sample \"{}\"; correct the pattern or the sample",
                      sample));
  }
  for (const std::string& sample : signature.matches_not)
    if (finds(signature, regex, sample))
      add(fmt::format(
          "pattern matches \"{}\", which it must not; correct the pattern or the sample", sample));
  return problems;
}

class Signatures::Impl {
 public:
  Impl(std::vector<MessageSignature> all, Were were)
      : all_(without_flaws(without_repetitions(std::move(all)), were)),
        compiled_(all_.size()),
        literals_(literals_of(all_, [](const MessageSignature&) { return true; })),
        others_literals_(quiet_literals_of(all_, {})),
        warnings_literals_(literals_of(all_, &is_warning_of_nccl)) {
    for (const MessageSignature& signature : all_)
      if (!signature.dialect.empty() && !quiet_literals_.contains(signature.dialect))
        quiet_literals_.try_emplace(signature.dialect, quiet_literals_of(all_, signature.dialect));
  }

  std::span<const MessageSignature> all() const { return all_; }

  std::optional<SignatureMatch> match(const Remark& remark) const {
    const std::string_view text = std::string_view(remark.text).substr(0, kMaxSearched);
    std::vector<std::uint32_t> candidates;
    literals_.find(text, [&](std::uint32_t number) {
      if (takes(all_[number], remark) && std::ranges::find(candidates, number) == candidates.end())
        candidates.push_back(number);
      return false;
    });
    std::ranges::sort(candidates);
    for (const std::uint32_t number : candidates)
      if (auto match = match_one(number, text)) return match;
    return std::nullopt;
  }

  bool wants(std::string_view text, std::string_view dialect) const {
    const auto own = quiet_literals_.find(dialect);
    const LiteralSearch& literals = own == quiet_literals_.end() ? others_literals_ : own->second;
    return literals.find(text.substr(0, kMaxSearched), [](std::uint32_t) { return true; });
  }

  bool reads_like_kernel(std::string_view text) const {
    const auto own = quiet_literals_.find(kKernel);
    if (own == quiet_literals_.end()) return false;
    text = text.substr(0, kMaxSearched);
    return own->second.find(text, [&](std::uint32_t number) {
      return all_[number].dialect == kKernel && begins_near_the_start(compiled(number), text);
    });
  }

  std::optional<std::size_t> nccl_warning_in(std::string_view text) const {
    text = text.substr(0, kMaxSearched);
    std::optional<std::size_t> first;
    warnings_literals_.find(text, [&](std::uint32_t number) {
      const auto match = match_one(number, text);
      if (match && !is_talked_about(text, match->begin, match->end))
        first = std::min(first.value_or(match->begin), match->begin);
      return first == std::size_t{0};
    });
    return first;
  }

 private:
  struct Compiled {
    std::unique_ptr<const RE2> regex;
    std::vector<std::string> names;  // of the groups, from the first; empty: it has none
  };

  const Compiled& compiled(std::uint32_t number) const {
    return compiled_.of(number, [&] { return compile(all_[number]); });
  }

  static std::vector<MessageSignature> without_repetitions(std::vector<MessageSignature> all) {
    std::set<std::string, std::less<>> seen;
    std::erase_if(
        all, [&](const MessageSignature& signature) { return !seen.insert(signature.id).second; });
    return all;
  }

  static std::vector<MessageSignature> without_flaws(std::vector<MessageSignature> all, Were were) {
    if (were == Were::checked) return all;
    for (const MessageSignature& signature : all)
      if (const std::string flaw = flaw_of(signature, RE2(signature.pattern, options()));
          !flaw.empty())
        throw std::runtime_error(fmt::format("{}: {}: {}", signature.file, signature.id, flaw));
    return all;
  }

  static Compiled compile(const MessageSignature& signature) {
    auto regex = std::make_unique<const RE2>(signature.pattern, options());
    std::vector<std::string> names(static_cast<std::size_t>(regex->NumberOfCapturingGroups()));
    // RE2 allows each group name once, so name__2 is the field `name` in another place.
    for (const auto& [number, name] : regex->CapturingGroupNames())
      names[static_cast<std::size_t>(number - 1)] = name.substr(0, name.find("__"));
    return {std::move(regex), std::move(names)};
  }

  static std::vector<LiteralSearch::Literal> quiet_literals_of(
      const std::vector<MessageSignature>& all, std::string_view dialect) {
    return literals_of(all, [&](const MessageSignature& signature) {
      return !only_of_warnings(signature) &&
             (signature.dialect.empty() || signature.dialect == dialect);
    });
  }

  // Before a message of the kernel stands at most a driver's name; a quotation may stand anywhere.
  static bool begins_near_the_start(const Compiled& compiled, std::string_view text) {
    re2::StringPiece found;
    return compiled.regex->Match(piece(text), 0, text.size(), RE2::UNANCHORED, &found, 1) &&
           found.data() - text.data() <= kMostBeforeAMessage;
  }

  template <class Wanted>
  static std::vector<LiteralSearch::Literal> literals_of(const std::vector<MessageSignature>& all,
                                                         Wanted wanted) {
    std::vector<LiteralSearch::Literal> literals;
    for (std::uint32_t number = 0; number < all.size(); ++number)
      if (wanted(all[number]))
        for (const std::string& literal : all[number].literals)
          literals.push_back({literal, number});
    return literals;
  }

  std::optional<SignatureMatch> match_one(std::uint32_t number, std::string_view text) const {
    const Compiled& its = compiled(number);
    std::vector<re2::StringPiece> groups(its.names.size() + 1);
    if (!its.regex->Match(piece(text), 0, text.size(), RE2::UNANCHORED, groups.data(),
                          static_cast<int>(groups.size())))
      return std::nullopt;
    SignatureMatch match{
        &all_[number], {}, static_cast<std::size_t>(groups[0].data() - text.data())};
    match.end = match.begin + groups[0].size();
    for (std::size_t i = 0; i < its.names.size(); ++i) {
      const re2::StringPiece& group = groups[i + 1];
      if (its.names[i].empty() || group.empty()) continue;
      match.fields.emplace(its.names[i],
                           std::string(group.data(), std::min(group.size(), kMaxFieldBytes)));
    }
    return match;
  }

  std::vector<MessageSignature> all_;
  WhenAsked<Compiled> compiled_;
  LiteralSearch literals_;
  // Literals of signatures that take more than warnings: by dialect, and those of any dialect.
  std::map<std::string, LiteralSearch, std::less<>> quiet_literals_;
  LiteralSearch others_literals_;
  LiteralSearch warnings_literals_;  // of NCCL's warnings
};

Signatures::Signatures() : Signatures(std::vector<MessageSignature>{}) {}
Signatures::Signatures(std::vector<MessageSignature> all, Were were)
    : impl_(std::make_unique<Impl>(std::move(all), were)) {}
Signatures::~Signatures() = default;

std::span<const MessageSignature> Signatures::all() const { return impl_->all(); }

const MessageSignature* Signatures::find(std::string_view id) const {
  const auto found = std::ranges::find(all(), id, &MessageSignature::id);
  return found == all().end() ? nullptr : &*found;
}

std::optional<SignatureMatch> Signatures::match(const Remark& remark) const {
  return impl_->match(remark);
}

bool Signatures::wants(std::string_view text, std::string_view dialect) const {
  return impl_->wants(text, dialect);
}

bool Signatures::reads_like_kernel(std::string_view text) const {
  return impl_->reads_like_kernel(text);
}
std::optional<std::size_t> Signatures::nccl_warning_in(std::string_view text) const {
  return impl_->nccl_warning_in(text);
}

}  // namespace faultline
