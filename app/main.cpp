#include "app/commands.h"

int main(int argc, char** argv) { return faultline::run_command_line(argc, argv); }
