// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <utility>

namespace qs {

/// A slot that runs `refresh` once for all signals of one turn of the event loop. It runs while
/// `owner` lives.
template<class Refresh>
auto coalesced(QObject* owner, Refresh refresh)
{
    auto* timer = new QTimer(owner);
    timer->setSingleShot(true);
    timer->setInterval(0);
    QObject::connect(timer, &QTimer::timeout, owner, std::move(refresh));
    return [timer] { timer->start(); };
}

} // namespace qs
