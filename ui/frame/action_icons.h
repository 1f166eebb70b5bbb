// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

namespace qs {

/// Icons in the theme's colours for commands whose names are easily confused. GUI thread only.
QIcon floatRuleIcon(); ///< a tag with an f: a rule says float
QIcon leafIcon(); ///< a leaf: the module is left out
QIcon wrapIcon(); ///< a frame around a dot: many operators as one node

} // namespace qs
