// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/atomic_file.h"
#include "engine/base/sha256.h"
#include "engine/configure/edit_text.h"
#include "engine/correct/correct_layers.h"
#include "engine/pipeline/tune/tune_search.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

/// The layers with quantized weights that the wanted cures may change, by address.
std::vector<std::pair<NodeId, ValueAddress>>
correctable(const TuneSearch& search, const TrialModel& model, const std::vector<CureKind>& kinds)
{
    std::vector<std::pair<NodeId, ValueAddress>> layers;
    for (const PlannedObserver& observer : model.calibration->prepared->plan->observers) {
        const NodeId layer = observer.weightOwner;
        if (!observer.isWeight || !search.request().file->tryGet(layer))
            continue;
        Cure cure;
        cure.at = search.addresses().of({layer, 0});
        const bool isAllowed = std::all_of(kinds.begin(), kinds.end(), [&](CureKind kind) {
            cure.kind = kind;
            return search.isAllowed(cure);
        });
        if (cure.at.kind != ValueAddress::Kind::None && isAllowed)
            layers.emplace_back(layer, cure.at);
    }
    return layers;
}

/// Writes an .npz into the folder of the recipe's numbers, named after its content; returns its
/// path and hash.
Result<std::pair<std::string, std::string>>
keepNumbers(const std::string& folder, const std::vector<NpyArray>& arrays, const JobContext& job)
{
    constexpr std::size_t kNameLength = 16;
    QS_TRY(const std::string bytes, npzBytes(arrays, job));
    Sha256 hash;
    hash.update(bytes.data(), bytes.size());
    const std::string sha256 = hash.hex();
    const std::string path
        = (std::filesystem::path(folder) / (sha256.substr(0, kNameLength) + ".npz")).string();
    QS_CHECK(ensureWritableFolder(folder));
    QS_CHECK(writeFileAtomically(path, bytes));
    return std::pair {path, sha256};
}

/// The cure of a kind for the layers that have its numbers; empty without one.
std::optional<Cure> cureOf(CureKind kind, const std::vector<LayerNumbers>& layers,
                           const std::vector<ValueAddress>& addresses)
{
    std::optional<Cure> cure;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (kind == CureKind::Round ? !layers[i].steps : !layers[i].shift)
            continue;
        if (cure) {
            cure->nodes.push_back(addresses[i]);
            continue;
        }
        cure.emplace();
        cure->kind = kind;
        cure->at = addresses[i];
    }
    return cure;
}

} // namespace

Result<void> tryRounding(TuneSearch& search)
{
    std::vector<CureKind> kinds;
    for (const CureKind kind : {CureKind::Round, CureKind::Bias})
        if (search.isAllowed(kind))
            kinds.push_back(kind);
    if (kinds.empty() || search.request().numbers.empty())
        return {};
    const Trial base = search.best();
    QS_TRY(const TrialModel model, search.modelOf(base));
    const auto layers = correctable(search, model, kinds);
    if (layers.empty())
        return {};
    CorrectionOptions options;
    options.round = search.isAllowed(CureKind::Round);
    options.shift = search.isAllowed(CureKind::Bias);
    options.samples = search.request().samples;
    for (const auto& [layer, address] : layers)
        options.layers.push_back(layer);
    auto corrected = search.corrected(model, options);
    if (!corrected && corrected.error().code != ErrorCode::Cancelled) { // as for a sequence
        search.state().notes.push_back("weights are not rounded: " + corrected.error().message);
        return {};
    }
    QS_TRY(const Corrections made, std::move(corrected));
    std::vector<LayerNumbers> numbers;
    std::vector<ValueAddress> addresses;
    std::vector<NpyArray> arrays;
    for (const CorrectedLayer& layer : made.layers) {
        const auto found = std::find_if(layers.begin(), layers.end(), [&](const auto& one) {
            return one.first == layer.numbers.layer;
        });
        numbers.push_back(layer.numbers);
        addresses.push_back(found->second);
        for (NpyArray& array : layerArrays(addressText(found->second), layer.numbers))
            arrays.push_back(std::move(array));
    }
    if (arrays.empty())
        return {};
    QS_TRY(const auto file, keepNumbers(search.request().numbers, arrays, search.job()));
    Trial trial = base;
    trial.stage = cureKindName(CureKind::Round);
    trial.predictedDb.reset();
    for (const CureKind kind : kinds)
        if (auto cure = cureOf(kind, numbers, addresses)) {
            std::tie(cure->file, cure->sha256) = file;
            trial.cures.push_back(std::move(*cure));
        }
    QS_CHECK(search.attempt(std::move(trial)));
    return {};
}

} // namespace qs
