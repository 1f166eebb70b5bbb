// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error_scale.h"
#include "engine/configure/resource_folder.h"
#include "engine/export/report/report_pictures.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/help/about_dialog.h"
#include "ui/panels/recipe/qconfig_box.h"
#include "ui/session/workspace.h"
#include "ui/shell/empty_state.h"
#include "ui/shell/from_python.h"
#include "ui/style/theme.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QtTest>

using namespace qs;

/// The start page, About, and the list of qconfigs.
class TestStart : public test::WindowTest<test::RealEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }
    void cleanup() { m_window.reset(); }

    /// What is shown is the file that tests/cli/test_start_page.py runs; the button copies it
    /// whole.
    void everySnippetCanBeCopied()
    {
        auto* page = find<FromPython>("fromPython");
        QVERIFY(page && page->isVisible());
        auto* pages = page->findChild<QTabWidget*>();
        const auto snippets = pythonSnippets();
        QCOMPARE(snippets.size(), std::size_t(4));
        QCOMPARE(pages->count(), 4);
        for (int i = 0; i < pages->count(); ++i) {
            const PythonSnippet& snippet = snippets[std::size_t(i)];
            pages->setCurrentIndex(i);
            QFile file(
                QStringLiteral(QS_SOURCE_DIR "/resources/export/snippets/%1").arg(snippet.file));
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QString whole = QString::fromUtf8(file.readAll());
            QCOMPARE(whole.section(u'\n', 1), snippet.code);
            auto* shown
                = page->findChild<QPlainTextEdit*>(QStringLiteral("code_%1").arg(snippet.id));
            QVERIFY(shown->isVisible());
            QCOMPARE(shown->toPlainText(), snippet.code.trimmed());
            auto* copy = page->findChild<QPushButton*>(QStringLiteral("copy_%1").arg(snippet.id));
            QApplication::clipboard()->clear();
            copy->setFocus();
            QTest::keyClick(copy, Qt::Key_Space);
            QCOMPARE(QApplication::clipboard()->text(), snippet.code);
        }
    }

    void everySampleOpens()
    {
        auto* empty = find<EmptyState>("emptyState");
        QSignalSpy wanted(empty, &EmptyState::fileWanted);
        QCOMPARE(sampleModels().size(), std::size_t(3));
        QCOMPARE(samplePath(), sampleModels().front().path);
        for (const char* name : {"digits", "sequences", "shapes"}) {
            auto* button = find<QPushButton>(
                qPrintable(QStringLiteral("sample_%1").arg(QLatin1String(name))));
            QVERIFY2(button && button->isVisible() && !button->toolTip().isEmpty(), name);
        }
        disconnect(empty, nullptr, m_window.get(), nullptr);
        find<QPushButton>("sample_shapes")->click();
        QCOMPARE(wanted.size(), 1);
        QVERIFY(wanted[0][0].toString().endsWith(QLatin1String("samples/shapes.pt2")));
    }

    void aboutNamesVersionsAndLicences()
    {
        m_window->actions()[ActionId::About].trigger();
        auto* dialog = find<AboutDialog>("aboutDialog");
        QVERIFY(dialog && dialog->isVisible());
        const QString versions = AboutDialog::versions();
        for (const char* what : {"Quantscope: ", "Build: ", "LibTorch: 2.", "CUDA: ", "Qt: 6."})
            QVERIFY2(versions.contains(QLatin1String(what)), qPrintable(versions));
        auto* parts = dialog->findChild<QTreeWidget*>(QStringLiteral("aboutParts"));
        auto* text = dialog->findChild<QTextBrowser*>(QStringLiteral("aboutLicence"));
        QVERIFY(parts->topLevelItemCount() > 10);
        for (int i = 0; i < parts->topLevelItemCount(); ++i) {
            auto* item = parts->topLevelItem(i);
            parts->setCurrentItem(item);
            QVERIFY2(text->toPlainText().size() > 400, qPrintable(item->text(0)));
            QVERIFY2(!item->text(1).isEmpty(), qPrintable(item->text(0)));
        }
        QTest::keyClick(dialog, Qt::Key_Escape);
        QTRY_VERIFY(!find<AboutDialog>("aboutDialog"));
    }

    /// Light and dark, the report has the window's colours.
    void theReportHasTheWindowsColours()
    {
        QFile page(QString::fromStdString((resourceFolder() / "report/page.html").string()));
        QVERIFY(page.open(QFile::ReadOnly));
        const auto css = QString::fromUtf8(page.readAll()).split("@media(prefers");
        const QString light = css.at(0) + QString::fromStdString(scaleRules(false));
        const QString dark = css.at(1) + QString::fromStdString(scaleRules(true));
        for (const auto& [part, colours] :
             {std::pair(light, Theme::light()), {dark, Theme::darkTheme()}})
            for (const QColor& colour :
                 {colours.panel, colours.window, colours.border, colours.text, colours.muted,
                  colours.accent, colours.accentSoft, colours.histogram, colours.frame})
                QVERIFY2(part.contains(colour.name()), qPrintable(colour.name()));
        for (const double badness : {0.0, 1.0}) {
            QVERIFY(light.contains(QString::fromStdString(hexColour(cividis(badness, false)))));
            QVERIFY(dark.contains(QString::fromStdString(hexColour(cividis(badness, true)))));
        }
        QCOMPARE(cividis(0.0).name(),
                 QString::fromStdString(hexColour(cividis(0.0, theme().dark))));
    }

    void qconfigsAreGrouped()
    {
        m_window->openModel(samplePath());
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 30000);
        workspace().selectNode(node("conv2d"));
        auto* box = find<QConfigBox>("qconfigBox");
        QTRY_VERIFY(box->isEnabled());
        box->showPopup();
        QStringList headings, recommended;
        for (int i = 0; i < box->count(); ++i) {
            if (box->kindAt(i) == QConfigBox::Kind::Heading && !box->itemText(i).isEmpty())
                headings << box->itemText(i);
            else if (box->kindAt(i) == QConfigBox::Kind::Named) {
                QVERIFY2(!headings.isEmpty(), qPrintable(box->itemText(i)));
                QVERIFY2(!box->itemData(i, Qt::UserRole + 2).toString().isEmpty(),
                         qPrintable(box->itemText(i)));
                if (headings.size() == 1)
                    recommended << box->itemText(i);
            }
        }
        box->hidePopup();
        QCOMPARE(headings.size(), 4);
        QCOMPARE(recommended, QStringList {QStringLiteral("x86")});
        const auto placeOf = [box](const char* name) {
            return box->findText(QLatin1String(name), Qt::MatchExactly);
        };
        QVERIFY(placeOf("onednn") < placeOf("float16_static")); // compatible before the others
        QVERIFY(placeOf("float16_static") < placeOf("x86_qat")); // training separately
        QVERIFY(box->itemData(placeOf("float16_static"), Qt::ToolTipRole)
                    .toString()
                    .contains(QLatin1String("quint8")));
        QVERIFY(!box->itemData(placeOf("x86"), Qt::ToolTipRole).toString().isEmpty());
        // Choosing by key is one step, and a heading is not a choice.
        box->setFocus();
        box->setCurrentIndex(placeOf("onednn"));
        Q_EMIT box->activated(placeOf("onednn"));
        QTRY_COMPARE(workspace().document().recipe().mapping.rules.back().qconfig.name,
                     std::string("onednn"));
        const auto before = workspace().document().recipe();
        const int heading = box->findText(headings.front());
        Q_EMIT box->activated(heading);
        QCOMPARE(workspace().document().recipe(), before);
    }
};

QTEST_MAIN(TestStart)
#include "tst_ui_start.moc"
