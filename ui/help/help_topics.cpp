// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_topics.h"

#include <QVariant>

#include <algorithm>

namespace qs {

namespace {

constexpr const char* kTopicProperty = "helpTopic";

struct RawTopic
{
    const char* id;
    const char* title;
    const char* text;
    std::vector<QString> related;
};

std::vector<HelpTopic> makeTopics()
{
    const std::vector<RawTopic> raw = {
        {"start",
         "The job in one paragraph",
         "Open a traced model: its graph appears, planned for the hardware target. Calibrate runs "
         "your data through it and records what every value looks like. Convert makes the int8 "
         "model, Compare measures what each layer loses against float. Look at the worst node, "
         "change its decision, and run again; Export writes the int8 model. Every decision can be "
         "undone.",
         {"calibration", "comparison", "recipe", "search"}},
        {"backend",
         "Backend",
         "The hardware target's rules: which patterns of operators it can run on integers, with "
         "which dtypes and ranges, and what it fuses. A node that no pattern of the backend "
         "matches stays in float. Ctrl+Shift+B chooses another; a file of your own is taken too.",
         {"pattern", "constraint", "verdict"}},
        {"pattern",
         "Pattern and fusion",
         "A pattern is a chain of operators that the backend runs as one: convolution, batch "
         "norm and relu, say. What a pattern matches is fused: it gets one qconfig, one output "
         "observer and one kernel, and is drawn as one node. A rule for a single member has no "
         "effect unless the fusion is given up; the Findings tell of it.",
         {"backend", "qconfig", "rule"}},
        {"plan",
         "Plan",
         "What will be quantized, how and why, worked out from graph, recipe and backend before "
         "any data is read. The plan is made anew after every change; nothing is run for it.",
         {"verdict", "recipe", "observer"}},
        {"verdict",
         "Verdict",
         "The plan's answer for one operator: quantized; shared (it passes the quantized values "
         "of its input on); float by rule (a rule says so, or none reaches it); float by backend "
         "(no pattern fits); float by constraint (the qconfig breaks one of the backend's "
         "limits); float by kernel check (the integer kernel would be wrong); opaque (nobody may "
         "look inside); shape only (no float values). The Why card names the cause.",
         {"rule", "backend", "constraint", "kernel-check"}},
        {"rule",
         "Rule",
         "A line of the recipe that gives a qconfig to what it matches. The strongest wins: node "
         "over module and type and order, over module name, over regular expression, over type, "
         "over global. The Why card shows the winner and what it overrode.",
         {"recipe", "qconfig"}},
        {"recipe",
         "Recipe",
         "Every decision in one file: backend, named qconfigs, rules, lowering, calibration. "
         "Save it with Ctrl+S; the command line takes it with --recipe. The Recipe tab shows it "
         "as text that can be edited; the window follows as soon as the text is valid.",
         {"rule", "qconfig", "undo"}},
        {"undo",
         "Undo and history",
         "Every decision is one step back with Ctrl+Z. Results belong to the recipe they were "
         "made from: taking a step back brings its results back, so trying something costs no "
         "second calibration. Results older than the recipe are marked stale.",
         {"recipe"}},
        {"qconfig",
         "Qconfig",
         "A pair of observers: one for what an operator puts out (activation), one for its "
         "weight. It fixes dtype, range, scheme and how the range is found. No qconfig means "
         "float. Names such as x86 are presets; Ctrl+Shift+N makes your own.",
         {"observer", "qscheme", "dtype"}},
        {"observer",
         "Observer",
         "What watches one value during calibration and then chooses its scale and zero point: "
         "the smallest and largest value seen (minmax), their moving average, or the histogram's "
         "cut with the least error. Weights are mostly watched per channel.",
         {"qparams", "calibration", "clipping"}},
        {"qscheme",
         "Qscheme",
         "How the integers lie on the real axis. Affine: any zero point, so a one-sided value "
         "such as the output of a relu wastes no code. Symmetric: zero point in the middle, "
         "cheaper for weights. Per tensor: one scale; per channel: one for each output channel.",
         {"qparams", "dtype", "channels"}},
        {"dtype",
         "Dtype",
         "The integer type: quint8 (0 to 255) and qint8 (-128 to 127). A narrower range, such as "
         "0 to 127, leaves room where the target's kernels could overflow. quantized = "
         "round(value / scale) + zero point, cut to the range.",
         {"qscheme", "qparams"}},
        {"qparams",
         "Scale and zero point",
         "Scale is the step between two neighbouring integers in real units; the zero point is "
         "the integer that means 0. A larger scale keeps larger values but rounds more coarsely.",
         {"clipping", "observer"}},
        {"clipping",
         "Clipping and rounding",
         "The two ways in which quantization loses: values beyond the range are cut off, and "
         "values inside are rounded to the next step. A narrower range rounds less and clips "
         "more. The red part of the histogram is what is clipped.",
         {"observer", "sqnr"}},
        {"constraint",
         "Constraint",
         "A limit that the backend sets for a dtype: the smallest and largest integer, the least "
         "eps of the scale, or an exact scale and zero point. A qconfig that breaks one is not "
         "used: the node stays in float, and the Why card names required and given.",
         {"backend", "verdict"}},
        {"calibration",
         "Calibration",
         "Runs some batches of your data through the float model while the observers watch. A "
         "hundred typical samples mostly suffice. It changes no weight.",
         {"observer", "histogram"}},
        {"histogram",
         "Histogram",
         "How often each value of the selected node's output was seen, on a logarithmic scale, "
         "with the quantization range drawn in.",
         {"clipping", "observer"}},
        {"channels",
         "Channels",
         "The range of every channel of the weight. Channels that differ a lot lose much with "
         "one scale for all: then a per-channel scheme helps.",
         {"qscheme"}},
        {"forms",
         "Prepared, reference and lowered form",
         "Float is the model as it came. Prepared has the observers in it. Reference has every "
         "quantize-dequantize pair explicit around float operators: any tool can read it. "
         "Lowered has the backend's integer kernels in place of the pairs.",
         {"lowering", "export"}},
        {"lowering",
         "Lowering",
         "Replaces dequantize - operator - quantize by one integer kernel, row by row of the "
         "lowering table (Ctrl+L). What no row matches stays in reference form and is listed "
         "under Findings.",
         {"forms", "kernel-check"}},
        {"kernel-check",
         "Kernel check",
         "Every integer kernel is run beside the reference form on real data; it is used only "
         "where the two agree within one step.",
         {"lowering", "forms"}},
        {"comparison",
         "Comparison and error terms",
         "Float and int8 run side by side. Cumulative is the whole error at a node; inherited is "
         "what came in with its inputs; isolated is what the node would lose with float inputs; "
         "born here is what it adds. The node with the worst born-here error is where to look "
         "first (N goes there).",
         {"sqnr", "clipping", "against"}},
        {"against",
         "Against the original model",
         "With edits of the graph, the int8 model is measured against the edited model in float. "
         "Ctrl+Alt+G, or the switch in the Edits tab, measures it against the file's model "
         "instead: what edits and quantization change together, at the nodes and outputs that "
         "both have. The terms that tell nodes apart do not exist then.",
         {"comparison"}},
        {"preview",
         "Previews after each decision",
         "Once the model was compared, each decision is answered at once: a few samples run "
         "through the reference form from the first value that changed, and the strip says what "
         "the worst output has now and how much that is more or less than before. The cumulative "
         "errors in the graph and the Loss card are then the preview's. A range that is dragged is "
         "answered the same way, before it is applied. A sign ≈ says that these samples alone gave "
         "the range of a value which no observer has seen. Compare after each decision (Run menu, "
         "Ctrl+Alt+C) has all data compared after it by itself; a newer decision stops that.",
         {"comparison", "sqnr"}},
        {"sqnr",
         "SQNR",
         "Signal to quantization noise ratio in dB: 10 log10 of signal power over error power. "
         "Higher is better; 6 dB are one bit. Above 40 dB is mostly harmless, below 20 dB "
         "mostly hurts. The colours run from dark blue (good) to yellow (worst).",
         {"comparison", "look"}},
        {"look",
         "Values of a node",
         "The Values tab runs the data as far as the selected node, float and converted side by "
         "side, and shows one sample's values in both and their difference: slice by slice, or "
         "as an image; Ctrl+wheel, + and - zoom, dragging moves, 0 shows all. Channels, weight "
         "channels and samples are listed with what each loses, "
         "the worst first; a click goes there. A channel is wide where its largest value is four "
         "times the median channel's, noisy where it holds four times its fair share of the "
         "noise. KL is the divergence of the float values' histogram from the converted one's, "
         "in nats; 0 is no difference. Nothing is run while the tab is hidden.",
         {"comparison", "channels", "values"}},
        {"export",
         "Export",
         "Writes the int8 model as TorchScript, .pt2 with int8 weights, or .pt2 in reference "
         "form, with the recipe and every number beside it. Verify exports (Ctrl+Shift+V) then "
         "runs "
         "each file where it will run and leaves a certificate.",
         {"forms"}},
        {"modules",
         "Modules, folding and bodies",
         "The tree and the graph show the model's modules; a double click opens or closes one. "
         "Keep as leaf leaves a module float; Quantize only keeps all else float; Wrap shows it "
         "as one node. Branches, loops and cells can be looked into (Ctrl+Down).",
         {"search", "rule"}},
        {"interior",
         "Inside a recurrent module",
         "An LSTM is quantized from within: each of its cells has values of its own (gates, "
         "products, sums) with scale, zero point and error. Choose one to see its histogram.",
         {"observer", "modules"}},
        {"search",
         "Searching",
         "Words of a name or module path, /regular expression/, op:conv2d, module:layer1, "
         "qconfig:float, verdict:float-by-rule, dtype:quint8, is:bookmark, is:edited, sqnr<30 "
         "(also "
         "isolated, inherited, cumulative; <= > >=). Terms are combined; a minus in front "
         "excludes. Enter goes to the next match, Ctrl+Shift+F selects all of them.",
         {"assigning"}},
        {"assigning",
         "Assigning to many",
         "Select several nodes (Ctrl+click, Shift+drag in the graph, Select all in the search, "
         "a click on a verdict) and press A: the list offers every qconfig for the selection, "
         "for the same place in all repeats of its block, for the modules around, for all of "
         "its type. One choice is one step to undo.",
         {"qconfig", "rule", "undo"}},
        {"findings",
         "Findings",
         "What the plan and the conversion should not keep to themselves: rules that match "
         "nothing, rules without effect inside a fusion, what was not lowered, and what the "
         "export helper recorded. A click selects the place.",
         {"rule", "lowering"}},
        {"colours",
         "Colours of the graph",
         "Operators, verdicts, qconfigs and dtypes have a colour a word. Memory (what is made, and "
         "the parameters inside), time (of one float batch, measured by Compare; in the lowered "
         "form of its kernels) and the error terms run along a scale whose handles narrow it; the "
         "number stands on the node. Imported data are Model Explorer's node data, read with "
         "Ctrl+Alt+O or dropped on the window: results by the names of nodes.",
         {"sqnr", "styles"}},
        {"runs",
         "Runs",
         "Every current comparison is kept with its recipe, named by the decision that led to it; "
         "a "
         "project takes its runs along, and quantized files of other programs join them. Select "
         "two "
         "to four: the older is A. The decisions that differ stand beside one row a node; a node "
         "is "
         "the same by its name in one file, else by module, operator and call, and what has no "
         "counterpart says so. B shows the next of them in the graph, the strip and the panels in "
         "place of the current result, Shift+B goes back.",
         {"comparison", "sqnr", "recipe"}},
        {"styles",
         "Style rules",
         "A rule is a search and what it does to the nodes that it finds: a colour, a label, less "
         "detail. The first rule that finds a node decides; a folded module shows what all its "
         "nodes have in common. Ctrl+6 shows the list, Ctrl+Alt+F makes a rule of the search at "
         "hand. Rules are kept for every model and saved with a project.",
         {"search", "colours"}},
        {"values",
         "Stored values",
         "Parameters, buffers and constants stand inside the node that reads them. The panel shows "
         "their type, smallest, largest and mean element, the first elements, and for large ones "
         "how the elements are spread; so does the tool tip in the graph. A single number stands "
         "on the node itself.",
         {"modules"}},
    };
    std::vector<HelpTopic> out;
    for (const RawTopic& topic : raw)
        out.push_back({QString::fromLatin1(topic.id), QString::fromUtf8(topic.title),
                       QString::fromUtf8(topic.text), topic.related});
    return out;
}

} // namespace

const std::vector<HelpTopic>& helpTopics()
{
    static const std::vector<HelpTopic> topics = makeTopics();
    return topics;
}

const HelpTopic* findHelpTopic(const QString& id)
{
    const auto& topics = helpTopics();
    const auto found = std::find_if(topics.begin(), topics.end(),
                                    [&](const HelpTopic& topic) { return topic.id == id; });
    return found == topics.end() ? nullptr : &*found;
}

void setHelpTopic(QWidget* widget, const char* id)
{
    Q_ASSERT(findHelpTopic(QString::fromLatin1(id)));
    widget->setProperty(kTopicProperty, QString::fromLatin1(id));
}

const HelpTopic* helpTopicAt(const QWidget* widget)
{
    for (; widget; widget = widget->parentWidget())
        if (const auto id = widget->property(kTopicProperty); id.isValid())
            return findHelpTopic(id.toString());
    return nullptr;
}

} // namespace qs
