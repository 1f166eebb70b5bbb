// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "engine/export/result_writer.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

struct ReportOptions
{
    std::string folder, html;
};

Result<void> runReport(const ReportOptions& options)
{
    QS_CHECK(writeHtmlReport(options.folder, options.html));
    return printOut(options.html + "\n");
}

} // namespace

void addReportCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<ReportOptions>();
    CLI::App* verb = app.add_subcommand("report", "Writes a result as one page for a browser");
    verb->add_option("DIR", options->folder, "what 'quantize --out' wrote")->required();
    verb->add_option("--html", options->html, "the page to write")->required();
    verb->callback([options, &chosen] {
        chosen = [options](const JobContext&) { return runReport(*options); };
    });
}

} // namespace qs
