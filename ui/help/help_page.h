// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTextBrowser;

namespace qs {

struct HelpTopic;

/// Fills the browser with a page: tables and pictures as wide as the page, code in lines that stay
/// together.
void fillHelpPage(QTextBrowser& browser, const HelpTopic& topic);

} // namespace qs
