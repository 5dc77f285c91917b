// The program's commands. Each is defined in a file of its own and adds itself to the command line;
// when it has run, exit_code is what the program returns.
#pragma once

namespace CLI {
class App;
}

namespace faultline {

// Exit statuses, by which scripts tell answers apart.
inline constexpr int kExitGood = 0;       // nothing wrong was found
inline constexpr int kExitFault = 1;      // `diagnose` found one
inline constexpr int kExitError = 2;      // a usage or input error: it could not look
inline constexpr int kExitUndecided = 3;  // what `diagnose` read does not decide

// The file of the database in a server's folder of data.
inline constexpr const char* kDatabase = "faultline.db";
inline constexpr const char* kReadingMarks = "faultline.reading";  // beside it

// Runs the command line; returns the program's exit status.
int run_command_line(int argc, char** argv);

void add_serve_command(CLI::App& app, int& exit_code);
void add_diagnose_command(CLI::App& app, int& exit_code);
void add_simulate_command(CLI::App& app, int& exit_code);
void add_alerts_command(CLI::App& app, int& exit_code);
void add_rules_command(CLI::App& app, int& exit_code);
void add_token_command(CLI::App& app, int& exit_code);
void add_backup_command(CLI::App& app, int& exit_code);
void add_restore_command(CLI::App& app, int& exit_code);
void add_ship_command(CLI::App& app, int& exit_code);
void add_guard_command(CLI::App& app, int& exit_code);
void add_reanalyze_command(CLI::App& app, int& exit_code);
void add_version_command(CLI::App& app, int& exit_code);
// help, man and completion; added last, because they describe all others.
void add_help_commands(CLI::App& app, int& exit_code);

}  // namespace faultline
