// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/export/documents/result_writer.h"
#include "engine/graph/graph_edit.h"
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"

#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

/// The model with another recorded shape of one value.
GraphPtr recording(const GraphPtr& model, const std::string& node, std::vector<Dim> shape)
{
    GraphEdit edit(*model);
    edit.change(model->tryFind(node)->id).outputs.at(0).type.shape = std::move(shape);
    return std::make_shared<const Graph>(edit.build());
}

std::vector<Dim> shapeOf(const GraphPtr& graph, const std::string& node)
{
    return graph->tryFind(node)->outputs.at(0).type.shape;
}

/// The first operator with this name whose result has so many dimensions.
std::string named(const Graph& graph, const std::string& start, std::size_t rank)
{
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && node->name.starts_with(start)
            && node->outputs.at(0).type.shape.size() == rank)
            return node->name;
    return {};
}

} // namespace

/// Shapes that a file records wrong: what the calibration's data show takes their place.
class TestCorrectedShapes : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_model;
    Recipe m_recipe = defaultRecipe();
    RunSettings m_settings {QS_SOURCE_DIR "/resources/samples/calib.npz", {}, "cpu"};
    std::vector<std::string> m_notes;
    std::string m_relu;

    CalibrationPtr calibrated(StageChain& chain, const GraphPtr& model)
    {
        const auto plan = chain.plan(model, m_recipe);
        const auto made = plan ? chain.calibrate({model, *plan, m_recipe, m_settings}, {})
                               : Result<CalibrationPtr>(fail(plan.error()));
        if (!made)
            qFatal("%s", made.error().line().c_str());
        return *made;
    }

private Q_SLOTS:
    void initTestCase()
    {
        m_model = *importModel(QS_SOURCE_DIR "/resources/samples/digits.pt2");
        m_recipe.calibration.batches = 2;
        m_relu = named(*m_model, "relu", 4);
        QVERIFY(!m_relu.empty());
        setLogSink([this](LogLevel, const std::string& text) {
            if (text.find("wrong shape") != std::string::npos)
                m_notes.push_back(text);
        });
    }

    void init() { m_notes.clear(); }

    void theDataCorrectThemAndOneNoteReportsIt()
    {
        const std::vector<Dim> right = shapeOf(m_model, m_relu);
        QVERIFY(right.at(0).isSymbolic());
        std::vector<Dim> wrong {Dim::fixed(2), Dim::fixed(1), Dim::fixed(3), right.at(0)};
        const GraphPtr model = recording(m_model, m_relu, wrong);
        StageChain chain;
        const CalibrationPtr calibration = calibrated(chain, model);
        const GraphPtr seen = calibration->prepared->model;
        QCOMPARE(shapeOf(seen, m_relu), right);
        for (const NodePtr& node : m_model->nodes())
            for (std::size_t i = 0; i < node->outputs.size(); ++i)
                QVERIFY2(seen->get(node->id).outputs[i] == node->outputs[i], node->name.c_str());
        QCOMPARE(m_notes.size(), std::size_t(1));
        const ValueType recorded = model->tryFind(m_relu)->outputs[0].type;
        const ValueType observed = m_model->tryFind(m_relu)->outputs[0].type;
        QCOMPARE(m_notes.at(0),
                 "the file records a wrong shape: of '" + m_relu + "' " + recorded.text()
                     + " instead of " + observed.text() + ", which the data show; corrected");

        // What was corrected stays so, whatever is decided, and is not noted again.
        m_recipe.calibration.batches = 3;
        QCOMPARE(shapeOf(calibrated(chain, model)->prepared->model, m_relu), right);
        m_recipe.calibration.batches = 2;
        QCOMPARE(calibrated(chain, seen)->key, calibration->key);
        QCOMPARE(m_notes.size(), std::size_t(1));
        // Scales are those of the file without the error.
        StageChain other;
        const CalibrationPtr sound = calibrated(other, m_model);
        QCOMPARE(sound->prepared->model, m_model);
        for (const auto& [id, params] : sound->qparams)
            QCOMPARE(calibration->qparams.at(id).scale, params.scale);
    }

    void documentsKeepThem()
    {
        const GraphPtr model = recording(m_model, m_relu, {Dim::fixed(3), Dim::fixed(5)});
        StageChain chain;
        const CalibrationPtr calibration = calibrated(chain, model);
        const auto converted = chain.convert({calibration, m_recipe, m_settings}, {});
        QVERIFY2(converted, converted ? "" : converted.error().line().c_str());
        QTemporaryDir folder;
        ExportRequest request;
        request.calibration = calibration;
        request.converted = *converted;
        request.recipe = m_recipe;
        request.settings = m_settings;
        request.folder = folder.path().toStdString() + "/out";
        const auto written = chain.exportTo(request, {});
        QVERIFY2(written, written ? "" : written.error().line().c_str());
        const auto document = ResultDocument::fromText(written->document);
        QVERIFY(document);
        const auto corrected = correctedShapesOf(*model, *document);
        QVERIFY(corrected);
        QCOMPARE(corrected->size(), std::size_t(1));
        QCOMPARE(shapeOf(withCorrectedShapes(model, *corrected), m_relu), shapeOf(m_model, m_relu));

        // An earlier run's result brings them along, without a run and without a note.
        m_notes.clear();
        StageChain later;
        const auto stored = readStoredRun(request.folder);
        QVERIFY(stored);
        const auto plan = later.plan(model, m_recipe);
        const auto taken = later.adopt({model, *plan, m_recipe, m_settings}, *stored, {});
        QVERIFY2(taken, taken ? "" : taken.error().line().c_str());
        QCOMPARE(*taken, std::string());
        QCOMPARE(shapeOf(calibrated(later, model)->prepared->model, m_relu),
                 shapeOf(m_model, m_relu));
        QVERIFY2(m_notes.empty(), m_notes.empty() ? "" : m_notes.front().c_str());
    }

    void aSoundFileIsNotRunAgain()
    {
        StageChain chain;
        const CalibrationPtr calibration = calibrated(chain, m_model);
        QCOMPARE(calibration->prepared->model, m_model);
        QVERIFY(correctedShapesText(m_model->info()).empty());
        QVERIFY2(m_notes.empty(), m_notes.empty() ? "" : m_notes.front().c_str());
    }

    void cleanupTestCase() { setLogSink({}); }
};

QTEST_GUILESS_MAIN(TestCorrectedShapes)
#include "tst_corrected_shapes.moc"
