// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

class MessageBar;
class Workspace;

/// True if there is a current comparison to report.
bool canReport(const Workspace& workspace);

/// Asks for a file and writes the page of `quantscope report` for the current results, with exports
/// and certificate if they belong to the same results. The message bar then offers to open it, or
/// reports the error. GUI thread only.
void saveReport(Workspace& workspace, MessageBar& messages);

} // namespace qs
