// faultline guard: takes nodes with open hardware findings out of scheduling.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "app/commands.h"
#include "app/durations.h"
#include "app/server_url.h"
#include "guard/guard.h"
#include "guard/kubernetes_cluster.h"
#include "guard/slurm_cluster.h"
#include "logging/log.h"
#include "service/clock.h"

namespace faultline {
namespace {

constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

struct GuardOptions {
  std::string from;
  std::string token_file;
  std::string ca_file;
  bool slurm = false;
  bool kubernetes = false;
  bool act = false;
  std::string node;
  std::string every;
  GuardLimits limits;
  std::string hold = "2m";
  std::string state = "/var/lib/faultline-guard";
  std::string api = "https://kubernetes.default.svc";
  std::string api_token_file;
  std::string api_ca_file;
  std::string selector;
  std::vector<std::string> usual_taints;
};

std::atomic<bool> guard_stopped = false;

void stop_guard(int) { guard_stopped = true; }

// Within a Pod the API is trusted and asked as the service account says.
std::string of_service_account(const std::string& given, const std::string& api, const char* file) {
  const std::filesystem::path path = std::filesystem::path(kServiceAccount) / file;
  std::error_code error;
  const bool is_there = api.starts_with("https:") && std::filesystem::exists(path, error);
  return given.empty() && is_there ? path.string() : given;
}

std::unique_ptr<GuardedCluster> cluster_of(const GuardOptions& options) {
  if (options.kubernetes)
    return std::make_unique<KubernetesCluster>(
        ShipServer{.url = *parse_url(options.api),
                   .ca_file = of_service_account(options.api_ca_file, options.api, "ca.crt"),
                   .token_file = of_service_account(options.api_token_file, options.api, "token")},
        options.selector, options.usual_taints);
  const char* path = std::getenv("PATH");
  auto slurm = std::make_unique<SlurmCluster>(path == nullptr ? "/usr/bin" : path, options.state,
                                              guard_stopped);
  if (const Result<void> opened = slurm->open_state(options.act); !opened)
    throw std::runtime_error(opened.error().message);
  return slurm;
}

void wait_for(std::chrono::milliseconds pause) {
  const SteadyTime end = steady_now() + pause;
  while (!guard_stopped && steady_now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
}

int guard(const GuardOptions& options) {
  if (options.slurm == options.kubernetes)
    throw std::runtime_error("say which scheduler to guard: --slurm or --kubernetes");
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, stop_guard);
  std::signal(SIGPIPE, SIG_IGN);
  if (!options.every.empty()) set_log_format(LogFormat::logfmt);
  const std::unique_ptr<GuardedCluster> cluster = cluster_of(options);
  GuardSettings settings{.server = {.url = *parse_url(options.from),
                                    .ca_file = options.ca_file,
                                    .token_file = options.token_file},
                         .limits = options.limits,
                         .acts = options.act,
                         .node = options.node};
  settings.limits.hold = *setting_duration(options.hold);
  Guard guard(std::move(settings), *cluster);
  if (options.every.empty()) return guard.round(utc_now()) ? kExitGood : kExitError;
  say(LogLevel::info, "guard",
      fmt::format("looks every {} at what {} has found; {}", options.every, options.from,
                  options.act ? "takes nodes and gives them back"
                              : "changes nothing, because --act is not given"));
  while (!guard_stopped) {
    guard.round(utc_now());
    wait_for(*setting_duration(options.every));
  }
  return kExitGood;
}

}  // namespace

void add_guard_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "guard", "Take nodes with open hardware findings out of scheduling, in Slurm or Kubernetes");
  auto options = std::make_shared<GuardOptions>();
  const auto duration = [](std::chrono::milliseconds least) {
    return CLI::Validator(
        [least](const std::string& text) {
          return wrong_duration(text, {.least = least, .zero = least.count() == 0 ? "none" : ""});
        },
        "");
  };
  command->add_option("--from", options->from, "The Faultline server to ask")
      ->required()
      ->type_name("URL")
      ->check(CLI::Validator(wrong_server_url, ""));
  command->add_flag("--slurm", options->slurm, "Drain nodes of Slurm, with scontrol");
  command->add_flag("--kubernetes", options->kubernetes, "Taint nodes of Kubernetes");
  command->add_flag("--act", options->act,
                    "Take nodes and give them back; without it, only say what would be done");
  command
      ->add_option(
          "--node", options->node,
          "Take and give back only the node of this name, as a health check on that node does; "
          "limits still count over all nodes")
      ->type_name("NAME");
  command
      ->add_option("--every", options->every,
                   "Look again at this interval; by default look once, and end")
      ->type_name("DURATION")
      ->check(duration(std::chrono::seconds{1}));
  command
      ->add_option("--min-confidence", options->limits.min_confidence,
                   "How sure a finding must be to take a node, 0.8 to 1")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->check(CLI::Validator(CLI::Range(0.8, 1.0)).description(""));
  command
      ->add_option(
          "--per-day", options->limits.daily_percent,
          "Take at most this percentage of the nodes within 24 hours; one node may always be taken")
      ->type_name("PERCENT")
      ->capture_default_str()
      ->check(CLI::Validator(CLI::Range(0.0, 20.0)).description(""));
  command
      ->add_option("--most-per-day", options->limits.daily_most,
                   "Take at most this many nodes within 24 hours, however many there are")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->check(CLI::Validator(CLI::Range(1, 1000)).description(""));
  command
      ->add_option(
          "--hold", options->hold,
          "Take a node only when its finding has been open for this long, and give it back "
          "only when the finding has been over for this long")
      ->type_name("DURATION")
      ->capture_default_str()
      ->check(duration(std::chrono::milliseconds{0}));
  command
      ->add_option("--token-file", options->token_file,
                   "A file with a token of scope read for the server of --from")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command
      ->add_option("--ca-file", options->ca_file,
                   "A PEM file of authorities for https, besides the system's")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command
      ->add_option("--state", options->state,
                   "With --slurm: the folder that remembers which nodes were taken, and why")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("--api", options->api,
                   "With --kubernetes: the address of its API; with `kubectl proxy` it is "
                   "http://127.0.0.1:8001")
      ->type_name("URL")
      ->capture_default_str()
      ->check(CLI::Validator(wrong_server_url, ""));
  command
      ->add_option("--api-token-file", options->api_token_file,
                   "The token for the API; by default that of the Pod's service account")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command
      ->add_option("--api-ca-file", options->api_ca_file,
                   "The authority of the API; by default that of the Pod's service account")
      ->type_name("FILE")
      ->check(CLI::Validator(CLI::ExistingFile).description(""));
  command
      ->add_option("--selector", options->selector,
                   "With --kubernetes: guard only nodes with these labels, such as "
                   "nvidia.com/gpu.present=true")
      ->type_name("LABELS");
  command
      ->add_option("--usual-taint", options->usual_taints,
                   "With --kubernetes: the key of a taint that nodes have for good; a node with "
                   "another taint does not count as one that stays")
      ->type_name("KEY");
  command->footer(
      "A finding counts only if a diagnosis blames the hardware of one host for it, the hardware "
      "is part of the job, and the finding is open, was seen within 24 hours and is not reviewed "
      "as wrong or closed. One incident takes at most one node, and half of the nodes always stay. "
      "A node that somebody gave back, or took out of scheduling, is not taken for what was found "
      "before. If the server or the scheduler does not answer, nothing changes.\n"
      "Exit status without --every: 0 done, or nothing to do; 2 it could not look or act.");
  command->callback([options, &exit_code] {
    try {
      exit_code = guard(*options);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
