// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/keys_window.h"
#include "ui/frame/actions.h"
#include "ui/help/help_topics.h"
#include "ui/help/help_window.h"
#include "ui/models/palette_model.h"
#include "ui/panels/verdict_list.h"
#include "ui/shell/actions/command_palette.h"

#include <QDir>
#include <QFileInfo>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSet>
#include <QStandardPaths>
#include <QTextBlock>
#include <QTextBrowser>

using namespace qs;

/// The guide in the window: by place, by term, by link.
class TestHelp : public test::KeysWindow
{
    Q_OBJECT

private:
    static bool isThere(const QString& place)
    {
        const HelpTopic* topic = findHelpTopic(place);
        const QString anchor = place.section(QLatin1Char('#'), 1);
        return topic && (anchor.isEmpty() || topic->hasSection(anchor));
    }
    void findTerm(const QString& term, const QString& place);
    /// The first heading or line that a help window shows at its top.
    static QString topLine(const HelpWindow& help)
    {
        auto* text = help.findChild<QTextBrowser*>(QStringLiteral("helpText"));
        return text->cursorForPosition({20, 20}).block().text();
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { start(); }
    void cleanup() { m_window.reset(); }
    void everyTopicIsComplete();
    void helpKnowsThePlace();
    void everyPlaceIsThere();
    void everyLinkLeads();
    void pagesFitTheirWindow();
    void termsAreFound();
    void aKeyOfTheRecipeIsExplained_data();
    void aKeyOfTheRecipeIsExplained();
    void dialogsAreExplained();
    void helpGoesBack();
    void helpFindsAndFollowsLinks();
};

void TestHelp::everyTopicIsComplete()
{
    QSet<QString> ids;
    for (const auto& topic : helpTopics()) {
        QVERIFY2(!ids.contains(topic.id), qPrintable(topic.id));
        ids << topic.id;
        QVERIFY2(topic.text.size() > 80 && topic.text.endsWith(QLatin1Char('.')),
                 qPrintable(topic.id));
        QVERIFY2(!topic.title.isEmpty() && !topic.section.isEmpty(), qPrintable(topic.id));
        QVERIFY2(topic.summary().size() > 20, qPrintable(topic.id));
        QVERIFY2(!topic.related.empty(), qPrintable(topic.id));
        for (const QString& other : topic.related)
            QVERIFY2(findHelpTopic(other) && other != topic.id, qPrintable(topic.id + other));
    }
    for (const char* wanted :
         {"observer", "qscheme", "verdict", "comparison-and-error-terms", "pattern-and-fusion",
          "prepared-reference-and-lowered-form", "backend", "qconfig", "calibration", "rule"})
        QVERIFY2(ids.contains(QString::fromLatin1(wanted)), wanted);
}

void TestHelp::helpKnowsThePlace()
{
    openModel();
    m_window->verdictList().setFocus();
    press(Qt::Key_F1);
    auto* help = find<HelpWindow>("helpWindow");
    QVERIFY(help && help->isVisible());
    QVERIFY(find<QTextBrowser>("helpText")->toPlainText().startsWith(QStringLiteral("Verdict")));
    QCOMPARE(helpPlaceAt(find<QWidget>("qconfigBox")), QStringLiteral("qconfig"));
    QCOMPARE(helpPlaceAt(find<QWidget>("histogramPlot")), QStringLiteral("histogram"));
    QVERIFY(helpPlaceAt(m_window.get()).isEmpty());
    int named = 0;
    for (const QWidget* widget : m_window->findChildren<QWidget*>())
        if (const QString place = helpPlaceOfName(widget->objectName()); !place.isEmpty()) {
            QVERIFY2(isThere(place), qPrintable(place));
            ++named;
        }
    QVERIFY(named > 10);
}

/// Of all names, of dialogs too.
void TestHelp::everyPlaceIsThere()
{
    for (const char* name :
         {"backendDialog",   "entryForm",      "entryPattern",    "entryQat",
          "dtypeConfigs",    "dtypeInput",     "quantMinWeight",  "scaleMinInput",
          "zeroPointOutput", "loweringDialog", "loweringKernel",  "qconfigDialog",
          "editDialog",      "cardEdge",       "recipePanel",     "pythonPages",
          "verifyDialog",    "exportDialog",   "calibrateDialog", "replacementsDialog",
          "packsDialog",     "runsPanel"}) {
        const QString place = helpPlaceOfName(QString::fromLatin1(name));
        QVERIFY2(!place.isEmpty() && isThere(place), qPrintable(name + (": " + place)));
    }
}

void TestHelp::everyLinkLeads()
{
    static const QRegularExpression link(QStringLiteral(R"(\]\(([^)\s]+)\))"));
    for (const HelpTopic& topic : helpTopics())
        for (auto it = link.globalMatch(topic.text); it.hasNext();) {
            const QString target = it.next().captured(1);
            const QString place = helpPlaceOfLink(topic, target);
            const QString file = target.section(QLatin1Char('#'), 0, 0);
            QVERIFY2(place.isEmpty() ? target.contains(QLatin1String("://"))
                             || QFileInfo::exists(QDir(topic.folder).filePath(file))
                                     : isThere(place),
                     qPrintable(topic.id + QStringLiteral(": ") + target));
        }
}

/// Nothing stands beyond the right edge.
void TestHelp::pagesFitTheirWindow()
{
    HelpWindow help(m_window.get());
    help.show();
    QVERIFY(QTest::qWaitForWindowExposed(&help));
    auto* text = help.findChild<QTextBrowser*>(QStringLiteral("helpText"));
    for (const HelpTopic& topic : helpTopics()) {
        help.showTopic(topic.id);
        QCOMPARE(text->horizontalScrollBar()->maximum(), 0);
        QVERIFY2(text->document()->size().width() <= text->viewport()->width(),
                 qPrintable(topic.id));
    }
}

/// Typed whole, a term is among the first in the palette; its place opens with the term marked.
void TestHelp::findTerm(const QString& term, const QString& place)
{
    m_window->actions()[ActionId::Palette].trigger();
    auto* palette = find<CommandPalette>("commandPalette");
    auto* field = find<QLineEdit>("paletteField");
    QTest::keyClicks(field, term);
    int row = 0; // a term may stand in several tables
    const auto fits = [&] {
        const QString text = palette->model().item(row).text;
        for (const HelpTerm& one : helpTerms())
            if (text == QStringLiteral("Help: ") + one.text && one.place.startsWith(place))
                return true;
        return false;
    };
    while (row < 4 && !fits()) {
        QTest::keyClick(field, Qt::Key_Down);
        ++row;
    }
    QVERIFY2(row < 4, qPrintable(term + QStringLiteral(": ") + palette->model().item(0).text));
    QTest::keyClick(field, Qt::Key_Return);
    auto* help = find<HelpWindow>("helpWindow");
    QTRY_VERIFY(help && help->isVisible());
    auto* text = help->findChild<QTextBrowser*>(QStringLiteral("helpText"));
    QCOMPARE(text->extraSelections().size(), 1);
    const QTextCursor mark = text->extraSelections().first().cursor;
    QVERIFY2(mark.selectedText().contains(term), qPrintable(mark.selectedText()));
    QTRY_VERIFY2(text->viewport()->rect().contains(text->cursorRect(mark).center()),
                 qPrintable(term));
}

void TestHelp::termsAreFound()
{
    const std::pair<const char*, const char*> terms[] = {
        {"prepare_fx", "coming-from-torch-ao"},
        {"convert_fx", "coming-from-torch-ao"},
        {"convert_to_reference_fx", "coming-from-torch-ao"},
        {"prepare_qat_fx", "coming-from-torch-ao"},
        {"PrepareCustomConfig", "coming-from-torch-ao"},
        {"non_traceable_module_name", "coming-from-torch-ao"},
        {"from_observed", "coming-from-torch-ao"},
        {"STATIC_LOWER_FUSED_MODULE_MAP", "coming-from-torch-ao"},
        {"_lower_to_native_backend", "coming-from-torch-ao"},
        {"qconfig_map", "coming-from-torch-ao"},
        {"node_name_to_scope", "coming-from-torch-ao"},
        {"march", "coming-from-torch-ao"},
        {"qconfig_setter", "coming-from-torch-ao"},
        {"fx_wrap", "coming-from-torch-ao"},
        {"FloatFunctional", "coming-from-torch-ao"},
        {"hybrid", "coming-from-torch-ao"},
        {"DeQuantStub", "coming-from-torch-ao"},
        {"X86InductorQuantizer", "coming-from-torch-ao"},
        {"DTypeConfig", "coming-from-torch-ao"},
        {"BackendConfig", "coming-from-torch-ao"},
        {"fuse_fx", "coming-from-torch-ao"},
        {"scale_min_lower_bound", "backend-file#patterns0dtype_configs0input_dtypescale"},
        {"num_tensor_args_to_observation_type", "backend-file#patterns0num_tensor"},
        {"module_name_object_type_order", "recipe-keys#mappingmodule_name_object"},
        {"reduce_range", "recipe-keys#qconfigsnameactivationreduce_range"},
        {"replace_every", "recipe-keys#kinds-of-edits"},
        {"lowering.add", "recipe-keys#convertloweringadd"},
    };
    openModel();
    for (const auto& [term, place] : terms) {
        findTerm(QString::fromLatin1(term), QString::fromLatin1(place));
        if (QTest::currentTestFailed())
            return;
    }
}

void TestHelp::aKeyOfTheRecipeIsExplained_data()
{
    QTest::addColumn<QString>("word");
    QTest::addColumn<QString>("heading");
    QTest::newRow("the file") << "{"
                              << "Recipe keys";
    QTest::newRow("a key") << "\"module_name\""
                           << "mapping.module_name";
    QTest::newRow("in a list") << "head"
                               << "mapping.module_name";
    QTest::newRow("a qconfig of one's own") << "own"
                                            << "qconfigs.NAME";
    QTest::newRow("an observer") << "quint8"
                                 << "qconfigs.NAME.activation.dtype";
    QTest::newRow("of a weight") << "per_tensor_symmetric"
                                 << "qconfigs.NAME.activation.qscheme";
    QTest::newRow("lowering") << "torch.nn.Linear"
                              << "convert.lowering.remove";
}

void TestHelp::aKeyOfTheRecipeIsExplained()
{
    QFETCH(QString, word);
    QFETCH(QString, heading);
    openModel();
    m_window->showTab("recipePanel");
    auto* text = find<QPlainTextEdit>("recipeText");
    text->setPlainText(QStringLiteral(
        "{\n  \"format\": \"quantscope.recipe\", \"version\": 1,\n  \"qconfigs\": {\"own\": {\n"
        "    \"activation\": {\"observer\": \"minmax\", \"dtype\": \"quint8\"},\n"
        "    \"weight\": {\"observer\": \"minmax\", \"qscheme\": \"per_tensor_symmetric\"}}},\n"
        "  \"mapping\": {\n    \"global\": \"x86\",\n"
        "    \"module_name\": [[\"head\", null]]\n  },\n"
        "  \"convert\": {\"lowering\": {\"remove\": [{\"patter\": [\"torch.nn.Linear\"]}]}}"));
    QTextCursor at = text->document()->find(word);
    QVERIFY(!at.isNull());
    at.setPosition(at.selectionStart() + 1);
    text->setTextCursor(at);
    text->setFocus();
    press(Qt::Key_F1);
    auto* help = find<HelpWindow>("helpWindow");
    QTRY_VERIFY(help && help->isVisible());
    QTRY_COMPARE(topLine(*help), heading);
}

/// F1 in a dialog that keeps the window waiting explains the field; the help can be used meanwhile.
void TestHelp::dialogsAreExplained()
{
    openModel();
    const auto explained = [&](ActionId id, const char* widget, const QString& heading) {
        m_window->actions()[id].trigger();
        QTRY_VERIFY(QApplication::activeModalWidget());
        auto* dialog = QApplication::activeModalWidget();
        auto* field = dialog->findChild<QWidget*>(QString::fromLatin1(widget));
        QVERIFY2(field, widget);
        field->setFocus();
        QTest::keyClick(field, Qt::Key_F1);
        auto* help = dialog->findChild<HelpWindow*>();
        QVERIFY2(help && help->isVisible(), widget);
        QTRY_COMPARE(topLine(*help), heading);
        auto* search = help->findChild<QLineEdit*>(QStringLiteral("helpField"));
        search->setFocus();
        QTest::keyClicks(search, QStringLiteral("DTypeConfig"));
        QCOMPARE(search->text(), QStringLiteral("DTypeConfig"));
        help->close();
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!QApplication::activeModalWidget());
    };
    explained(ActionId::Lowering, "loweringTable", QStringLiteral("Lowering rows"));
    explained(ActionId::Lowering, "loweringKernel", QStringLiteral("convert.lowering.add[0].to"));
    explained(ActionId::EditBackend, "backendEntries", QStringLiteral("patterns"));
    explained(ActionId::EditBackend, "entryPattern", QStringLiteral("patterns[0].pattern"));
    explained(ActionId::EditBackend, "scaleMinInput",
              QStringLiteral("patterns[0].dtype_configs[0].input_dtype.scale_min_lower_bound"));
}

void TestHelp::helpGoesBack()
{
    HelpWindow help(m_window.get());
    help.show();
    help.showTopic(QStringLiteral("backend-file#patterns0pattern"));
    help.showTopic(QStringLiteral("sqnr"));
    auto* back = help.findChild<QPushButton*>(QStringLiteral("helpBack"));
    QTest::mouseClick(back, Qt::LeftButton);
    QTRY_COMPARE(topLine(help), QStringLiteral("patterns[0].pattern"));
    QTest::mouseClick(back, Qt::LeftButton);
    QVERIFY(!back->isEnabled());
    QTRY_COMPARE(topLine(help), helpTopics().front().title);
}

void TestHelp::helpFindsAndFollowsLinks()
{
    HelpWindow help(m_window.get());
    help.show();
    help.showTopic(QStringLiteral("sqnr"));
    auto* text = help.findChild<QTextBrowser*>(QStringLiteral("helpText"));
    auto* list = help.findChild<QListWidget*>(QStringLiteral("helpTopics"));
    QVERIFY(text->toPlainText().contains(QStringLiteral("10 log10")));
    Q_EMIT text->anchorClicked(QUrl(QStringLiteral("#comparison-and-error-terms")));
    QVERIFY(text->toPlainText().contains(QStringLiteral("born here")));
    QVERIFY(!text->toPlainText().contains(QStringLiteral("10 log10")));
    Q_EMIT text->anchorClicked(QUrl(QStringLiteral("recipe-keys.md#precedence")));
    QVERIFY(text->toPlainText().contains(QStringLiteral("module_name_regex")));
    QVERIFY(text->verticalScrollBar()->value() > 0);
    QTest::keyClicks(help.findChild<QLineEdit*>(QStringLiteral("helpField")),
                     QStringLiteral("zero point"));
    int shown = 0;
    for (int row = 0; row < list->count(); ++row)
        shown += !list->item(row)->isHidden();
    QVERIFY(shown > 1 && shown < list->count());
    QVERIFY(!list->currentItem()->isHidden());
}

QTEST_MAIN(TestHelp)
#include "tst_ui_help.moc"
