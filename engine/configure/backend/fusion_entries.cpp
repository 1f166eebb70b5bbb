// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/fusion_entries.h"

#include "engine/base/text.h"
#include "engine/configure/backend/entry_fields.h"
#include "engine/configure/backend/lowering_names.h"

#include <algorithm>

namespace qs {

namespace {

using FusionChain = std::vector<std::string>;

/// Returns the shipped backends, native first: it has the most patterns and takes precedence for
/// shared ones.
const std::vector<Backend>& shippedInOrder()
{
    static const std::vector<Backend> all = [] {
        std::vector<Backend> found;
        for (const std::string& name : shippedBackends())
            if (auto backend = findBackend(name))
                found.push_back(std::move(*backend));
        std::stable_partition(found.begin(), found.end(),
                              [](const Backend& backend) { return backend.name == "native"; });
        return found;
    }();
    return all;
}

bool isSameChain(const FusionChain& left, const FusionChain& right)
{
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const std::string& a, const std::string& b) {
                          return fullTorchName(a) == fullTorchName(b);
                      });
}

template<class Wanted>
const BackendPattern* findEntry(const Backend& backend, Wanted wanted)
{
    const auto found = std::find_if(backend.patterns.begin(), backend.patterns.end(), wanted);
    return found == backend.patterns.end() ? nullptr : &*found;
}

template<class Wanted>
const BackendPattern* findShipped(Wanted wanted)
{
    for (const Backend& backend : shippedInOrder())
        if (const BackendPattern* entry = findEntry(backend, wanted))
            return entry;
    return nullptr;
}

bool isChainFusion(const BackendPattern& entry)
{
    return !entry.fuserMethod.empty() && entry.pattern.size() > 1;
}

auto quantizes(const std::string& module)
{
    return [module](const BackendPattern& entry) {
        return entry.pattern.size() == 1 && !entry.dtypeConfigs.empty()
            && fullTorchName(entry.pattern[0]) == fullTorchName(module);
    };
}

auto fuses(const FusionChain& pattern)
{
    return [&pattern](const BackendPattern& entry) {
        return isChainFusion(entry) && isSameChain(entry.pattern, pattern);
    };
}

/// Fills in the partner's root and reference module, which torch.ao specifies in the entry itself
/// or in the entry for training.
void fillModules(BackendPattern& partner, const std::string& firstOfFusion)
{
    const BackendPattern* trained
        = partner.qatModule.empty() ? nullptr : findShipped(quantizes(partner.qatModule));
    for (const BackendPattern* known : {trained, findShipped(quantizes(firstOfFusion))}) {
        if (!known || known->rootModule.empty())
            continue;
        if (partner.rootModule.empty())
            partner.rootModule = known->rootModule;
        if (partner.referenceModule.empty() && partner.rootModule == known->rootModule)
            partner.referenceModule = known->referenceModule;
    }
}

bool takesWeight(const BackendPattern& entry)
{
    return std::any_of(entry.dtypeConfigs.begin(), entry.dtypeConfigs.end(),
                       [](const DTypeConfig& config) { return config.weight.dtype.has_value(); });
}

/// The static configs without their weights, for an operator that has none.
std::vector<DTypeConfig> ofActivations(const std::vector<DTypeConfig>& configs)
{
    std::vector<DTypeConfig> out;
    for (DTypeConfig config : configs) {
        if (config.isDynamic)
            continue;
        config.weight = {};
        config.biasDType.reset();
        if (std::find(out.begin(), out.end(), config) == out.end())
            out.push_back(config);
    }
    return out;
}

/// Returns the backend's own dtype configs of comparable entries; they take precedence over the
/// shipped ones.
std::vector<DTypeConfig> ownDTypes(const Backend& backend, const std::string& root)
{
    const BackendPattern* sameRoot = findEntry(backend, [&root](const BackendPattern& entry) {
        return !root.empty() && entry.rootModule == root && takesWeight(entry);
    });
    const BackendPattern* like = sameRoot ? sameRoot : findEntry(backend, takesWeight);
    if (!like)
        return {};
    return root.empty() ? ofActivations(like->dtypeConfigs) : like->dtypeConfigs;
}

} // namespace

const std::vector<FusionChain>& knownFusions()
{
    static const std::vector<FusionChain> all = [] {
        std::vector<FusionChain> found;
        for (const Backend& backend : shippedInOrder())
            for (const BackendPattern& entry : backend.patterns)
                if (isChainFusion(entry)
                    && std::find(found.begin(), found.end(), entry.pattern) == found.end())
                    found.push_back(entry.pattern);
        return found;
    }();
    return all;
}

const std::vector<std::string>& knownFuserMethods()
{
    static const std::vector<std::string> all = [] {
        std::vector<std::string> found;
        for (const Backend& backend : shippedInOrder())
            for (const BackendPattern& entry : backend.patterns)
                if (!entry.fuserMethod.empty()
                    && std::find(found.begin(), found.end(), entry.fuserMethod) == found.end())
                    found.push_back(entry.fuserMethod);
        return found;
    }();
    return all;
}

bool lacksPartner(const Backend& backend, const BackendPattern& entry)
{
    const std::string made = fusedModuleInEval(entry);
    return !made.empty() && !findEntry(backend, quantizes(made));
}

bool hasFusion(const Backend& backend, const FusionChain& pattern)
{
    const BackendPattern* fusion = findEntry(backend, fuses(pattern));
    return fusion && !lacksPartner(backend, *fusion);
}

Result<Backend> withPartner(Backend backend, const BackendPattern& fusion)
{
    if (!lacksPartner(backend, fusion))
        return backend;
    const std::string made = fusedModuleInEval(fusion);
    const BackendPattern* shipped = findShipped(quantizes(made));
    BackendPattern partner;
    partner.pattern = {made};
    if (shipped)
        partner = *shipped;
    fillModules(partner, fusion.pattern.front());
    if (auto own = ownDTypes(backend, partner.rootModule); !own.empty())
        partner.dtypeConfigs = std::move(own);
    if (partner.dtypeConfigs.empty())
        return fail(ErrorCode::NotFound,
                    "no entry says which dtypes " + made + " takes: add a pattern [" + made
                        + "] with dtype_configs");
    backend.patterns.push_back(std::move(partner));
    return backend;
}

Result<Backend> withFusion(Backend backend, const FusionChain& pattern)
{
    if (!findEntry(backend, fuses(pattern))) {
        const BackendPattern* shipped = findShipped(fuses(pattern));
        if (!shipped) {
            BackendPattern wanted;
            wanted.pattern = pattern;
            return fail(ErrorCode::NotFound,
                        "no shipped backend fuses (" + patternLine(wanted) + ")");
        }
        BackendPattern fusion;
        fusion.pattern = shipped->pattern;
        fusion.fusedModule = shipped->fusedModule;
        fusion.fuserMethod = shipped->fuserMethod;
        backend.patterns.push_back(std::move(fusion));
    }
    const BackendPattern fusion = *findEntry(backend, fuses(pattern));
    return withPartner(std::move(backend), fusion);
}

} // namespace qs
