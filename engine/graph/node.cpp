// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/node.h"

namespace qs {

std::string ValueType::text() const
{
    switch (kind) {
    case ValueKind::Tensor: {
        std::string out(dtype == DType::Unknown ? "?" : dtypeName(dtype));
        if (!shapeKnown)
            return out + "[?]";
        out += "[";
        for (std::size_t i = 0; i < shape.size(); ++i)
            out += (i ? ", " : "") + shape[i].text();
        return out + "]";
    }
    case ValueKind::SymInt:
        return "SymInt";
    case ValueKind::SymFloat:
        return "SymFloat";
    case ValueKind::SymBool:
        return "SymBool";
    case ValueKind::Custom:
        return className.empty() ? "object" : className;
    case ValueKind::Tuple:
        return "tuple";
    case ValueKind::None:
        return "None";
    }
    return "?";
}

const Argument* Node::tryArg(std::string_view argName) const
{
    for (const auto& arg : args)
        if (arg.name == argName)
            return &arg.value;
    return nullptr;
}

const Argument* Node::tryArg(std::size_t position) const
{
    return position < args.size() ? &args[position].value : nullptr;
}

} // namespace qs
