// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/text/console.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/report/csv_report.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

struct ReportOptions
{
    std::string folder, html, csv;
};

Result<void> runReport(const ReportOptions& options)
{
    if (options.html.empty() && options.csv.empty())
        return fail(makeError(ErrorCode::Usage, "nothing to write")
                        .withHint("name a page with --html or a table with --csv"));
    std::string written;
    if (!options.html.empty()) {
        QS_CHECK(writeHtmlReport(options.folder, options.html));
        written += options.html + "\n";
    }
    if (!options.csv.empty()) {
        QS_CHECK(writeCsvReport(options.folder, options.csv));
        written += options.csv + "\n";
    }
    return printOut(written);
}

} // namespace

void addReportCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<ReportOptions>();
    CLI::App* verb
        = app.add_subcommand("report", "Writes a result as one page for a browser, or as a table");
    verb->add_option("DIR", options->folder, "what 'quantize --out' wrote")->required();
    verb->add_option("--html", options->html, "the page to write");
    verb->add_option("--csv", options->csv, "the table to write, a line a node");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun&) { return runReport(*options); };
    });
}

} // namespace qs
