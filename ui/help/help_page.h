// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QTextBrowser;

namespace qs {

struct HelpTopic;

/// Fills the browser with a page. Tables and pictures get the width of the page.
void fillHelpPage(QTextBrowser& browser, const HelpTopic& topic);

} // namespace qs
