// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_engine.h"

#include "engine/graph/graph_edit.h"

#include <chrono>
#include <map>
#include <thread>

namespace qs {

namespace {

const std::vector<std::vector<std::string>>& fusedGroups()
{
    static const std::vector<std::vector<std::string>> groups
        = {{"conv2d", "batch_norm", "relu"},
           {"conv2d_1", "batch_norm_1", "relu_1"},
           {"conv2d_2", "batch_norm_2"},
           {"add", "relu_2"},
           {"linear"}};
    return groups;
}

/// Returns the rule of the recipe with the highest precedence for a node.
const Rule* winningRule(const Recipe& recipe, const Node& node)
{
    const Rule* best = nullptr;
    for (const auto& rule : recipe.mapping.rules) {
        const bool applies = rule.kind == RuleKind::Global
            || (rule.kind == RuleKind::ModuleName
                && ModuleTree::isWithin(node.scope.path, rule.key))
            || (rule.kind == RuleKind::Node && rule.key == node.name);
        if (applies && (!best || rule.kind > best->kind))
            best = &rule;
    }
    return best;
}

QConfig fakeQConfig()
{
    QConfig out;
    out.activation.kind = ObserverKind::Histogram;
    out.weight.kind = ObserverKind::PerChannelMinMax;
    out.weight.dtype = DType::QInt8;
    out.weight.qscheme = QScheme::PerChannelSymmetric;
    return out;
}

void addObservers(const Graph& model, Plan& plan)
{
    const auto add = [&plan](PlannedObserver observer) {
        observer.id = ObserverId(std::uint32_t(plan.observers.size() + 1));
        plan.observers.push_back(std::move(observer));
    };
    for (const auto& node : plan.nodes) {
        const bool lastOfGroup
            = node.group < 0 || plan.groups[std::size_t(node.group)].members.back() == node.node;
        if (!node.quantized || !lastOfGroup)
            continue;
        PlannedObserver output;
        output.spec = fakeQConfig().activation;
        output.edges = {{ValueRef {node.node, 0}, {}}};
        add(output);
        if (node.group < 0)
            continue;
        const NodeId root = plan.groups[std::size_t(node.group)].root;
        const Argument* held = model.get(root).tryArg("weight");
        if (!held)
            continue;
        PlannedObserver weight;
        weight.spec = fakeQConfig().weight;
        weight.isWeight = true;
        weight.weightOwner = root;
        weight.edges = {{*held->asRef(), {}}};
        add(weight);
    }
}

} // namespace

Result<GraphPtr> FakeEngine::open(const std::string& path, const JobContext&)
{
    if (path.find("missing") != std::string::npos)
        return fail(
            makeError(ErrorCode::NotFound, "no such file").inFile(path).withHint("check the path"));
    return model;
}

Result<PlanPtr> FakeEngine::plan(const GraphPtr& graph, const Recipe& recipe, const JobContext&)
{
    ++plans;
    auto out = std::make_shared<Plan>();
    out->backend = recipe.target();
    std::map<NodeId, int> groupOf;
    for (const auto& names : fusedGroups()) {
        MatchGroup group;
        for (const auto& name : names)
            if (const Node* node = graph->tryFind(name))
                group.members.push_back(node->id);
        if (group.members.size() != names.size())
            continue;
        std::erase_if(group.members, [&](NodeId id) {
            return std::ranges::count(recipe.prepare.unfuse, graph->get(id).name) > 0;
        });
        group.root = group.members.front();
        const Rule* rule = winningRule(recipe, graph->get(group.root));
        group.quantized = group.fused = rule && rule->qconfig.config;
        for (NodeId id : group.members) {
            const Rule* own = winningRule(recipe, graph->get(id));
            if (rule && own && !(own->qconfig == rule->qconfig))
                out->conflicts.push_back({group.root, id, rule->qconfig, own->qconfig});
        }
        for (NodeId id : group.members)
            groupOf[id] = int(out->groups.size());
        out->groups.push_back(std::move(group));
    }
    for (const auto& node : graph->nodes()) {
        NodePlan decided;
        decided.node = node->id;
        if (node->kind == NodeKind::Op) {
            const auto group = groupOf.find(node->id);
            decided.group = group == groupOf.end() ? -1 : group->second;
            const Node& judged = decided.group >= 0
                ? graph->get(out->groups[std::size_t(decided.group)].root)
                : *node;
            const Rule* rule = winningRule(recipe, judged);
            if (rule)
                decided.rule = *rule;
            decided.eligible = true;
            decided.quantized = rule && rule->qconfig.config;
            decided.verdict = decided.quantized ? Verdict::Quantized : Verdict::FloatByRule;
            decided.pattern = {"torch.nn.Conv2d"};
            if (decided.quantized) {
                decided.qconfig = fakeQConfig();
                decided.qconfigName = rule->qconfig.name;
            } else {
                decided.reason = Reason::of<ReasonCode::RuleKeepsFloat>("a rule");
                decided.remedy = {"give it qconfig 'fake'", fakeQConfig()};
                decided.candidates = {{7, {"torch.nn.Conv2d"}, "activation eps 1 < 2"}};
            }
            ++out->totalOps;
            ++out->eligibleOps;
            out->quantizedOps += decided.quantized;
        }
        out->nodes.push_back(std::move(decided));
    }
    for (const auto& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Node && !graph->tryFind(rule.key))
            out->warnings.push_back("node rule '" + rule.key + "' matches nothing");
    addObservers(*graph, *out);
    return PlanPtr(out);
}

Result<ConvertedPtr> FakeEngine::outline(const GraphPtr& graph, const PlanPtr& plan, const Recipe&,
                                         const JobContext&)
{
    auto prepared = std::make_shared<PreparedModel>();
    prepared->model = prepared->graph = graph;
    prepared->plan = plan;
    auto out = std::make_shared<ConvertedModel>();
    out->prepared = prepared;
    out->reference = graph;
    // One operator runs on integers in the lowered form, so that the forms differ.
    GraphEdit edit(*graph);
    if (const Node* linear = graph->tryFind("linear"))
        edit.change(linear->id).target = "quantized.linear.default";
    out->lowered = std::make_shared<const Graph>(edit.build());
    return ConvertedPtr(out);
}

Result<CalibrationPtr> FakeEngine::calibrate(const CalibrateRequest& request, const JobContext& job)
{
    ++calibrations;
    while (waitInCalibration) {
        QS_CHECK(job.check());
        job.report("calibrate", "batch 1 of 2", 0.5);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (failCalibration)
        return fail(makeError(ErrorCode::Numeric, "NaN in the output")
                        .atNode("conv2d_1")
                        .withHint("check the data"));
    auto prepared = std::make_shared<PreparedModel>();
    prepared->model = prepared->graph = request.model;
    prepared->plan = request.plan;
    auto seen = std::make_shared<Observations>();
    seen->batches = 2;
    seen->samples = 16;
    seen->device = "cpu";
    auto out = std::make_shared<Calibration>();
    for (const auto& planned : request.plan->observers) {
        ObserverStats stats;
        stats.id = planned.id;
        stats.spec = planned.spec;
        stats.count = 4096;
        stats.min = 0;
        stats.max = 8;
        QParams params;
        params.scale = {8.f / 255};
        params.zeroPoint = {0};
        if (planned.isWeight) {
            stats.channelMin.assign(16, -0.5f);
            stats.channelMax.assign(16, 0.4f);
            params.scale.assign(16, 1.f / 255);
            params.zeroPoint.assign(16, 0);
        } else {
            stats.fine.min = 0;
            stats.fine.max = 10;
            for (int i = 0; i < 512; ++i)
                stats.fine.counts.push_back(float(100000 >> (i / 40)));
        }
        seen->observers.push_back(std::move(stats));
        out->qparams[planned.id] = params;
    }
    out->prepared = prepared;
    out->observations = seen;
    out->device = "cpu";
    out->seconds = 0.1;
    return CalibrationPtr(out);
}

Result<ConvertedPtr> FakeEngine::convert(const ConvertRequest& request, const JobContext&)
{
    auto out = std::make_shared<ConvertedModel>();
    out->prepared = request.calibration->prepared;
    out->reference = out->lowered = out->prepared->model;
    out->qparams = request.calibration->qparams;
    if (const Node* left = out->lowered->tryFind("linear"))
        out->residue = {{Residue::Kind::Unlowered, left->id, "linear", "no row for linear"},
                        {Residue::Kind::DeadPair, left->id, "linear", "its readers are float"}};
    return ConvertedPtr(out);
}

Result<ComparisonPtr> FakeEngine::compare(const CompareRequest& request, const JobContext&)
{
    ++comparisons;
    auto out = std::make_shared<Comparison>();
    out->againstOriginal = request.settings.againstOriginal;
    double sqnr = 42;
    for (const auto& decided : request.converted->prepared->plan->nodes) {
        const auto& plan = *request.converted->prepared->plan;
        if (!decided.quantized
            || (decided.group >= 0
                && plan.groups[std::size_t(decided.group)].members.back() != decided.node))
            continue;
        NodeError error;
        error.node = decided.node;
        ErrorMetrics metrics;
        metrics.sqnrDb = sqnr;
        error.bornHere = error.isolated = metrics;
        metrics.sqnrDb = sqnr - 3;
        error.cumulative = error.inherited = metrics;
        if (out->againstOriginal)
            error.bornHere = error.isolated = error.inherited = std::nullopt;
        out->nodes.push_back(error);
        sqnr -= lossStep;
    }
    // The first operator takes 1 ms, each later one half as long.
    double seconds = 1e-3;
    for (const auto& node : request.converted->prepared->model->nodes())
        if (node->kind == NodeKind::Op) {
            out->floatTimes.push_back({node->id, seconds});
            out->loweredTimes.push_back({node->id, seconds / 4});
            seconds /= 2;
        }
    ErrorMetrics last;
    last.sqnrDb = sqnr;
    out->outputs = {{"output", last, last}};
    out->samples = 16;
    if (labelled) {
        out->floatTop1 = 0.98;
        out->int8Top1 = 0.97;
    }
    out->agreement = Agreement {"output", 0.985};
    out->sampleErrors = fakeSamples(labelled);
    return ComparisonPtr(out);
}

Result<PreviewPtr> FakeEngine::preview(const PreviewRequest& request, const JobContext& job)
{
    ++decisionPreviews;
    QS_TRY(const PlanPtr planned, plan(request.model, request.recipe, job));
    --plans; // do not count this call
    QS_CHECK(job.check());
    auto out = std::make_shared<Preview>();
    double sqnr = 42;
    for (const auto& decided : planned->nodes) {
        if (!decided.quantized)
            continue;
        ErrorMetrics metrics;
        metrics.sqnrDb = sqnr - 3;
        out->nodes.push_back({decided.node, {}, {}, {}, metrics});
        sqnr -= lossStep;
    }
    ErrorMetrics last;
    last.sqnrDb = 30 - double(request.recipe.mapping.rules.size());
    out->outputs = {{"output", last, {}}};
    out->samples = 2;
    return PreviewPtr(out);
}

Result<ValuePreview> FakeEngine::storedValue(const GraphPtr& graph, NodeId node, const JobContext&)
{
    ++previews;
    if (graph->get(node).target == "fc.weight")
        return fail(ErrorCode::Io, "the file is cut short");
    ValuePreview out;
    out.type = graph->get(node).outputs.front().type.text();
    out.count = 144;
    out.min = -1;
    out.max = 1;
    out.mean = 0.25;
    out.first = {-1, -0.986, -0.972};
    out.histogram.assign(24, 6);
    return out;
}

Result<ScalarTextsPtr> FakeEngine::scalars(const GraphPtr&, const JobContext&)
{
    return std::make_shared<const ScalarTexts>(scalarTexts);
}

Result<Certificate> FakeEngine::verify(const VerifyStageRequest&, const JobContext& job)
{
    using Outcome = RuntimeVerdict::Outcome;
    job.report("verify", "model.int8.ts.pt in torch.jit", 0.5);
    Certificate certificate;
    RuntimeVerdict verdict;
    verdict.runtime = "torch.jit";
    verdict.form = "torchscript";
    verdict.file = "model.int8.ts.pt";
    verdict.outcome = Outcome::Passed;
    verdict.outputs = {{"output", 200.0, 0, 31.5, 31.5}};
    certificate.verdicts.push_back(verdict);
    verdict = {};
    verdict.runtime = "onnxruntime";
    verdict.form = "onnx";
    verdict.file = "model.int8.onnx";
    verdict.reason = "'onnxruntime' is missing";
    certificate.verdicts.push_back(verdict);
    return certificate;
}

Result<ExportReport> FakeEngine::exportTo(const ExportRequest& request, const JobContext&)
{
    ExportReport report {request.folder, {}, {}, {}};
    for (const auto& form : request.forms)
        report.files.push_back(request.folder + "/" + form);
    return report;
}

} // namespace qs
