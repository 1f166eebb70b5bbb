// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QWidget;

namespace qs {

class Workspace;

/// If a training runs, asks what becomes of it before its model is left: its best state becomes a
/// decision, or the training is discarded. False if the user cancels. GUI thread only.
bool mayEndTraining(Workspace& workspace, QWidget* parent);

} // namespace qs
