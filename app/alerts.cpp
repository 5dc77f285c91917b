// faultline alerts: tries a receiver.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "alerts/delivery.h"
#include "app/alert_options.h"
#include "app/commands.h"
#include "service/clock.h"

namespace faultline {
namespace {

struct TestOptions {
  std::string receiver;
  std::string config;
  AlertOptions alerts;
};

// A file of `serve` has other keys, too, which do not matter here.
ConfigTables tables_of(const std::string& file) {
  CLI::App serve;
  int ignored = 0;
  add_serve_command(serve, ignored);
  return file.empty() ? ConfigTables{}
                      : apply_config_file(*serve.get_subcommand("serve"), file).tables;
}

int test_receiver(const TestOptions& options) {
  const std::string url = external_url(options.alerts, "http://127.0.0.1:8686");
  std::string known;
  int tried = 0;
  int failed = 0;
  for (const Receiver& receiver : receivers_of(options.alerts, tables_of(options.config))) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", receiver.name);
    // All replicas of a list share one name. A receiver of the command line can also be named by
    // its address.
    if (receiver.name != options.receiver && receiver.url != options.receiver &&
        !receiver.name.starts_with(options.receiver + " "))
      continue;
    ++tried;
    const std::string why = try_receiver(receiver, url, utc_now());
    if (why.empty()) {
      fmt::print("{}: accepted\n", receiver.name);
    } else {
      fmt::print(stderr, "faultline: {}: {}\n", receiver.name, why);
      ++failed;
    }
  }
  if (tried == 0)
    throw std::runtime_error(
        fmt::format("no receiver is named \"{}\"; {}", options.receiver,
                    known.empty() ? "name the --config that has it" : "there are " + known));
  return failed == 0 ? 0 : kExitError;
}

}  // namespace

void add_alerts_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("alerts", "Try out the receivers of alerts");
  command->require_subcommand(1);
  CLI::App* test = command->add_subcommand(
      "test", "Send a sample alert to one receiver, and print whether it was accepted");
  auto options = std::make_shared<TestOptions>();
  test->add_option(
          "RECEIVER", options->receiver,
          "The name of the receiver in the file of --config, or the URL that is given with "
          "--alertmanager or --webhook")
      ->required()
      ->type_name("NAME");
  test->add_option("--config", options->config,
                   "The file that `faultline serve` is given as --config")
      ->type_name("FILE");
  add_alert_options(*test, options->alerts);
  test->callback([options, &exit_code] {
    std::signal(SIGPIPE, SIG_IGN);
    try {
      exit_code = test_receiver(*options);
    } catch (const std::exception& failure) {
      fmt::print(stderr, "faultline: {}\n", failure.what());
      exit_code = kExitError;
    }
  });
}

}  // namespace faultline
