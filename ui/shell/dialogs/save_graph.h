// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace qs {

class GraphCanvas;
class MessageBar;

/// Asks for a file, and for the size of a PNG, and writes the whole graph to it; reports errors in
/// the message bar.
void saveGraph(GraphCanvas& canvas, MessageBar& messages);

} // namespace qs
