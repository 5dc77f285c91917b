// faultline rules: lists the signatures of the catalog, and checks a user's files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/manual/command_help.h"
#include "model/json.h"
#include "rules/knowledge/catalog.h"
#include "rules/knowledge/signature_json.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

struct RulesOptions {
  std::optional<fs::path> rules;
  std::string format = "text";
  std::string id;
  std::vector<std::string> files;

  bool json() const { return format == "json"; }
};

template <class Enum>
const char* word(Enum value) {
  return boost::describe::enum_to_string(value, "");
}

void say(std::string_view name, std::string_view text) {
  if (!text.empty()) fmt::print("{:<12} {}\n", name, text);
}

// Samples may have several lines.
void say_all(std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  fmt::print("{}\n", name);
  for (std::string text : texts) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3)
      text.replace(at, 1, "\n  ");
    fmt::print("  {}\n", text);
  }
}

void print(const MessageSignature& signature) {
  say("id", signature.id);
  say("class", name_of(signature.cause));
  say("title", signature.title);
  say("severity", word(signature.severity));
  say("weight", word(signature.weight));
  say("blames", word(signature.blames));
  say("confidence", fmt::format("{}", signature.confidence));
  say("dialect", signature.dialect);
  say("levels", fmt::format("{}", fmt::join(signature.levels, ", ")));
  say("place", signature.place);
  say("versions", signature.versions);
  say("literals", fmt::format("{}", fmt::join(signature.literals, " | ")));
  say("pattern", signature.pattern);
  if (signature.storm.count > 0)
    say("storm", fmt::format("{} a {}", signature.storm.count, word(signature.storm.within)));
  say("recovers", fmt::format("{}", fmt::join(signature.recovers, ", ")));
  if (signature.lasts) say("lasts", "until the next boot");
  if (signature.marks != Marks::nothing) say("marks", word(signature.marks));
  say("file", signature.file);
  std::vector<std::string> actions;
  actions.reserve(signature.actions.size());
  for (const Action& action : signature.actions)
    actions.push_back(action.command.empty()
                          ? action.what
                          : fmt::format("{}\n  $ {}", action.what, action.command));
  say_all("actions", actions);
  say_all("matches", signature.matches);
  say_all("matches not", signature.matches_not);
}

int list(const RulesOptions& options) {
  const Catalog catalog = load_catalog(options.rules);
  if (options.json()) {
    boost::json::array all;
    for (const MessageSignature& signature : catalog.signatures->all())
      all.push_back(to_json(signature));
    fmt::print("{}\n", pretty(all));
    return 0;
  }
  if (options.format == "names") {
    for (const MessageSignature& signature : catalog.signatures->all())
      fmt::print("{}\n", signature.id);
    return 0;
  }
  std::size_t id = 0;
  std::size_t cause = 0;
  for (const MessageSignature& signature : catalog.signatures->all()) {
    id = std::max(id, signature.id.size());
    cause = std::max(cause, name_of(signature.cause).size());
  }
  for (const MessageSignature& signature : catalog.signatures->all())
    fmt::print("{:<{}}  {:<{}}  {:<8}  {}\n", signature.id, id, signature.cause, cause,
               word(signature.severity), signature.title);
  return 0;
}

int show(const RulesOptions& options) {
  const Catalog catalog = load_catalog(options.rules);
  const MessageSignature* signature = catalog.signatures->find(options.id);
  if (signature == nullptr) {
    fmt::print(stderr,
               "faultline: no signature has the id \"{}\"; faultline rules list names all\n",
               options.id);
    return kExitError;
  }
  if (options.json())
    fmt::print("{}\n", pretty(to_json(*signature)));
  else
    print(*signature);
  return 0;
}

int check(const RulesOptions& options) {
  const std::vector<fs::path> files(options.files.begin(), options.files.end());
  const std::vector<std::string> problems = check_catalog_files(files);
  for (const std::string& problem : problems) fmt::print("{}\n", problem);
  return problems.empty() ? 0 : 1;
}

using Deed = int (*)(const RulesOptions& options);

void run(CLI::App& command, const std::shared_ptr<RulesOptions>& options, Deed deed,
         int& exit_code) {
  command.callback([options, deed, &exit_code] {
    try {
      exit_code = deed(*options);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

void add_reading_options(CLI::App& command, RulesOptions& options,
                         const std::vector<std::string>& formats) {
  command
      .add_option("--rules", options.rules,
                  "A folder of your own signatures, shown with the built-in ones")
      ->type_name("DIR");
  choose(command.add_option("--format", options.format, "How to print it"), formats)
      ->capture_default_str();
}

}  // namespace

void add_rules_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "rules", "List and show the signatures that recognize log lines, and check your own");
  command->require_subcommand(1);
  auto options = std::make_shared<RulesOptions>();

  CLI::App* lists = command->add_subcommand("list", "List all signatures, one a line");
  add_reading_options(*lists, *options, {"text", "json", "names"});
  run(*lists, options, list, exit_code);

  CLI::App* shows = command->add_subcommand(
      "show", "Show one signature: its pattern, what it means and what to do");
  shows->add_option("ID", options->id, "The id of the signature, such as nccl.shm.full")
      ->required()
      ->type_name("ID");
  add_reading_options(*shows, *options, {"text", "json"});
  run(*shows, options, show, exit_code);

  CLI::App* checks = command->add_subcommand(
      "check", "Check files of your own, and print every mistake with its line");
  checks
      ->add_option("FILE", options->files,
                   "Signature files of your own, or files that replace built-in ones")
      ->required()
      ->type_name("FILE");
  checks->footer(
      "Exit status: 0 the files are good, 1 one has a mistake, 2 the check could not run.");
  run(*checks, options, check, exit_code);
}

}  // namespace faultline
