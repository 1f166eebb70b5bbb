// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/actions.h"

#include "ui/frame/action_icons.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

namespace qs {

namespace {

constexpr const char* kMenuProperty = "menuTitle";

} // namespace

QString Actions::menuOf(const QAction& action)
{
    return action.property(kMenuProperty).toString();
}

Actions::Actions(QMainWindow& window)
    : QObject(&window)
    , m_window(window)
{
    auto* file = addMenu(
        QStringLiteral("&File"),
        {{"open", "&Open model…", "Open a .pt2 or TorchScript model", "Ctrl+O", false},
         {"reload", "&Reload", "Read the model's file again", "F5", true},
         {"openRecipe", "Open re&cipe…", "Take the decisions of a recipe file", "Ctrl+Shift+O",
          true},
         {"saveProject", "&Save project…", "Write model, decisions and data to one file", "Ctrl+S",
          true},
         {"saveProjectAs", "Save project &as…", "Write the project to another file", "Ctrl+Alt+P",
          true},
         {"saveRecipe", "Save recip&e…", "Write the decisions to a recipe file", "Ctrl+Shift+S",
          true},
         {"saveNodeData", "Save &node data…",
          "Write every node's error as JSON that Model Explorer paints", "Ctrl+Alt+S", true},
         {"importNodeData", "&Import node data…",
          "Colour the nodes by what another program says of them", "Ctrl+Alt+O", true},
         {"saveGraph", "Save &graph…", "Write the whole graph as SVG, PDF or PNG", "Ctrl+Alt+E",
          true},
         {"saveEdited", "Save e&dited model…", "Write the edited float model as a .pt2",
          "Ctrl+Alt+M", true},
         {"savePicture", "Save &picture…", "Write the window as a PNG", "Ctrl+Shift+E", true},
         {"quit", "&Quit", "Close the window", "Ctrl+Q", false}});
    m_recent = new QMenu(QStringLiteral("Open r&ecent"), file);
    m_recent->setObjectName(QStringLiteral("recentMenu"));
    file->insertMenu(&(*this)["reload"], m_recent);
    file->insertSeparator(&(*this)["openRecipe"]);
    file->insertSeparator(&(*this)["quit"]);
    addMenu(QStringLiteral("&Edit"),
            {{"undo", "&Undo", "Take the last decision back", "Ctrl+Z", false},
             {"redo", "&Redo", "Make the decision again", "Ctrl+Shift+Z", false},
             {"find", "&Find…", "Find nodes by name, operator, module or error", "Ctrl+F", true},
             {"findNext", "Find &next", "Go to the next match", "F3", true},
             {"findPrevious", "Find p&revious", "Go to the match before", "Shift+F3", true},
             {"selectFound", "Select all &matches", "Select every match of the search",
              "Ctrl+Shift+F", true},
             {"styleFound", "St&yle matches…",
              "Give what the search finds a colour, a label or less detail", "Ctrl+Alt+F", true},
             {"bookmark", "&Bookmark", "Mark the selection to find it again, or take the mark away",
              "Ctrl+D", true},
             {"nextBookmark", "Next boo&kmark", "Go to the next marked node", "Ctrl+Shift+D", true},
             {"selectAll", "Select &all", "Select every operator", "Ctrl+A", true},
             {"selectNone", "Select n&one", "Clear the selection", "Escape", true}});
    m_viewMenu = addMenu(
        QStringLiteral("&View"),
        {{"zoomIn", "Zoom &in", "Show the graph larger", "Ctrl++; Ctrl+=; Shift+Up", true},
         {"zoomOut", "Zoom &out", "Show the graph smaller", "Ctrl+-; Shift+Down", true},
         {"zoomReset", "&Actual size", "Show the graph at 100 %", "Shift+Backspace", true},
         {"fit", "&Fit", "Show the whole graph; Space does so in the graph", "Ctrl+0", true},
         {"reveal", "&Go to selection", "Bring the selection into view", "G", true},
         {"worst", "Next &worst node",
          "Select the next node in the order of what is born at each, the worst first", "N", true},
         {"better", "&Previous worst node",
          "Select the node before in the order of what is born at each", "Shift+N", true}});
    addMenu(QStringLiteral("&Graph"),
            {{"expand", "&Unfold selection", "Show what is inside the module", "Ctrl+Right", true},
             {"collapse", "&Fold selection", "Show the module as one node", "Ctrl+Left", true},
             {"expandAll", "Unfold &all", "Show every operator", "Ctrl+Shift+Right", true},
             {"foldAll", "F&old all", "Show the outermost modules only", "Ctrl+Shift+Left", true},
             {"expandRepeats", "Unfold all &repeats",
              "Unfold the module and every block that is the same again, or fold them all",
              "Ctrl+Alt+Right", true},
             {"traceBefore", "Show what leads &here",
              "Let only what the selection is computed from stand out", "U", true},
             {"traceAfter", "Show what &follows",
              "Let only what is computed from the selection stand out", "D", true},
             {"formFloat", "&Float form", "Show the model as it was opened", "Ctrl+Alt+1", true},
             {"formPrepared", "&Prepared form", "Show the model with its observers", "Ctrl+Alt+2",
              true},
             {"formReference", "Re&ference form",
              "Show the model with every quantize-dequantize pair", "Ctrl+Alt+3", true},
             {"formLowered", "&Lowered form", "Show the model with its integer kernels",
              "Ctrl+Alt+4", true},
             {"splitForms", "&Two forms", "Show two forms side by side", "Ctrl+Alt+5", true},
             {"lookInside", "Look &inside", "Show the bodies of a branch, loop, region or cell",
              "Ctrl+Down", true},
             {"lookOutside", "Look &outside", "Go back from a body to what is around it", "Ctrl+Up",
              true},
             {"nextNode", "Go &down", "Select what reads the node", "Alt+Down", true},
             {"previousNode", "Go u&p", "Select what the node reads", "Alt+Up", true},
             {"nextEdge", "Next &edge",
              "Look at the next edge of the node: what it reads, then what reads it", "E", true},
             {"previousEdge", "Previous e&dge", "Look at the edge of the node before", "Shift+E",
              true}});
    addMenu(
        QStringLiteral("&Recipe"),
        {{"assign", "&Assign…", "Give the selection, its module, its type or its repeats a qconfig",
          "A", true},
         {"cycle", "&Cycle precision", "Selection: by rule, float, backend's default", "Q", true},
         {"keepFloat", "Keep &float by rule",
          "Give the selection's operators a rule that keeps them in float; narrower rules inside "
          "still count",
          "Shift+Q", true},
         {"clearRule", "Clear &rules", "Take the selection's own rules away", "Ctrl+Backspace",
          true},
         {"newQConfig", "&New qconfig…", "Make a named qconfig and use it", "Ctrl+Shift+N", true},
         {"leafModule", "Leave module out (&leaf)",
          "Leave the whole module out of quantization: nothing inside is fused, observed or "
          "quantized, whatever the rules are",
          "Ctrl+Shift+L", true},
         {"onlyModule", "Quantize &only this module", "Keep everything outside the module in float",
          "Ctrl+Shift+M", true},
         {"wrapModule", "&Wrap as one node",
          "Show the module or method as one node; its own operators stay float, the modules inside "
          "follow their rules",
          "Ctrl+Shift+W", true},
         {"applyRemedy", "Apply &suggestion", "Do what the plan suggests for the node",
          "Ctrl+Shift+A", true},
         {"backend", "&Backend…", "Choose the hardware target", "Ctrl+Shift+B", true},
         {"editBackend", "E&dit backend…",
          "Change the target's patterns, dtypes, constraints and fusions", "Ctrl+Alt+B", true},
         {"replacements", "Re&placements…",
          "See what preparing puts in the place of operators, and keep some as they are",
          "Ctrl+Alt+T", true},
         {"lowering", "&Lowering table…", "Choose which kernels operators become", "Ctrl+L", true},
         {"packs", "E&xtension packs…", "Load operators, patterns and kernels of your own",
          "Ctrl+Shift+X", false}});
    addMenu(QStringLiteral("&Change"),
            {{"insertAfter", "&Insert after…",
              "Put an operator behind the node, for all its readers or one", "Insert", true},
             {"insertOnInput", "Insert &before…", "Put an operator on one input of the node",
              "Shift+Insert", true},
             {"removeNode", "Re&move", "Take the operator out; its readers get what it read",
              "Delete", true},
             {"replaceNode", "&Replace…", "Put another operator in its place", "Ctrl+H", true},
             {"replaceEvery", "Replace e&very…",
              "Put another operator in the place of all of its kind", "Ctrl+Shift+H", true},
             {"setArguments", "&Arguments…", "Change literal arguments", "Ctrl+I", true},
             {"rewireInput", "F&eed an input…", "Let the node read another value", "Ctrl+Shift+I",
              true},
             {"duplicateNode", "D&uplicate…", "Compute the value once more, for one reader",
              "Ctrl+Shift+U", true},
             {"renameNode", "Re&name…", "Give the operator another name", "F2", true},
             {"makeOutput", "Make it an &output", "Let the model return the node's value too",
              "Ctrl+Alt+U", true},
             {"dropOutput", "&Drop an output…", "Let the model return one value less", "Ctrl+Alt+D",
              true},
             {"loadConstant", "&Load constant…",
              "Put the numbers of a .npy file into a parameter, buffer or constant", "Ctrl+Alt+L",
              true},
             {"foldConstants", "&Fold constants",
              "Compute what depends on stored tensors alone once and for all", "Ctrl+Alt+K", true},
             {"extractSelection", "E&xtract selection",
              "Let the selected operators alone be the model", "Ctrl+Alt+X", true},
             {"savePartData", "Save the &part's data…",
              "Run the whole model and keep what the inputs of the extracted part get",
              "Ctrl+Alt+Y", true}});
    addMenu(
        QStringLiteral("R&un"),
        {{"plan", "&Plan", "Decide again who is quantized", "Ctrl+P", true},
         {"calibrate", "&Calibrate…", "Choose data and device, then observe", "Ctrl+B", true},
         {"convert", "Con&vert", "Make the int8 model", "Ctrl+T", true},
         {"compare", "C&ompare", "Measure what every layer loses", "Ctrl+M", true},
         {"againstOriginal", "Compare a&gainst the original",
          "Measure against the file's model, before the edits of its graph", "Ctrl+Alt+G", true},
         {"export", "&Export…", "Write the int8 model", "Ctrl+E", true},
         {"verify", "Ver&ify exports…",
          "Run the exports in the runtimes they are for, and certify them", "Ctrl+Shift+V", false},
         {"runAll", "Run &all", "Calibrate, convert and compare", "Ctrl+R", true},
         {"compareAfterEach", "Co&mpare after each decision",
          "After each decision all data are compared again, by themselves", "Ctrl+Alt+C", true},
         {"keepRun", "&Keep result…", "Keep the current result under a name of your own",
          "Ctrl+Alt+R", true},
         {"switchRun", "&Switch run",
          "Show the next of the runs that are side by side in every view", "B", true},
         {"leaveRun", "Current res&ult", "Show the current result again, in place of a run",
          "Shift+B", true},
         {"cancel", "&Cancel", "Stop what is running", "Ctrl+.", false}});
    addMenu(
        QStringLiteral("&Window"),
        {{"showModules", "&Modules", "Show or hide the left panel", "Ctrl+1", false},
         {"showProperties", "&Properties", "Show or hide the right panel", "Ctrl+Return", false},
         {"showBottom", "&Plots", "Show or hide the lower panel", "Ctrl+2", false},
         {"showRecipe", "&Recipe text", "Read and edit the recipe as text, with its history",
          "Ctrl+3", true},
         {"showCode", "C&ode", "Show the code of two forms side by side", "Ctrl+4", true},
         {"showFindings", "F&indings", "Show what the planner found", "Ctrl+5", true},
         {"showEdits", "Gra&ph edits", "Show what was changed in the model's graph", "Ctrl+7",
          true},
         {"showForms", "Sim&ulated and real",
          "Show how far the lowered form is from the reference form, node by node", "Ctrl+8", true},
         {"showRuns", "R&uns", "Show the results that were kept, side by side", "Ctrl+Shift+R",
          true},
         {"showStyles", "&Styles", "Show the rules by which nodes get colours and labels", "Ctrl+6",
          true},
         {"nextPanel", "&Next panel", "Give the keyboard to the next panel", "F6", false},
         {"previousPanel", "Pr&evious panel", "Give the keyboard to the panel before", "Shift+F6",
          false},
         {"fullScreen", "&Full screen", "Use the whole screen", "F11", false}});
    for (const char* name :
         {"compareAfterEach", "showModules", "showProperties", "showBottom", "fullScreen"})
        (*this)[name].setCheckable(true);
    for (const char* name : {"showModules", "showProperties", "showBottom"})
        (*this)[name].setChecked(true);
    addMenu(QStringLiteral("&Help"),
            {{"palette", "&Commands…", "Find a command by a few letters and do it", "Ctrl+Shift+P",
              false},
             {"help", "&Help", "Explain what the keyboard or the pointer is on", "F1", false},
             {"guide", "&First steps", "Show or hide the list of first steps", "Ctrl+F1", false},
             {"keys", "&Keys", "List the keys and what they do", "Ctrl+Shift+K", false},
             {"about", "&About Quantscope", "Version and licences", "Shift+F1", false}});
    (*this)["againstOriginal"].setCheckable(true);
    (*this)["keepFloat"].setIcon(floatRuleIcon());
    (*this)["leafModule"].setIcon(leafIcon());
    (*this)["wrapModule"].setIcon(wrapIcon());
    setModelOpen(false);
}

QMenu* Actions::addMenu(const QString& title, std::initializer_list<Spec> specs)
{
    auto* menu = m_window.menuBar()->addMenu(title);
    menu->setToolTipsVisible(true);
    for (const auto& spec : specs) {
        auto* action = menu->addAction(QString::fromUtf8(spec.text));
        action->setObjectName(QString::fromLatin1(spec.name));
        action->setToolTip(QString::fromUtf8(spec.tip));
        action->setStatusTip(QString());
        action->setShortcuts(QKeySequence::listFromString(QString::fromLatin1(spec.keys)));
        m_window.addAction(action);
        action->setProperty(kMenuProperty, QString(title).remove(QLatin1Char('&')));
        m_actions[action->objectName()] = action;
        m_all << action;
        if (spec.needsModel)
            m_needModel << action;
    }
    return menu;
}

QAction& Actions::operator[](const char* name) const
{
    auto* action = m_actions.value(QString::fromLatin1(name));
    Q_ASSERT(action);
    return *action;
}

void Actions::setModelOpen(bool open)
{
    for (auto* action : m_needModel)
        action->setEnabled(open);
}

} // namespace qs
