// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"

#include <QMainWindow>

class QStackedWidget;
class QTabWidget;
class QVBoxLayout;

namespace qs {

class Actions;
class Commands;
class ElidedLabel;
class EmptyState;
class ErrorBarPlot;
class Finder;
class FindingsPanel;
class GraphPane;
class GroupedTabs;
class Autosave;
class GraphEditor;
class SavedViews;
struct WindowStyle;
class LogPanel;
class MessageBar;
class ModulePanel;
class PackOffer;
class PipelineBar;
class ProjectFiles;
class PropertyPanel;
class ResultStrip;
class RunLibrary;
class StylePanel;
class VerdictList;

/// The window: pipeline on top, modules left, graph in the middle over the plots, properties right.
/// It wires the views to the workspace and holds no other state. GUI thread only.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(EngineService& engine, QWidget* parent = nullptr);
    ~MainWindow() override;

    Workspace& workspace() { return m_workspace; }
    GraphPane& graphPane() { return *m_graph; }
    ModulePanel& modulePanel() { return *m_modules; }
    PropertyPanel& propertyPanel() { return *m_properties; }
    VerdictList& verdictList() { return *m_verdicts; }
    ErrorBarPlot& errorPlot() { return *m_errors; }
    PipelineBar& pipelineBar() { return *m_pipelineBar; }
    MessageBar& messageBar() { return *m_messages; }
    LogPanel& logPanel() { return *m_log; }
    FindingsPanel& findings() { return *m_findings; }
    StylePanel& styles() { return *m_styles; }
    QTabWidget& bottomTabs();
    Finder& finder() { return *m_finder; }
    SavedViews& savedViews() { return *m_views; }
    Actions& actions() { return *m_actions; }
    GraphEditor& graphEditor() { return *m_editor; }
    Commands& commands() { return *m_commands; }
    /// Opens a model, a project or a result folder (`ProjectFiles::open`) without a question about
    /// unsaved decisions.
    void openModel(const QString& path, const Recipe& recipe = defaultRecipe());
    Autosave& autosave() { return *m_autosave; }
    ProjectFiles& projects() { return *m_projects; }
    RunLibrary& runs() { return *m_runs; }
    PackOffer& packs() { return *m_packs; }
    /// The default size, reduced to fit on the screen together with the window's frame.
    static QSize firstSize(const QSize& available, const QMargins& frame);
    /// Files opened later are not added to the recent files: for screenshots and scripts.
    void keepNoRecent() { m_keepsRecent = false; }
    bool keepsRecent() const { return m_keepsRecent; }
    /// Puts a widget below the verdicts.
    void addToLeft(QWidget* widget);
    /// Brings a tab of the lower panel to the front, by its object name.
    void showTab(const char* objectName);
    /// Shows and hides panels by their actions; without a model all are hidden.
    void applyPanels();
    /// Stores colours and text size in the settings and rebuilds all views with them from the event
    /// loop. Keeps model, results, selection, undo, the graph's view and saved views, panels and
    /// their sizes, and the log. Invalidates pointers to views, actions and panels.
    void changeStyle(const WindowStyle& style);

protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void build();
    void tearDown();
    void remake();
    QWidget* buildCentre();
    QWidget* buildLeft(QWidget* parent);
    QWidget* buildBottom();
    /// Gives the graph half of the window's height, and its view without controls at least
    /// `kLeastGraph`. If that leaves too little for the pages below, only their tabs stay.
    void shareHeight();
    /// Gives the pages below the graph room if only their tabs are shown.
    void openBottom();
    void wireWorkspace();
    void wireViews();
    void placeTitle();
    /// Shows the written exports, with a button that runs them in their runtimes.
    void offerToVerify();
    void showFirst(Stage stage);
    void refreshTitle();
    void onFailure(Stage stage, const Error& error);

    Workspace m_workspace;
    GraphEditor* m_editor;
    Actions* m_actions = nullptr;
    PipelineBar* m_pipelineBar = nullptr;
    ResultStrip* m_results = nullptr;
    MessageBar* m_messages = nullptr;
    GraphPane* m_graph = nullptr;
    EmptyState* m_empty = nullptr;
    QStackedWidget* m_stack = nullptr;
    ModulePanel* m_modules = nullptr;
    VerdictList* m_verdicts = nullptr;
    PropertyPanel* m_properties = nullptr;
    ErrorBarPlot* m_errors = nullptr;
    Finder* m_finder = nullptr;
    FindingsPanel* m_findings = nullptr;
    StylePanel* m_styles = nullptr;
    LogPanel* m_log = nullptr;
    GroupedTabs* m_bottom = nullptr;
    QWidget* m_left = nullptr;
    QVBoxLayout* m_leftColumn = nullptr; ///< in the scroll area below the tree
    ElidedLabel* m_cornerTitle = nullptr;
    QWidget* m_corner = nullptr;
    Commands* m_commands = nullptr;
    SavedViews* m_views = nullptr;
    ProjectFiles* m_projects = nullptr;
    RunLibrary* m_runs = nullptr;
    PackOffer* m_packs = nullptr;
    Autosave* m_autosave = nullptr;
    QString m_cancelled; ///< last message of the status bar about a cancel
    bool m_keepsRecent = true;
    bool m_sharesHeight = true; ///< the user has not moved the divider below the graph
    QSize m_firstSize; ///< chosen before the frame was known; empty afterwards
};

} // namespace qs
