// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pipeline/engine_service.h"

#include <memory>

namespace qs::test {

/// The real engine where the fixture wants one it can construct.
class RealEngine
{
public:
    operator EngineService&() { return *m_engine; }

private:
    std::unique_ptr<EngineService> m_engine = makeEngine();
};

} // namespace qs::test
