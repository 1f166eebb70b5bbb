// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/outline.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"
#include "engine/io/npz.h"
#include "engine/pipeline/stage_chain.h"
#include "tests/support/deep_model.h"

#include <filesystem>
#include <functional>

namespace qs::test {

/// The stages of a deep model, from its file to its exports, each as a function that fails if it is
/// cancelled. Later stages use the results of earlier ones.
class StageWalk
{
public:
    using Stage = std::function<Result<void>(const JobContext&)>;

    /// Writes the model and its data into the folder, which must exist.
    StageWalk(int blocks, std::string folder)
        : m_deep(blocks)
        , m_folder(std::move(folder))
        , m_settings {at("x.npz"), {}, "cpu"}
        , m_recipe(m_deep.recipe)
    {
        m_recipe.calibration.batchSize = 2;
        std::vector<NpyArray> arrays {npyFrom("x", std::vector<float>(8 * 8, 0.5f))};
        arrays.front().shape = {8, 8};
        must(writeNpz(arrays, at("x.npz")));
        must(savePt2(*m_deep.graph, at("m.pt2"), {}));
    }

    /// The names of the stages in order, with the names of the export forms. "verify" verifies the
    /// ONNX export.
    static std::vector<std::string> names()
    {
        std::vector<std::string> all {"open", "plan", "outline", "calibrate", "convert", "compare"};
        for (const std::string& form : exportForms())
            all.push_back(form);
        all.emplace_back("verify");
        return all;
    }

    /// Returns the stage of that name, one of `names`.
    Stage stage(const std::string& name)
    {
        if (name == "open")
            return [this](const JobContext& job) { return done(importModel(at("m.pt2"), job)); };
        if (name == "plan")
            return [this](const JobContext& job) {
                return done(StageChain().plan(m_deep.graph, m_recipe, job));
            };
        if (name == "outline")
            return [this](const JobContext& job) {
                return done(outlineConversion(m_deep.graph, m_deep.plan, m_recipe, job));
            };
        if (name == "calibrate")
            return [this](const JobContext& job) {
                return kept(
                    m_seen,
                    StageChain().calibrate({m_deep.graph, m_deep.plan, m_recipe, m_settings}, job));
            };
        if (name == "convert")
            return [this](const JobContext& job) {
                return kept(m_converted, StageChain().convert({m_seen, m_recipe, m_settings}, job));
            };
        if (name == "compare")
            return [this](const JobContext& job) {
                return kept(m_compared,
                            StageChain().compare({m_seen, m_converted, m_recipe, m_settings}, job));
            };
        if (name == "verify")
            return [this](const JobContext& job) { return verified(job); };
        return [this, name](const JobContext& job) { return exported(name, at(name), job); };
    }

    Result<void> exported(const std::string& form, const std::string& folder,
                          const JobContext& job) const
    {
        ExportRequest request;
        request.calibration = m_seen;
        request.converted = m_converted;
        request.comparison = m_compared;
        request.recipe = m_recipe;
        request.settings = m_settings;
        request.forms = {form};
        request.folder = folder;
        return done(StageChain().exportTo(request, job));
    }

    std::string at(const std::string& name) const
    {
        return (std::filesystem::path(m_folder) / name).string();
    }
    const DeepModel& deep() const { return m_deep; }
    const Recipe& recipe() const { return m_recipe; }
    const CalibrationPtr& seen() const { return m_seen; }
    const ConvertedPtr& converted() const { return m_converted; }

    template<class T>
    static void must(const Result<T>& result)
    {
        if (!result)
            throw std::runtime_error(result.error().line());
    }

private:
    template<class T>
    static Result<void> done(const Result<T>& result)
    {
        if (!result)
            return fail(result.error());
        return {};
    }
    template<class T>
    static Result<void> kept(T& value, Result<T> result)
    {
        if (result)
            value = *result;
        return done(result);
    }

    Result<void> verified(const JobContext& job) const
    {
        QS_TRY(StoredRun stored, readStoredRun(at("onnx"), job));
        return done(StageChain().verify({m_converted,
                                         std::move(stored),
                                         m_settings.calibrationData,
                                         {},
                                         {"onnxruntime"},
                                         false},
                                        job));
    }

    DeepModel m_deep;
    std::string m_folder;
    RunSettings m_settings;
    Recipe m_recipe;
    CalibrationPtr m_seen;
    ConvertedPtr m_converted;
    ComparisonPtr m_compared;
};

} // namespace qs::test
