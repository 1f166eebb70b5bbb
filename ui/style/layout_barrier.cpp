// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/layout_barrier.h"

namespace qs {

LayoutBarrier::LayoutBarrier(QWidget* held, QWidget* parent)
    : QWidget(parent)
    , m_held(held)
{
    setSizePolicy(held->sizePolicy());
    held->setParent(this);
}

} // namespace qs
