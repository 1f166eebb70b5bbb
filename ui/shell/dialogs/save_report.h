// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

class MessageBar;
class Workspace;

/// The model was compared with the decisions as they stand: there is something to report.
bool canReport(const Workspace& workspace);

/// Asks for a file and writes the page there that `quantscope report` writes of the current
/// results; with the exports and what was verified where they are of the same results. The message
/// bar then offers to open it, or says what went wrong. GUI thread only.
void saveReport(Workspace& workspace, MessageBar& messages);

} // namespace qs
