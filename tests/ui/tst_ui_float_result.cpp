// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/configure/backend/target.h"
#include "tests/ui/real_engine.h"
#include "ui/panels/recipe/qconfig_editor.h"
#include "ui/session/workspace.h"

#include <QCheckBox>
#include <QtTest>

using namespace qs;

/// The switch "Float result" on the real engine's plans.
class TestFloatResult : public QObject
{
    Q_OBJECT

private:
    test::RealEngine m_engine;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<QConfigEditor> m_editor;

    QCheckBox& box() { return *m_editor->findChild<QCheckBox*>(QStringLiteral("floatResult")); }
    void select(const char* name)
    {
        m_workspace->selectNode(m_workspace->document().model()->tryFind(name)->id);
        m_editor->refresh();
    }
    bool isFloat(const char* name)
    {
        const auto& document = m_workspace->document();
        const NodeId node = document.model()->tryFind(name)->id;
        const NodePlan* decided = document.plan()->tryGet(*document.model(), node);
        return decided && decided->group >= 0
            && document.plan()->groups[std::size_t(decided->group)].floatResult;
    }
    void open(const Recipe& recipe)
    {
        m_workspace = std::make_unique<Workspace>(m_engine);
        m_editor = std::make_unique<QConfigEditor>(*m_workspace);
        m_workspace->pipeline().open(QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"),
                                     recipe);
        QTRY_VERIFY_WITH_TIMEOUT(
            m_workspace->document().plan() && !m_workspace->pipeline().isBusy(), 30000);
    }

private Q_SLOTS:
    void oneStepThereAndBack()
    {
        open(defaultRecipe());
        select("linear");
        QVERIFY(box().isEnabled() && !box().isChecked());
        box().click();
        QTRY_VERIFY(isFloat("linear"));
        m_editor->refresh();
        QVERIFY(box().isEnabled() && box().isChecked());
        QCOMPARE(m_workspace->undoStack().count(), 1);
        m_workspace->undoStack().undo();
        QTRY_VERIFY(!isFloat("linear"));
        QVERIFY(m_workspace->document().recipe() == defaultRecipe());
        m_workspace->undoStack().redo();
        QTRY_VERIFY(isFloat("linear"));
        m_editor->refresh();
        box().click();
        QTRY_VERIFY(!isFloat("linear"));
    }

    void onlyWhereThereIsOne()
    {
        open(defaultRecipe());
        select("add");
        QVERIFY(!box().isEnabled() && !box().isChecked());
    }

    void theRecipesOwnKeyDecides()
    {
        Recipe recipe = defaultRecipe();
        recipe.floatNeedless = true;
        open(recipe);
        select("linear"); // the model's result
        QVERIFY(isFloat("linear"));
        QVERIFY(box().isChecked() && !box().isEnabled());
        QVERIFY(box().toolTip().contains(QStringLiteral("needless_outputs")));
    }
};

QTEST_MAIN(TestFloatResult)
#include "tst_ui_float_result.moc"
