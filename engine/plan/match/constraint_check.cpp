// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/constraint_check.h"

#include "engine/base/text.h"

namespace qs {

namespace {

/// Text: the given value and, in brackets, what the backend requires.
std::string required(const std::string& given, const std::string& wanted, bool strict)
{
    return given + " (it requires " + wanted + (strict ? ", stricter than PyTorch)" : ")");
}

std::string dtypeText(DType dtype, bool dynamic)
{
    return (dynamic ? "dynamic " : "") + std::string(dtypeName(dtype));
}

/// Checks one observer against one set of constraints.
class Checker
{
public:
    Checker(const ObserverSpec& spec, const DTypeWithConstraints& want, std::string what,
            bool moduleWeight)
        : m_spec(spec)
        , m_want(want)
        , m_what(std::move(what))
        , m_strict(moduleWeight)
    {
    }

    std::optional<Violation> check() const
    {
        if (!m_want.dtype || m_spec.dtype != *m_want.dtype)
            return std::nullopt; // the dtype is checked elsewhere
        if (auto found = checkRange())
            return found;
        if (auto found = checkScale())
            return found;
        return checkExact();
    }

private:
    std::optional<Violation> violation(const std::string& given, const std::string& wanted,
                                       bool strict = false) const
    {
        return Violation {true, required(m_what + " " + given, wanted, strict || m_strict)};
    }

    std::optional<Violation> checkRange() const
    {
        const auto& low = m_want.quantMinLowerBound;
        const auto& high = m_want.quantMaxUpperBound;
        if (!low && !high)
            return std::nullopt;
        const bool lone = !low || !high;
        const std::string wanted = "a quantization range within "
            + (low ? std::to_string(*low) : "any") + ".." + (high ? std::to_string(*high) : "any");
        const bool hasRange = m_spec.kind != ObserverKind::ReuseInput
            && (m_spec.kind != ObserverKind::Placeholder || (m_spec.quantMin && m_spec.quantMax));
        if (!hasRange)
            return violation("without a quantization range", wanted, lone);
        const QuantRange given = quantRange(m_spec);
        if ((!low || given.min >= *low) && (!high || given.max <= *high))
            return std::nullopt;
        return violation("quantization range " + std::to_string(given.min) + ".."
                             + std::to_string(given.max),
                         wanted, lone);
    }

    std::optional<Violation> checkScale() const
    {
        const bool hasEps
            = m_spec.kind != ObserverKind::FixedQParams && m_spec.kind != ObserverKind::ReuseInput;
        if (const auto& least = m_want.scaleMinLowerBound) {
            const std::string wanted = "a smallest scale of at least " + numberText(*least);
            if (!hasEps)
                return violation("without eps", wanted);
            // torch.ao keeps eps as float32.
            if (float(m_spec.eps) < *least)
                return violation("eps " + numberText(m_spec.eps), wanted);
        }
        if (const auto& most = m_want.scaleMaxUpperBound) {
            const double given
                = m_spec.kind == ObserverKind::FixedQParams ? m_spec.scale : m_spec.eps;
            if (given > *most)
                return violation("smallest scale " + numberText(given),
                                 "a scale of at most " + numberText(*most), true);
        }
        return std::nullopt;
    }

    std::optional<Violation> checkExact() const
    {
        const auto& scale = m_want.scaleExactMatch;
        const auto& zero = m_want.zeroPointExactMatch;
        if (!scale && !zero)
            return std::nullopt;
        const bool lone = !scale || !zero;
        const std::string wanted = "fixed_qparams with "
            + (scale ? "scale " + numberText(*scale) : "") + (lone ? "" : ", ")
            + (zero ? "zero point " + std::to_string(*zero) : "");
        if (m_spec.kind != ObserverKind::FixedQParams)
            return violation("observer " + std::string(observerKindName(m_spec.kind)), wanted,
                             lone);
        if ((!scale || m_spec.scale == *scale) && (!zero || m_spec.zeroPoint == *zero))
            return std::nullopt;
        return violation("fixed scale " + numberText(m_spec.scale) + ", zero point "
                             + std::to_string(m_spec.zeroPoint),
                         wanted, lone);
    }

    const ObserverSpec& m_spec;
    const DTypeWithConstraints& m_want;
    std::string m_what;
    bool m_strict;
};

std::optional<Violation> mismatch(const std::string& what, const std::string& wanted,
                                  const std::string& given, bool strict = false)
{
    return Violation {false, required(what + " dtype " + given, wanted, strict)};
}

} // namespace

std::optional<Violation> checkChooses(const std::string& what, const ObserverSpec& spec)
{
    const bool reuses = spec.kind == ObserverKind::ReuseInput;
    if (choosesQParams(spec.kind) || reuses || spec.isDynamic || !isIntegerDType(spec.dtype))
        return std::nullopt;
    return Violation {true,
                      what + " observer '" + std::string(observerKindName(spec.kind))
                          + "', which chooses no scale (" + std::string(dtypeName(spec.dtype))
                          + " requires one: histogram and minmax choose it)"};
}

namespace {

std::optional<Violation> checkWeight(const DTypeConfig& config, const QConfig& qconfig,
                                     const OperandFacts& facts)
{
    if (!config.weight.dtype || (!facts.functionalWeight && !facts.moduleWeight))
        return std::nullopt;
    const bool module = !facts.functionalWeight;
    if (qconfig.weight.dtype != *config.weight.dtype)
        return mismatch("weight", std::string(dtypeName(*config.weight.dtype)),
                        std::string(dtypeName(qconfig.weight.dtype)), module);
    if (auto found = checkChooses("weight", qconfig.weight))
        return found;
    return Checker(qconfig.weight, config.weight, "weight", module).check();
}

std::optional<Violation> checkConfig(const DTypeConfig& config, const QConfig& qconfig,
                                     const OperandFacts& facts)
{
    const ObserverSpec& activation = qconfig.activation;
    if (config.input.dtype) {
        if (activation.dtype != *config.input.dtype || activation.isDynamic != config.isDynamic)
            return mismatch("input", dtypeText(*config.input.dtype, config.isDynamic),
                            dtypeText(activation.dtype, activation.isDynamic));
        if (auto found = checkChooses("activation", activation))
            return found;
        if (auto found = Checker(activation, config.input, "activation", false).check())
            return found;
    }
    if (auto found = checkWeight(config, qconfig, facts))
        return found;
    const bool halfBias = activation.dtype == DType::Float16 && !activation.isDynamic
        && qconfig.weight.dtype == DType::Float16;
    const DType bias = halfBias ? DType::Float16 : DType::Float32;
    if (facts.functionalBias && config.biasDType && *config.biasDType != bias)
        return mismatch("bias", std::string(dtypeName(*config.biasDType)),
                        std::string(dtypeName(bias)));
    if (config.output.dtype) {
        // A dynamically quantized operator returns float.
        const DType given = activation.isDynamic ? DType::Float32 : activation.dtype;
        if (given != *config.output.dtype)
            return mismatch("output", std::string(dtypeName(*config.output.dtype)),
                            std::string(dtypeName(given)));
        if (auto found = Checker(activation, config.output, "activation", false).check())
            return found;
    }
    return std::nullopt;
}

} // namespace

const Violation* DTypeChoice::telling() const
{
    for (const auto& violation : violations)
        if (violation.constraint)
            return &violation;
    return violations.empty() ? nullptr : &violations.front();
}

std::optional<DTypeConfig> weightOnlyConfig(const BackendPattern& entry, const QConfig& qconfig,
                                            const OperandFacts& facts)
{
    const bool hasWeight = facts.functionalWeight || facts.moduleWeight;
    const std::string root
        = lastPart(entry.pattern.empty() ? std::string() : entry.pattern.front());
    if (!hasWeight || (root != "Linear" && root != "linear" && root != "LinearReLU")
        || qconfig.activation.isDynamic || qconfig.activation.dtype != DType::Float32
        || !isPlainWeight(qconfig.weight) || checkChooses("weight", qconfig.weight))
        return std::nullopt;
    DTypeConfig config;
    config.input.dtype = config.output.dtype = config.biasDType = DType::Float32;
    config.weight.dtype = qconfig.weight.dtype;
    return config;
}

DTypeChoice chooseDTypeConfig(const BackendPattern& entry, const QConfig& qconfig,
                              const OperandFacts& facts)
{
    DTypeChoice choice;
    for (std::size_t i = 0; i < entry.dtypeConfigs.size(); ++i) {
        auto found = checkConfig(entry.dtypeConfigs[i], qconfig, facts);
        if (!found) {
            choice.index = int(i);
            break;
        }
        choice.violations.push_back(std::move(*found));
    }
    return choice;
}

} // namespace qs
