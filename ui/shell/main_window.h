// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/workspace.h"

#include <QMainWindow>

class QLabel;
class QStackedWidget;
class QTabWidget;

namespace qs {

class Actions;
class Commands;
class EmptyState;
class ErrorBarPlot;
class Finder;
class FindingsPanel;
class GraphPane;
class LogPanel;
class MessageBar;
class ModulePanel;
class PipelineBar;
class PropertyPanel;
class StylePanel;
class VerdictList;

/// The window: pipeline on top, modules left, graph in the middle over the plots, properties right.
/// It wires the views to the workspace and holds no state of its own. GUI thread only.
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
    QTabWidget& bottomTabs() { return *m_bottom; }
    Finder& finder() { return *m_finder; }
    Actions& actions() { return *m_actions; }
    Commands& commands() { return *m_commands; }
    /// Opens a model, or a project with the model, recipe and data that it names. A recipe given
    /// here replaces the default one.
    void openModel(const QString& path, const Recipe& recipe = defaultRecipe());
    /// Calibration data that the opened project names; empty for a model.
    const QString& projectData() const { return m_projectData; }
    /// Puts a widget below the verdicts.
    void addToLeft(QWidget* widget);
    /// Brings a tab of the lower panel to the front, by its object name.
    void showTab(const char* objectName);
    /// Which panels are shown; only with a model.
    void applyPanels();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    QWidget* buildCentre();
    QWidget* buildBottom();
    void showFindingsCount(int count);
    void wire();
    /// Selects what a person wants to see first after a stage, unless they chose already.
    void showFirst(Stage stage);
    void refreshTitle();
    void onFailure(Stage stage, const Error& error);

    Workspace m_workspace;
    QString m_projectData;
    Actions* m_actions;
    PipelineBar* m_pipelineBar;
    MessageBar* m_messages;
    GraphPane* m_graph;
    EmptyState* m_empty;
    QStackedWidget* m_stack;
    ModulePanel* m_modules;
    VerdictList* m_verdicts;
    PropertyPanel* m_properties;
    ErrorBarPlot* m_errors = nullptr;
    Finder* m_finder;
    FindingsPanel* m_findings = nullptr;
    StylePanel* m_styles = nullptr;
    LogPanel* m_log = nullptr;
    QTabWidget* m_bottom = nullptr;
    QWidget* m_left = nullptr;
    QLabel* m_cornerTitle;
    Commands* m_commands = nullptr;
};

} // namespace qs
