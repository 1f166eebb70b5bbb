// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <utility>

namespace qs {

/// A slot that runs a refresh once for all signals of one turn of the event loop.
class Coalesced
{
public:
    explicit Coalesced(QTimer* timer)
        : m_timer(timer)
    {
    }

    void operator()() const { m_timer->start(); }

    /// A slot that runs `light` at once unless a refresh is pending: until then the view shows
    /// old state, and the refresh updates all of it.
    template<class Light>
    auto unlessDue(Light light) const
    {
        return [timer = m_timer, light = std::move(light)] {
            if (!timer->isActive())
                light();
        };
    }

private:
    QTimer* m_timer;
};

/// Returns a slot that runs `refresh` once per turn of the event loop, while `owner` lives.
template<class Refresh>
Coalesced coalesced(QObject* owner, Refresh refresh)
{
    auto* timer = new QTimer(owner);
    timer->setSingleShot(true);
    timer->setInterval(0);
    QObject::connect(timer, &QTimer::timeout, owner, std::move(refresh));
    return Coalesced(timer);
}

} // namespace qs
