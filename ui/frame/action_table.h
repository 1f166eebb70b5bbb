// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/frame/action_id.h"

#include <QCoreApplication>

#include <array>
#include <string_view>
#include <utility>

namespace qs {

/// The texts and shortcut of a command.
struct ActionSpec
{
    ActionId id;
    const char* name; ///< object name, which identifies it in tests and settings
    const char* text;
    const char* tip;
    const char* keys;
    bool needsModel;
};

struct ActionTable
{
    Q_DECLARE_TR_FUNCTIONS(ActionTable)

public:
    using enum ActionId;
    static constexpr auto kRows = std::to_array<ActionSpec>({
        {Open, "open", QT_TR_NOOP("&Open model…"), QT_TR_NOOP("Open a .pt2 or TorchScript model"),
         "Ctrl+O", false},
        {Reload, "reload", QT_TR_NOOP("&Reload"), QT_TR_NOOP("Read the model's file again"), "F5",
         true},
        {OpenRecipe, "openRecipe", QT_TR_NOOP("Open re&cipe…"),
         QT_TR_NOOP("Load the decisions of a recipe file"), "Ctrl+Shift+O", true},
        {SaveProject, "saveProject", QT_TR_NOOP("&Save project…"),
         QT_TR_NOOP("Write model, decisions and data to one file"), "Ctrl+S", true},
        {SaveProjectAs, "saveProjectAs", QT_TR_NOOP("Save project &as…"),
         QT_TR_NOOP("Write the project to another file"), "Ctrl+Shift+S", true},
        {SaveRecipe, "saveRecipe", QT_TR_NOOP("Save recip&e…"),
         QT_TR_NOOP("Write the decisions to a recipe file"), "Ctrl+Alt+P", true},
        {SaveReport, "saveReport", QT_TR_NOOP("Save repor&t…"),
         QT_TR_NOOP("Write the results as one page for a browser"), "Ctrl+Alt+H", false},
        {SaveNodeData, "saveNodeData", QT_TR_NOOP("Save &node data…"),
         QT_TR_NOOP("Write every node's error as JSON that Model Explorer paints"), "Ctrl+Alt+S",
         true},
        {ImportNodeData, "importNodeData", QT_TR_NOOP("&Import node data…"),
         QT_TR_NOOP("Colour the nodes by another program's data"), "Ctrl+Alt+O", true},
        {SaveGraph, "saveGraph", QT_TR_NOOP("Save &graph…"),
         QT_TR_NOOP("Write the whole graph as SVG, PDF or PNG"), "Ctrl+Alt+E", true},
        {SaveEdited, "saveEdited", QT_TR_NOOP("Save e&dited model…"),
         QT_TR_NOOP("Write the edited float model as a .pt2"), "Ctrl+Alt+M", true},
        {SavePicture, "savePicture", QT_TR_NOOP("Save &picture…"),
         QT_TR_NOOP("Write the window as a PNG"), "Ctrl+Shift+E", true},
        {Quit, "quit", QT_TR_NOOP("&Quit"), QT_TR_NOOP("Close the window"), "Ctrl+Q", false},

        {Undo, "undo", QT_TR_NOOP("&Undo"), QT_TR_NOOP("Undo the last decision"), "Ctrl+Z", false},
        {Redo, "redo", QT_TR_NOOP("&Redo"), QT_TR_NOOP("Redo the decision"), "Ctrl+Shift+Z", false},
        {Find, "find", QT_TR_NOOP("&Find…"),
         QT_TR_NOOP("Find nodes by name, operator, module or error"), "Ctrl+F", true},
        {FindNext, "findNext", QT_TR_NOOP("Find &next"), QT_TR_NOOP("Go to the next match"), "F3",
         true},
        {FindPrevious, "findPrevious", QT_TR_NOOP("Find p&revious"),
         QT_TR_NOOP("Go to the previous match"), "Shift+F3", true},
        {SelectFound, "selectFound", QT_TR_NOOP("Select all &matches"),
         QT_TR_NOOP("Select every match of the search"), "Ctrl+Shift+F", true},
        {StyleFound, "styleFound", QT_TR_NOOP("St&yle matches…"),
         QT_TR_NOOP("Give the results of the search a colour, a label or less detail"),
         "Ctrl+Alt+F", true},
        {Bookmark, "bookmark", QT_TR_NOOP("&Bookmark"),
         QT_TR_NOOP("Bookmark the selection, or remove its bookmark"), "Ctrl+D", true},
        {NextBookmark, "nextBookmark", QT_TR_NOOP("Next boo&kmark"),
         QT_TR_NOOP("Go to the next bookmarked node"), "Ctrl+Shift+D", true},
        {SelectAll, "selectAll", QT_TR_NOOP("Select &all"), QT_TR_NOOP("Select every operator"),
         "Ctrl+A", true},
        {SelectNone, "selectNone", QT_TR_NOOP("Select n&one"), QT_TR_NOOP("Clear the selection"),
         "Escape", true},
        {CopyName, "copyName", QT_TR_NOOP("&Copy name"),
         QT_TR_NOOP("Copy the selection's name in a rule of the recipe: the module's path, else "
                    "the node's name in the graph"),
         "Ctrl+C", true},

        {ZoomIn, "zoomIn", QT_TR_NOOP("Zoom &in"), QT_TR_NOOP("Show the graph larger"),
         "Ctrl++; Ctrl+=; Shift+Up", true},
        {ZoomOut, "zoomOut", QT_TR_NOOP("Zoom &out"), QT_TR_NOOP("Show the graph smaller"),
         "Ctrl+-; Shift+Down", true},
        {ZoomReset, "zoomReset", QT_TR_NOOP("&Actual size"), QT_TR_NOOP("Show the graph at 100 %"),
         "Shift+Backspace", true},
        {Fit, "fit", QT_TR_NOOP("&Fit"),
         QT_TR_NOOP("Show the whole graph; Space does so in the graph"), "Ctrl+0", true},
        {Reveal, "reveal", QT_TR_NOOP("&Go to selection"),
         QT_TR_NOOP("Bring the selection into view"), "G", true},
        {Worst, "worst", QT_TR_NOOP("Next &worst node"),
         QT_TR_NOOP("Select the next node in the order of born-here errors, the worst first"), "N",
         true},
        {Better, "better", QT_TR_NOOP("&Previous worst node"),
         QT_TR_NOOP("Select the previous node in the order of born-here errors"), "Shift+N", true},
        {BoxRepeats, "boxRepeats", QT_TR_NOOP("One box for re&peated blocks"),
         QT_TR_NOOP("Show three or more equal blocks, one after the other, as one box"),
         "Ctrl+Alt+Left", false},
        {Sideways, "sideways", QT_TR_NOOP("From &left to right"),
         QT_TR_NOOP("Draw the graph from left to right instead of downwards"), "Ctrl+Alt+W", false},

        {Expand, "expand", QT_TR_NOOP("&Unfold selection"),
         QT_TR_NOOP("Show what is inside the module"), "Ctrl+Right", true},
        {Collapse, "collapse", QT_TR_NOOP("&Fold selection"),
         QT_TR_NOOP("Show the module as one node"), "Ctrl+Left", true},
        {ExpandAll, "expandAll", QT_TR_NOOP("Unfold &all"), QT_TR_NOOP("Show every operator"),
         "Ctrl+Shift+Right", true},
        {FoldAll, "foldAll", QT_TR_NOOP("F&old all"), QT_TR_NOOP("Show the outermost modules only"),
         "Ctrl+Shift+Left", true},
        {ExpandRepeats, "expandRepeats", QT_TR_NOOP("Unfold all &repeats"),
         QT_TR_NOOP("Unfold the module and all its repeats, or fold them all"), "Ctrl+Alt+Right",
         true},
        {ExpandOne, "expandOne", QT_TR_NOOP("Unfold one &block…"),
         QT_TR_NOOP("Take one block out of a box of repeated ones, starting with the worst"),
         "Ctrl+Alt+Down", true},
        {TraceBefore, "traceBefore", QT_TR_NOOP("S&how upstream nodes"),
         QT_TR_NOOP("Highlight only the nodes that the selection is computed from"), "U", true},
        {TraceAfter, "traceAfter", QT_TR_NOOP("Sho&w downstream nodes"),
         QT_TR_NOOP("Highlight only the nodes that are computed from the selection"), "D", true},
        {FormFloat, "formFloat", QT_TR_NOOP("&Float form"),
         QT_TR_NOOP("Show the model as it was opened"), "Ctrl+Alt+1", true},
        {FormPrepared, "formPrepared", QT_TR_NOOP("&Prepared form"),
         QT_TR_NOOP("Show the model with its observers"), "Ctrl+Alt+2", true},
        {FormReference, "formReference", QT_TR_NOOP("Re&ference form"),
         QT_TR_NOOP("Show the model with every quantize-dequantize pair"), "Ctrl+Alt+3", true},
        {FormLowered, "formLowered", QT_TR_NOOP("&Lowered form"),
         QT_TR_NOOP("Show the model with its integer kernels"), "Ctrl+Alt+4", true},
        {SplitForms, "splitForms", QT_TR_NOOP("&Two forms"),
         QT_TR_NOOP("Show two forms side by side"), "Ctrl+Alt+5", true},
        {LookInside, "lookInside", QT_TR_NOOP("Look &inside"),
         QT_TR_NOOP("Show the bodies of a branch, loop, region or cell"), "Ctrl+Down", true},
        {LookOutside, "lookOutside", QT_TR_NOOP("Look &outside"),
         QT_TR_NOOP("Return from a body to the node around it"), "Ctrl+Up", true},
        {NextNode, "nextNode", QT_TR_NOOP("Go &down"), QT_TR_NOOP("Select the readers of the node"),
         "Alt+Down", true},
        {PreviousNode, "previousNode", QT_TR_NOOP("Go u&p"),
         QT_TR_NOOP("Select the inputs of the node"), "Alt+Up", true},
        {NextEdge, "nextEdge", QT_TR_NOOP("Next &edge"),
         QT_TR_NOOP("Inspect the next edge of the node: its inputs, then its readers"), "E", true},
        {PreviousEdge, "previousEdge", QT_TR_NOOP("Previous e&dge"),
         QT_TR_NOOP("Inspect the previous edge of the node"), "Shift+E", true},

        {Assign, "assign", QT_TR_NOOP("&Assign…"),
         QT_TR_NOOP("Give the selection, its module, its type or its repeats a qconfig"), "A",
         true},
        {Cycle, "cycle", QT_TR_NOOP("&Cycle precision"),
         QT_TR_NOOP("Selection: by rule, float, backend's default"), "Q", true},
        {KeepFloat, "keepFloat", QT_TR_NOOP("Keep &float by rule"),
         QT_TR_NOOP("Give the selection's operators a rule that keeps them in float; narrower "
                    "rules inside still count"),
         "Shift+Q", true},
        {ClearRule, "clearRule", QT_TR_NOOP("Clear &rules"),
         QT_TR_NOOP("Remove the selection's own rules"), "Ctrl+Backspace", true},
        {NewQConfig, "newQConfig", QT_TR_NOOP("&New qconfig…"),
         QT_TR_NOOP("Create a named qconfig and use it"), "Ctrl+Shift+N", true},
        {LeafModule, "leafModule", QT_TR_NOOP("Leave module out (&leaf)"),
         QT_TR_NOOP("Leave the whole module out of quantization: nothing inside is fused, observed "
                    "or quantized, whatever the rules are"),
         "Ctrl+Shift+L", true},
        {OnlyModule, "onlyModule", QT_TR_NOOP("Quantize &only this module"),
         QT_TR_NOOP("Keep everything outside the module in float"), "Ctrl+Shift+M", true},
        {WrapModule, "wrapModule", QT_TR_NOOP("&Wrap as one node"),
         QT_TR_NOOP("Show the module or method as one node; its own operators stay float, the "
                    "modules inside follow their rules"),
         "Ctrl+Shift+W", true},
        {ApplyRemedy, "applyRemedy", QT_TR_NOOP("Apply &suggestion"),
         QT_TR_NOOP("Apply the plan's suggestion for the node"), "Ctrl+Shift+A", true},
        {Backend, "backend", QT_TR_NOOP("&Backend…"), QT_TR_NOOP("Choose the hardware target"),
         "Ctrl+Shift+B", true},
        {EditBackend, "editBackend", QT_TR_NOOP("E&dit backend…"),
         QT_TR_NOOP("Change the target's patterns, dtypes, constraints and fusions"), "Ctrl+Alt+B",
         true},
        {Replacements, "replacements", QT_TR_NOOP("Re&placements…"),
         QT_TR_NOOP("List the modules that replace operators, and keep some operators unchanged"),
         "Ctrl+Alt+T", true},
        {Lowering, "lowering", QT_TR_NOOP("&Lowering table…"),
         QT_TR_NOOP("Choose which kernels operators become"), "Ctrl+L", true},
        {Packs, "packs", QT_TR_NOOP("E&xtension packs…"),
         QT_TR_NOOP("Load custom operators, patterns and kernels"), "Ctrl+Shift+X", false},

        {InsertAfter, "insertAfter", QT_TR_NOOP("&Insert after…"),
         QT_TR_NOOP("Insert an operator after the node, for all its readers or one"), "Insert",
         true},
        {InsertOnInput, "insertOnInput", QT_TR_NOOP("Insert &before…"),
         QT_TR_NOOP("Put an operator on one input of the node"), "Shift+Insert", true},
        {RemoveNode, "removeNode", QT_TR_NOOP("Re&move"),
         QT_TR_NOOP("Remove the operator; its readers read its input"), "Delete", true},
        {ReplaceNode, "replaceNode", QT_TR_NOOP("&Replace…"),
         QT_TR_NOOP("Replace the operator with another"), "Ctrl+H", true},
        {ReplaceEvery, "replaceEvery", QT_TR_NOOP("Replace e&very…"),
         QT_TR_NOOP("Replace all operators of its kind with another"), "Ctrl+Shift+H", true},
        {SetArguments, "setArguments", QT_TR_NOOP("&Arguments…"),
         QT_TR_NOOP("Change literal arguments"), "Ctrl+I", true},
        {RewireInput, "rewireInput", QT_TR_NOOP("F&eed an input…"),
         QT_TR_NOOP("Connect an input of the node to another value"), "Ctrl+Shift+I", true},
        {DuplicateNode, "duplicateNode", QT_TR_NOOP("D&uplicate…"),
         QT_TR_NOOP("Compute the value once more, for one reader"), "Ctrl+Shift+U", true},
        {RenameNode, "renameNode", QT_TR_NOOP("Re&name…"),
         QT_TR_NOOP("Give the operator another name"), "F2", true},
        {MakeOutput, "makeOutput", QT_TR_NOOP("Make it an &output"),
         QT_TR_NOOP("Return the node's value as an output of the model"), "Ctrl+Alt+J", true},
        {DropOutput, "dropOutput", QT_TR_NOOP("&Drop an output…"),
         QT_TR_NOOP("Remove an output of the model"), "Ctrl+Alt+D", true},
        {LoadConstant, "loadConstant", QT_TR_NOOP("&Load constant…"),
         QT_TR_NOOP("Put the numbers of a .npy file into a parameter, buffer or constant"),
         "Ctrl+Alt+L", true},
        {FoldConstants, "foldConstants", QT_TR_NOOP("&Fold constants"),
         QT_TR_NOOP("Compute values that depend only on stored tensors once, and store them"),
         "Ctrl+Alt+K", true},
        {ExtractSelection, "extractSelection", QT_TR_NOOP("E&xtract selection"),
         QT_TR_NOOP("Reduce the model to the selected operators"), "Ctrl+Alt+X", true},
        {SavePartData, "savePartData", QT_TR_NOOP("Save the &part's data…"),
         QT_TR_NOOP("Run the whole model and save the values of the extracted part's inputs"),
         "Ctrl+Alt+Y", true},

        {Plan, "plan", QT_TR_NOOP("&Plan"), QT_TR_NOOP("Decide again which nodes are quantized"),
         "Ctrl+P", true},
        {Train, "train", QT_TR_NOOP("&Train…"),
         QT_TR_NOOP("Train the weights with simulated quantization"), "Ctrl+Shift+T", false},
        {Calibrate, "calibrate", QT_TR_NOOP("&Calibrate…"),
         QT_TR_NOOP("Choose data and device, then observe"), "Ctrl+B", true},
        {Convert, "convert", QT_TR_NOOP("Con&vert"), QT_TR_NOOP("Make the int8 model"), "Ctrl+T",
         true},
        {Compare, "compare", QT_TR_NOOP("C&ompare"), QT_TR_NOOP("Measure the error of every layer"),
         "Ctrl+M", true},
        {FindCauses, "findCauses", QT_TR_NOOP("&Find causes"),
         QT_TR_NOOP("Find which quantizers cause the noise of the outputs, and why"),
         "Ctrl+Shift+Y", true},
        {AgainstOriginal, "againstOriginal", QT_TR_NOOP("Compare a&gainst the original"),
         QT_TR_NOOP("Measure against the file's model, before the edits of its graph"),
         "Ctrl+Alt+G", true},
        {AllLocalTerms, "allLocalTerms", QT_TR_NOOP("&Local errors on all data"),
         QT_TR_NOOP("Measure isolated, inherited and born here on all data, not on as many "
                    "batches as a standard error of 0.1 dB asks for"),
         "Ctrl+Alt+A", true},
        {Metric, "metric", QT_TR_NOOP("Your me&tric…"),
         QT_TR_NOOP("Measure the float and the int8 model with a command of your own"),
         "Ctrl+Shift+J", true},
        {Export, "export", QT_TR_NOOP("&Export…"), QT_TR_NOOP("Write the int8 model"), "Ctrl+E",
         true},
        {Verify, "verify", QT_TR_NOOP("Ver&ify exports…"),
         QT_TR_NOOP("Run the exports in the runtimes they are for, and certify them"),
         "Ctrl+Shift+V", false},
        {RunAll, "runAll", QT_TR_NOOP("Run &all"), QT_TR_NOOP("Calibrate, convert and compare"),
         "Ctrl+R", true},
        {CompareAfterEach, "compareAfterEach", QT_TR_NOOP("Co&mpare after each decision"),
         QT_TR_NOOP("Compare all data again automatically after each decision"), "Ctrl+Alt+C",
         true},
        {KeepRun, "keepRun", QT_TR_NOOP("&Keep result…"),
         QT_TR_NOOP("Keep the current result as a named run"), "Ctrl+Alt+R", true},
        {SwitchRun, "switchRun", QT_TR_NOOP("&Switch run"),
         QT_TR_NOOP("Show the next of the runs that are side by side in every view"), "B", true},
        {LeaveRun, "leaveRun", QT_TR_NOOP("Current res&ult"),
         QT_TR_NOOP("Show the current result again, in place of a run"), "Shift+B", true},
        {Cancel, "cancel", QT_TR_NOOP("&Cancel"), QT_TR_NOOP("Stop what is running"), "Ctrl+.",
         false},

        {ShowModules, "showModules", QT_TR_NOOP("&Modules"),
         QT_TR_NOOP("Show or hide the left panel"), "Ctrl+1", false},
        {ShowProperties, "showProperties", QT_TR_NOOP("&Properties"),
         QT_TR_NOOP("Show or hide the right panel"), "Ctrl+Return", false},
        {ShowBottom, "showBottom", QT_TR_NOOP("&Plots"), QT_TR_NOOP("Show or hide the lower panel"),
         "Ctrl+2", false},
        {ShowRecipe, "showRecipe", QT_TR_NOOP("&Recipe text"),
         QT_TR_NOOP("Read and edit the recipe as text, with its history"), "Ctrl+3", true},
        {ShowCode, "showCode", QT_TR_NOOP("C&ode"),
         QT_TR_NOOP("Show the code of two forms side by side"), "Ctrl+4", true},
        {ShowFindings, "showFindings", QT_TR_NOOP("F&indings"),
         QT_TR_NOOP("Show what the planner found"), "Ctrl+5", true},
        {ShowEdits, "showEdits", QT_TR_NOOP("Gra&ph edits"),
         QT_TR_NOOP("Show what was changed in the model's graph"), "Ctrl+7", true},
        {ShowForms, "showForms", QT_TR_NOOP("Sim&ulated and real"),
         QT_TR_NOOP("Show how far the lowered form is from the reference form, node by node"),
         "Ctrl+8", true},
        {ShowCure, "showCure", QT_TR_NOOP("C&ure"),
         QT_TR_NOOP("Show causes of the outputs' noise, and search cures"), "Ctrl+Alt+U", true},
        {ShowSensitivity, "showSensitivity", QT_TR_NOOP("Sensiti&vity"),
         QT_TR_NOOP("Show the noise and the cost of every unit"), "Ctrl+Alt+I", true},
        {ShowSamples, "showSamples", QT_TR_NOOP("Sa&mples"),
         QT_TR_NOOP("Show the samples that lose most, and the confusion matrix"), "Ctrl+Alt+N",
         true},
        {ShowRuns, "showRuns", QT_TR_NOOP("R&uns"),
         QT_TR_NOOP("Show the results that were kept, side by side"), "Ctrl+Shift+R", true},
        {ShowStyles, "showStyles", QT_TR_NOOP("&Styles"),
         QT_TR_NOOP("Show the rules by which nodes get colours and labels"), "Ctrl+6", true},
        {NextPanel, "nextPanel", QT_TR_NOOP("&Next panel"),
         QT_TR_NOOP("Move the keyboard focus to the next panel"), "F6", false},
        {PreviousPanel, "previousPanel", QT_TR_NOOP("Pr&evious panel"),
         QT_TR_NOOP("Move the keyboard focus to the previous panel"), "Shift+F6", false},
        {FullScreen, "fullScreen", QT_TR_NOOP("&Full screen"), QT_TR_NOOP("Use the whole screen"),
         "F11", false},

        {Palette, "palette", QT_TR_NOOP("&Commands…"),
         QT_TR_NOOP("Find a command by a few letters and run it"), "Ctrl+Shift+P", false},
        {Help, "help", QT_TR_NOOP("&Help"),
         QT_TR_NOOP("Explain the widget with the focus or under the pointer"), "F1", false},
        {Guide, "guide", QT_TR_NOOP("&First steps"),
         QT_TR_NOOP("Show or hide the list of first steps"), "Ctrl+F1", false},
        {Keys, "keys", QT_TR_NOOP("&Keys"), QT_TR_NOOP("List the keys and what they do"),
         "Ctrl+Shift+K", false},
        {About, "about", QT_TR_NOOP("&About Quantscope"), QT_TR_NOOP("Version and licences"),
         "Shift+F1", false},
    });
    /// The first command of each menu.
    static constexpr std::pair<ActionId, const char*> kMenus[]
        = {{Open, QT_TR_NOOP("&File")},     {Undo, QT_TR_NOOP("&Edit")},
           {ZoomIn, QT_TR_NOOP("&View")},   {Expand, QT_TR_NOOP("&Graph")},
           {Assign, QT_TR_NOOP("&Recipe")}, {InsertAfter, QT_TR_NOOP("&Change")},
           {Plan, QT_TR_NOOP("R&un")},      {ShowModules, QT_TR_NOOP("&Window")},
           {Palette, QT_TR_NOOP("&Help")}};
};
inline constexpr const auto& kActionSpecs = ActionTable::kRows;

/// True if each command has a row at its index, with a unique name.
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

} // namespace qs
