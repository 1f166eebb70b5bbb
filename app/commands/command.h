// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command_run.h"

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace qs {

/// Runs a verb after its arguments are parsed. An error of code Usage gives exit code 2, any other
/// 1.
using Command = std::function<Result<void>(const CommandRun&)>;

/// Each adds one verb to the program; if the user gives that verb, `chosen` becomes its command.
void addInspectCommand(CLI::App& app, Command& chosen);
void addPlanCommand(CLI::App& app, Command& chosen);
void addEditCommand(CLI::App& app, Command& chosen);
void addQuantizeCommand(CLI::App& app, Command& chosen);
void addCompareCommand(CLI::App& app, Command& chosen);
void addLookCommand(CLI::App& app, Command& chosen);
void addWhyCommand(CLI::App& app, Command& chosen);
void addTuneCommand(CLI::App& app, Command& chosen);
void addTrainCommand(CLI::App& app, Command& chosen);
void addVerifyCommand(CLI::App& app, Command& chosen);
void addDiffCommand(CLI::App& app, Command& chosen);
void addRunsCommand(CLI::App& app, Command& chosen);
void addCheckCommand(CLI::App& app, Command& chosen);
void addReportCommand(CLI::App& app, Command& chosen);
void addBackendsCommand(CLI::App& app, Command& chosen);
void addKeysCommand(CLI::App& app, Command& chosen);
void addRecipeCommand(CLI::App& app, Command& chosen);
void addExportCommand(CLI::App& app, Command& chosen);
void addDoctorCommand(CLI::App& app, Command& chosen);
void addDescribeCommand(CLI::App& app, Command& chosen);
void addExtensionsCommand(CLI::App& app, Command& chosen);
void addUiCommand(CLI::App& app, Command& chosen);

} // namespace qs
