// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/actions.h"

#include "ui/frame/action_icons.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>

#include <string_view>
#include <utility>

namespace qs {

namespace {

/// How a command is called, and which keys it has.
struct ActionSpec
{
    ActionId id;
    const char* name; ///< its object name: tests and settings find it by this
    const char* text;
    const char* tip;
    const char* keys;
    bool needsModel;
};

struct ActionTable
{
    using enum ActionId;
    static constexpr auto kRows = std::to_array<ActionSpec>({
        {Open, "open", "&Open model…", "Open a .pt2 or TorchScript model", "Ctrl+O", false},
        {Reload, "reload", "&Reload", "Read the model's file again", "F5", true},
        {OpenRecipe, "openRecipe", "Open re&cipe…", "Take the decisions of a recipe file",
         "Ctrl+Shift+O", true},
        {SaveProject, "saveProject", "&Save project…",
         "Write model, decisions and data to one file", "Ctrl+S", true},
        {SaveProjectAs, "saveProjectAs", "Save project &as…", "Write the project to another file",
         "Ctrl+Alt+P", true},
        {SaveRecipe, "saveRecipe", "Save recip&e…", "Write the decisions to a recipe file",
         "Ctrl+Shift+S", true},
        {SaveNodeData, "saveNodeData", "Save &node data…",
         "Write every node's error as JSON that Model Explorer paints", "Ctrl+Alt+S", true},
        {ImportNodeData, "importNodeData", "&Import node data…",
         "Colour the nodes by what another program says of them", "Ctrl+Alt+O", true},
        {SaveGraph, "saveGraph", "Save &graph…", "Write the whole graph as SVG, PDF or PNG",
         "Ctrl+Alt+E", true},
        {SaveEdited, "saveEdited", "Save e&dited model…", "Write the edited float model as a .pt2",
         "Ctrl+Alt+M", true},
        {SavePicture, "savePicture", "Save &picture…", "Write the window as a PNG", "Ctrl+Shift+E",
         true},
        {Quit, "quit", "&Quit", "Close the window", "Ctrl+Q", false},

        {Undo, "undo", "&Undo", "Take the last decision back", "Ctrl+Z", false},
        {Redo, "redo", "&Redo", "Make the decision again", "Ctrl+Shift+Z", false},
        {Find, "find", "&Find…", "Find nodes by name, operator, module or error", "Ctrl+F", true},
        {FindNext, "findNext", "Find &next", "Go to the next match", "F3", true},
        {FindPrevious, "findPrevious", "Find p&revious", "Go to the match before", "Shift+F3",
         true},
        {SelectFound, "selectFound", "Select all &matches", "Select every match of the search",
         "Ctrl+Shift+F", true},
        {StyleFound, "styleFound", "St&yle matches…",
         "Give what the search finds a colour, a label or less detail", "Ctrl+Alt+F", true},
        {Bookmark, "bookmark", "&Bookmark",
         "Mark the selection to find it again, or take the mark away", "Ctrl+D", true},
        {NextBookmark, "nextBookmark", "Next boo&kmark", "Go to the next marked node",
         "Ctrl+Shift+D", true},
        {SelectAll, "selectAll", "Select &all", "Select every operator", "Ctrl+A", true},
        {SelectNone, "selectNone", "Select n&one", "Clear the selection", "Escape", true},

        {ZoomIn, "zoomIn", "Zoom &in", "Show the graph larger", "Ctrl++; Ctrl+=; Shift+Up", true},
        {ZoomOut, "zoomOut", "Zoom &out", "Show the graph smaller", "Ctrl+-; Shift+Down", true},
        {ZoomReset, "zoomReset", "&Actual size", "Show the graph at 100 %", "Shift+Backspace",
         true},
        {Fit, "fit", "&Fit", "Show the whole graph; Space does so in the graph", "Ctrl+0", true},
        {Reveal, "reveal", "&Go to selection", "Bring the selection into view", "G", true},
        {Worst, "worst", "Next &worst node",
         "Select the next node in the order of what is born at each, the worst first", "N", true},
        {Better, "better", "&Previous worst node",
         "Select the node before in the order of what is born at each", "Shift+N", true},

        {Expand, "expand", "&Unfold selection", "Show what is inside the module", "Ctrl+Right",
         true},
        {Collapse, "collapse", "&Fold selection", "Show the module as one node", "Ctrl+Left", true},
        {ExpandAll, "expandAll", "Unfold &all", "Show every operator", "Ctrl+Shift+Right", true},
        {FoldAll, "foldAll", "F&old all", "Show the outermost modules only", "Ctrl+Shift+Left",
         true},
        {ExpandRepeats, "expandRepeats", "Unfold all &repeats",
         "Unfold the module and every block that is the same again, or fold them all",
         "Ctrl+Alt+Right", true},
        {TraceBefore, "traceBefore", "Show what leads &here",
         "Let only what the selection is computed from stand out", "U", true},
        {TraceAfter, "traceAfter", "Show what &follows",
         "Let only what is computed from the selection stand out", "D", true},
        {FormFloat, "formFloat", "&Float form", "Show the model as it was opened", "Ctrl+Alt+1",
         true},
        {FormPrepared, "formPrepared", "&Prepared form", "Show the model with its observers",
         "Ctrl+Alt+2", true},
        {FormReference, "formReference", "Re&ference form",
         "Show the model with every quantize-dequantize pair", "Ctrl+Alt+3", true},
        {FormLowered, "formLowered", "&Lowered form", "Show the model with its integer kernels",
         "Ctrl+Alt+4", true},
        {SplitForms, "splitForms", "&Two forms", "Show two forms side by side", "Ctrl+Alt+5", true},
        {LookInside, "lookInside", "Look &inside",
         "Show the bodies of a branch, loop, region or cell", "Ctrl+Down", true},
        {LookOutside, "lookOutside", "Look &outside", "Go back from a body to what is around it",
         "Ctrl+Up", true},
        {NextNode, "nextNode", "Go &down", "Select what reads the node", "Alt+Down", true},
        {PreviousNode, "previousNode", "Go u&p", "Select what the node reads", "Alt+Up", true},
        {NextEdge, "nextEdge", "Next &edge",
         "Look at the next edge of the node: what it reads, then what reads it", "E", true},
        {PreviousEdge, "previousEdge", "Previous e&dge", "Look at the edge of the node before",
         "Shift+E", true},

        {Assign, "assign", "&Assign…",
         "Give the selection, its module, its type or its repeats a qconfig", "A", true},
        {Cycle, "cycle", "&Cycle precision", "Selection: by rule, float, backend's default", "Q",
         true},
        {KeepFloat, "keepFloat", "Keep &float by rule",
         "Give the selection's operators a rule that keeps them in float; narrower rules inside "
         "still count",
         "Shift+Q", true},
        {ClearRule, "clearRule", "Clear &rules", "Take the selection's own rules away",
         "Ctrl+Backspace", true},
        {NewQConfig, "newQConfig", "&New qconfig…", "Make a named qconfig and use it",
         "Ctrl+Shift+N", true},
        {LeafModule, "leafModule", "Leave module out (&leaf)",
         "Leave the whole module out of quantization: nothing inside is fused, observed or "
         "quantized, whatever the rules are",
         "Ctrl+Shift+L", true},
        {OnlyModule, "onlyModule", "Quantize &only this module",
         "Keep everything outside the module in float", "Ctrl+Shift+M", true},
        {WrapModule, "wrapModule", "&Wrap as one node",
         "Show the module or method as one node; its own operators stay float, the modules inside "
         "follow their rules",
         "Ctrl+Shift+W", true},
        {ApplyRemedy, "applyRemedy", "Apply &suggestion", "Do what the plan suggests for the node",
         "Ctrl+Shift+A", true},
        {Backend, "backend", "&Backend…", "Choose the hardware target", "Ctrl+Shift+B", true},
        {EditBackend, "editBackend", "E&dit backend…",
         "Change the target's patterns, dtypes, constraints and fusions", "Ctrl+Alt+B", true},
        {Replacements, "replacements", "Re&placements…",
         "See what preparing puts in the place of operators, and keep some as they are",
         "Ctrl+Alt+T", true},
        {Lowering, "lowering", "&Lowering table…", "Choose which kernels operators become",
         "Ctrl+L", true},
        {Packs, "packs", "E&xtension packs…", "Load operators, patterns and kernels of your own",
         "Ctrl+Shift+X", false},

        {InsertAfter, "insertAfter", "&Insert after…",
         "Put an operator behind the node, for all its readers or one", "Insert", true},
        {InsertOnInput, "insertOnInput", "Insert &before…",
         "Put an operator on one input of the node", "Shift+Insert", true},
        {RemoveNode, "removeNode", "Re&move", "Take the operator out; its readers get what it read",
         "Delete", true},
        {ReplaceNode, "replaceNode", "&Replace…", "Put another operator in its place", "Ctrl+H",
         true},
        {ReplaceEvery, "replaceEvery", "Replace e&very…",
         "Put another operator in the place of all of its kind", "Ctrl+Shift+H", true},
        {SetArguments, "setArguments", "&Arguments…", "Change literal arguments", "Ctrl+I", true},
        {RewireInput, "rewireInput", "F&eed an input…", "Let the node read another value",
         "Ctrl+Shift+I", true},
        {DuplicateNode, "duplicateNode", "D&uplicate…",
         "Compute the value once more, for one reader", "Ctrl+Shift+U", true},
        {RenameNode, "renameNode", "Re&name…", "Give the operator another name", "F2", true},
        {MakeOutput, "makeOutput", "Make it an &output",
         "Let the model return the node's value too", "Ctrl+Alt+U", true},
        {DropOutput, "dropOutput", "&Drop an output…", "Let the model return one value less",
         "Ctrl+Alt+D", true},
        {LoadConstant, "loadConstant", "&Load constant…",
         "Put the numbers of a .npy file into a parameter, buffer or constant", "Ctrl+Alt+L", true},
        {FoldConstants, "foldConstants", "&Fold constants",
         "Compute what depends on stored tensors alone once and for all", "Ctrl+Alt+K", true},
        {ExtractSelection, "extractSelection", "E&xtract selection",
         "Let the selected operators alone be the model", "Ctrl+Alt+X", true},
        {SavePartData, "savePartData", "Save the &part's data…",
         "Run the whole model and keep what the inputs of the extracted part get", "Ctrl+Alt+Y",
         true},

        {Plan, "plan", "&Plan", "Decide again who is quantized", "Ctrl+P", true},
        {Calibrate, "calibrate", "&Calibrate…", "Choose data and device, then observe", "Ctrl+B",
         true},
        {Convert, "convert", "Con&vert", "Make the int8 model", "Ctrl+T", true},
        {Compare, "compare", "C&ompare", "Measure what every layer loses", "Ctrl+M", true},
        {AgainstOriginal, "againstOriginal", "Compare a&gainst the original",
         "Measure against the file's model, before the edits of its graph", "Ctrl+Alt+G", true},
        {Export, "export", "&Export…", "Write the int8 model", "Ctrl+E", true},
        {Verify, "verify", "Ver&ify exports…",
         "Run the exports in the runtimes they are for, and certify them", "Ctrl+Shift+V", false},
        {RunAll, "runAll", "Run &all", "Calibrate, convert and compare", "Ctrl+R", true},
        {CompareAfterEach, "compareAfterEach", "Co&mpare after each decision",
         "After each decision all data are compared again, by themselves", "Ctrl+Alt+C", true},
        {KeepRun, "keepRun", "&Keep result…", "Keep the current result under a name of your own",
         "Ctrl+Alt+R", true},
        {SwitchRun, "switchRun", "&Switch run",
         "Show the next of the runs that are side by side in every view", "B", true},
        {LeaveRun, "leaveRun", "Current res&ult",
         "Show the current result again, in place of a run", "Shift+B", true},
        {Cancel, "cancel", "&Cancel", "Stop what is running", "Ctrl+.", false},

        {ShowModules, "showModules", "&Modules", "Show or hide the left panel", "Ctrl+1", false},
        {ShowProperties, "showProperties", "&Properties", "Show or hide the right panel",
         "Ctrl+Return", false},
        {ShowBottom, "showBottom", "&Plots", "Show or hide the lower panel", "Ctrl+2", false},
        {ShowRecipe, "showRecipe", "&Recipe text",
         "Read and edit the recipe as text, with its history", "Ctrl+3", true},
        {ShowCode, "showCode", "C&ode", "Show the code of two forms side by side", "Ctrl+4", true},
        {ShowFindings, "showFindings", "F&indings", "Show what the planner found", "Ctrl+5", true},
        {ShowEdits, "showEdits", "Gra&ph edits", "Show what was changed in the model's graph",
         "Ctrl+7", true},
        {ShowForms, "showForms", "Sim&ulated and real",
         "Show how far the lowered form is from the reference form, node by node", "Ctrl+8", true},
        {ShowRuns, "showRuns", "R&uns", "Show the results that were kept, side by side",
         "Ctrl+Shift+R", true},
        {ShowStyles, "showStyles", "&Styles",
         "Show the rules by which nodes get colours and labels", "Ctrl+6", true},
        {NextPanel, "nextPanel", "&Next panel", "Give the keyboard to the next panel", "F6", false},
        {PreviousPanel, "previousPanel", "Pr&evious panel", "Give the keyboard to the panel before",
         "Shift+F6", false},
        {FullScreen, "fullScreen", "&Full screen", "Use the whole screen", "F11", false},

        {Palette, "palette", "&Commands…", "Find a command by a few letters and do it",
         "Ctrl+Shift+P", false},
        {Help, "help", "&Help", "Explain what the keyboard or the pointer is on", "F1", false},
        {Guide, "guide", "&First steps", "Show or hide the list of first steps", "Ctrl+F1", false},
        {Keys, "keys", "&Keys", "List the keys and what they do", "Ctrl+Shift+K", false},
        {About, "about", "&About Quantscope", "Version and licences", "Shift+F1", false},
    });
};
constexpr const auto& kActionSpecs = ActionTable::kRows;

/// Whether each command has its row, at its place, under a name of its own.
constexpr bool isWholeTable()
{
    for (std::size_t i = 0; i < kActionSpecs.size(); ++i) {
        if (kActionSpecs[i].id != ActionId(i))
            return false;
        for (std::size_t other = 0; other < i; ++other)
            if (std::string_view(kActionSpecs[i].name) == kActionSpecs[other].name)
                return false;
    }
    return kActionSpecs.size() == kActionCount;
}
static_assert(isWholeTable());

/// A menu reaches up to the first command of the next.
constexpr std::pair<ActionId, const char*> kMenus[]
    = {{ActionId::Open, "&File"},     {ActionId::Undo, "&Edit"},
       {ActionId::ZoomIn, "&View"},   {ActionId::Expand, "&Graph"},
       {ActionId::Assign, "&Recipe"}, {ActionId::InsertAfter, "&Change"},
       {ActionId::Plan, "R&un"},      {ActionId::ShowModules, "&Window"},
       {ActionId::Palette, "&Help"}};

QAction& addAction(QMenu& menu, const ActionSpec& spec)
{
    QAction& action = *menu.addAction(QString::fromUtf8(spec.text));
    action.setObjectName(QString::fromLatin1(spec.name));
    action.setToolTip(QString::fromUtf8(spec.tip));
    action.setShortcuts(QKeySequence::listFromString(QString::fromLatin1(spec.keys)));
    return action;
}

QMenu& menuAround(const QAction& action)
{
    return *qobject_cast<QMenu*>(action.parent());
}

} // namespace

QString Actions::menuOf(const QAction& action)
{
    return menuAround(action).title().remove(QLatin1Char('&'));
}

Actions::Actions(QMainWindow& window)
    : QObject(&window)
{
    for (const auto* menu = std::begin(kMenus); menu != std::end(kMenus); ++menu) {
        QMenu& shown = *window.menuBar()->addMenu(QString::fromUtf8(menu->second));
        shown.setToolTipsVisible(true);
        const auto* next = menu + 1;
        const std::size_t end = next == std::end(kMenus) ? kActionCount : std::size_t(next->first);
        for (std::size_t i = std::size_t(menu->first); i < end; ++i) {
            m_all[i] = &addAction(shown, kActionSpecs[i]);
            window.addAction(m_all[i]);
        }
    }
    const Actions& a = *this;
    QMenu& file = menuAround(a[ActionId::Open]);
    m_recent = new QMenu(QStringLiteral("Open r&ecent"), &file);
    m_recent->setObjectName(QStringLiteral("recentMenu"));
    file.insertMenu(&a[ActionId::Reload], m_recent);
    file.insertSeparator(&a[ActionId::OpenRecipe]);
    file.insertSeparator(&a[ActionId::Quit]);
    for (const ActionId id :
         {ActionId::AgainstOriginal, ActionId::CompareAfterEach, ActionId::FullScreen,
          ActionId::Guide, ActionId::LeafModule, ActionId::OnlyModule, ActionId::WrapModule})
        a[id].setCheckable(true);
    for (const ActionId id : kPanelActions) {
        a[id].setCheckable(true);
        a[id].setChecked(true);
    }
    a[ActionId::KeepFloat].setIcon(floatRuleIcon());
    a[ActionId::LeafModule].setIcon(leafIcon());
    a[ActionId::WrapModule].setIcon(wrapIcon());
    setModelOpen(false);
}

QMenu& Actions::viewMenu() const
{
    return menuAround(*m_all[std::size_t(ActionId::ZoomIn)]);
}

void Actions::setModelOpen(bool open)
{
    for (const ActionSpec& spec : kActionSpecs)
        if (spec.needsModel)
            (*this)[spec.id].setEnabled(open);
}

} // namespace qs
