// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/corrected_shapes.h"
#include "engine/pipeline/stages/stage_store.h"

#include <unordered_map>
#include <unordered_set>

namespace qs {

struct CureExpansion;
using CureExpansionPtr = std::shared_ptr<const CureExpansion>;

/// The stages that run at most the first batch of the data: model ► edited ► plan.
class ModelStages : public StageStore
{
public:
    using StageStore::StageStore;

    Result<EditedModelPtr> edited(GraphPtr file, const Recipe& recipe,
                                  const JobContext& job) override;
    Result<void> savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                const RunSettings& settings, const std::string& path,
                                const JobContext& job) override;
    Result<void> saveModel(const GraphPtr& model, const Recipe& recipe, const RunSettings& settings,
                           const std::string& path, const JobContext& job) override;
    Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe,
                         const JobContext& job = {}) override;

    /// The model with element types from the calibration data's first batch, if its file does not
    /// state them (`withObservedTypes`), and with the shapes that an earlier calibration corrected;
    /// else the model itself. Errors: the data's.
    Result<GraphPtr> typed(GraphPtr model, const Recipe& recipe, const RunSettings& settings,
                           const JobContext& job);

    /// The model with shapes from the data's first batch, if its file does not state them
    /// (`withShapes`); else the model itself. Errors: the data's.
    Result<GraphPtr> shaped(GraphPtr model, const Recipe& recipe, const RunSettings& settings,
                            const JobContext& job);

    /// The rules that the recipe's cures become for that plan, by cure. Errors: `plan`'s.
    Result<CureExpansionPtr> cures(const GraphPtr& model, const Recipe& recipe,
                                   const JobContext& job = {});

protected:
    std::mutex m_shapesMutex;
    std::unordered_map<Key, std::vector<CorrectedShape>> m_corrected; ///< by `modelKey`
    std::unordered_set<std::string> m_notedShapes; ///< hashes of files that were noted

private:
    /// The edited model with the requested custom modules: attention in its quantizable form, each
    /// call of a pack's module as one node (`gatherModules`).
    Result<EditedModelPtr> gathered(EditedModelPtr edited, const Recipe& recipe);
    /// The edited model after the cures that change the model.
    Result<EditedModelPtr> cured(EditedModelPtr edited, const Recipe& recipe,
                                 const JobContext& job);
    /// The result of `edited` for that model, or for the model from which a run refined it; null if
    /// it was released.
    EditedModelPtr editedAs(const Graph& model);
    void rememberEdited(const EditedModelPtr& edited);

    std::mutex m_editedMutex;
    /// By the model's file and edits; the plan of a model keeps its edited model alive.
    std::unordered_map<Key, std::weak_ptr<const EditedModel>> m_edited;
};

} // namespace qs
