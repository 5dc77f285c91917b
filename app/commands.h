// The program's commands. Each is defined in a file of its own and adds itself to the command line;
// when it has run, exit_code is what the program returns.
#pragma once

namespace CLI {
class App;
}

namespace faultline {

// A usage or input error; 1 is what `diagnose` answers when it found a fault.
inline constexpr int kExitError = 2;

// All of them; returns the program's exit status.
int run_command_line(int argc, char** argv);

void add_serve_command(CLI::App& app, int& exit_code);
void add_diagnose_command(CLI::App& app, int& exit_code);
void add_simulate_command(CLI::App& app, int& exit_code);
void add_alerts_command(CLI::App& app, int& exit_code);
void add_rules_command(CLI::App& app, int& exit_code);
void add_version_command(CLI::App& app, int& exit_code);

}  // namespace faultline
