// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/constraint_audit.h"

#include "engine/base/text.h"

namespace qs {

namespace {

std::string rangeText(std::int64_t low, std::int64_t high)
{
    return std::to_string(low) + ".." + std::to_string(high);
}

class Auditor
{
public:
    explicit Auditor(const DTypeWithConstraints& value)
        : m_value(value)
    {
    }

    std::vector<BackendProblem> run()
    {
        checkDType();
        checkRange();
        checkScale();
        checkExact();
        return std::move(m_found);
    }

private:
    void error(std::string text) { m_found.push_back({true, std::move(text)}); }
    void warning(std::string text) { m_found.push_back({false, std::move(text)}); }

    bool constrained() const
    {
        DTypeWithConstraints bare;
        bare.dtype = m_value.dtype;
        return m_value != bare;
    }

    QuantRange dtypeRange() const
    {
        ObserverSpec spec;
        spec.dtype = *m_value.dtype;
        return quantRange(spec);
    }

    void checkDType()
    {
        if (!m_value.dtype) {
            if (constrained())
                warning("constraints without a dtype have no effect");
            return;
        }
        const DType dtype = *m_value.dtype;
        const std::string name(dtypeName(dtype));
        if (!isIntegerDType(dtype) && !isFloating(dtype))
            error(name + " cannot be quantized to; use quint8, qint8, float16 or float32");
        else if (!isIntegerDType(dtype) && constrained())
            warning("constraints on " + name + " have no effect: it has no scale");
    }

    void checkRange()
    {
        const auto& low = m_value.quantMinLowerBound;
        const auto& high = m_value.quantMaxUpperBound;
        if (low.has_value() != high.has_value())
            warning(std::string(low ? "quant_min_lower_bound" : "quant_max_upper_bound")
                    + " is set without its partner; PyTorch then ignores it, here it is checked");
        if (!low || !high)
            return;
        if (*low >= *high)
            error("the range " + rangeText(*low, *high) + " is empty: nothing can satisfy it");
        else if (*low > 0 || *high < 0)
            error("the range " + rangeText(*low, *high)
                  + " does not hold 0, as every quantized range does: nothing can satisfy it");
        if (m_value.dtype && isIntegerDType(*m_value.dtype)) {
            const QuantRange limits = dtypeRange();
            if (*low > limits.max || *high < limits.min)
                error("the range lies outside " + std::string(dtypeName(*m_value.dtype)));
        }
    }

    void checkScale()
    {
        const auto& least = m_value.scaleMinLowerBound;
        const auto& most = m_value.scaleMaxUpperBound;
        if (least && most && *least > *most)
            error("scale_min_lower_bound lies above scale_max_upper_bound: nothing can satisfy it");
        if (most && *most <= 0)
            error("scale_max_upper_bound must be above 0: scales are");
        if (most)
            warning("PyTorch ignores scale_max_upper_bound, here it is checked");
    }

    void checkExact()
    {
        const auto& scale = m_value.scaleExactMatch;
        const auto& zero = m_value.zeroPointExactMatch;
        if (scale.has_value() != zero.has_value())
            warning(std::string(scale ? "scale_exact_match" : "zero_point_exact_match")
                    + " is set without its partner; PyTorch then ignores it, here it is checked");
        if (scale && *scale <= 0)
            error("scale_exact_match must be above 0");
        else if (scale && m_value.scaleMinLowerBound && *scale < *m_value.scaleMinLowerBound)
            error("scale_exact_match " + numberText(*scale) + " lies below scale_min_lower_bound "
                  + numberText(*m_value.scaleMinLowerBound) + ": nothing can satisfy both");
        else if (scale && m_value.scaleMaxUpperBound && *scale > *m_value.scaleMaxUpperBound)
            error("scale_exact_match " + numberText(*scale) + " lies above scale_max_upper_bound "
                  + numberText(*m_value.scaleMaxUpperBound) + ": nothing can satisfy both");
        if (!zero || !m_value.dtype || !isIntegerDType(*m_value.dtype))
            return;
        const QuantRange limits = dtypeRange();
        const std::int64_t low = m_value.quantMinLowerBound.value_or(limits.min);
        const std::int64_t high = m_value.quantMaxUpperBound.value_or(limits.max);
        if (*zero < low || *zero > high)
            error("zero_point_exact_match " + std::to_string(*zero) + " lies outside "
                  + rangeText(low, high));
    }

    const DTypeWithConstraints& m_value;
    std::vector<BackendProblem> m_found;
};

} // namespace

std::vector<BackendProblem> auditConstraints(const DTypeWithConstraints& value)
{
    return Auditor(value).run();
}

} // namespace qs
