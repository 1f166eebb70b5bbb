// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/memory/memory_budget.h"
#include "engine/base/process/system.h"
#include "engine/extensions/load_pack.h"
#include "engine/pipeline/engine_service.h"
#include "engine/project/outside_paths.h"
#include "engine/result/stored_run.h"
#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/main_window.h"
#include "ui/shell/picture/photographer.h"
#include "ui/style/window_style.h"

#include <QAction>
#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QIcon>
#include <QStandardPaths>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace {

/// The request of the command line.
struct Wanted
{
    QString model, screenshot, data, compareOn, select, recipe;
    QStringList extensions;
    QSize size; ///< empty: the default size
    qs::WindowStyle style = qs::savedStyle();
    std::size_t valueBytes = qs::kUsualValueBytes;

    bool runs() const { return !data.isEmpty() || !compareOn.isEmpty(); }
};

/// Suppresses Qt's warnings, as scripts read our one line on stderr.
void keepQtQuiet(QtMsgType type, const QMessageLogContext&, const QString& text)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "%s\n", qPrintable(text));
}

bool takesPicture(int argc, char** argv)
{
    return std::any_of(argv, argv + argc, [](const char* word) {
        return std::string_view(word).substr(0, 12) == "--screenshot";
    });
}

int fail(const QString& line, int code)
{
    std::fprintf(stderr, "%s\n", qPrintable(line));
    return code;
}

bool hasDisplay()
{
    for (const char* name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
        if (!qEnvironmentVariableIsEmpty(name))
            return true;
    return false;
}

/// The options of the command line.
struct Options
{
    QCommandLineOption screenshot {
        QStringLiteral("screenshot"),
        QObject::tr("Write a picture of the window, and FILE.json with nodes_total, "
                    "nodes_drawn, layout and seconds, then exit."),
        QStringLiteral("FILE")};
    QCommandLineOption size {
        QStringLiteral("size"),
        QObject::tr("Size of the window; default: 1600x1000, or less on a smaller screen. "
                    "If its panels do not fit, it is enlarged, with a message on stderr."),
        QStringLiteral("WxH")};
    QCommandLineOption data {QStringLiteral("data"),
                             QObject::tr("Calibrate, convert and compare with these data."),
                             QStringLiteral("D")};
    QCommandLineOption compareOn {
        QStringLiteral("compare-on"),
        QObject::tr("Compare on these data instead of those of the calibration, on all of them."),
        QStringLiteral("D")};
    QCommandLineOption select {QStringLiteral("select"),
                               QObject::tr("Select a node by its name or its module's path."),
                               QStringLiteral("NODE")};
    QCommandLineOption recipe {QStringLiteral("recipe"), QObject::tr("Start from this recipe."),
                               QStringLiteral("R")};
    QCommandLineOption extension {
        QStringLiteral("extension"),
        QObject::tr("The folder of an extension pack, whose operators and kernels are needed; its "
                    "code runs in this program; may be given again."),
        QStringLiteral("DIR")};
    QCommandLineOption dark {QStringLiteral("dark"), QObject::tr("Dark colours.")};
    QCommandLineOption text {QStringLiteral("text-size"),
                             QObject::tr("Text size in percent, 80 to 200."),
                             QStringLiteral("PERCENT")};
    QCommandLineOption keep {QStringLiteral("keep-values"),
                             QObject::tr("Memory for values that comparisons and previews reuse "
                                         "after a change, 0 to 65536 MB; default: 768."),
                             QStringLiteral("MB")};
    QCommandLineOption memory {QStringLiteral("memory"),
                               QObject::tr("Limit of main memory: 4G, 512M. Fewer values are kept, "
                                           "and a run that cannot fit is refused."),
                               QStringLiteral("SIZE")};

    QList<QCommandLineOption> all() const
    {
        return {screenshot, size, data, compareOn, select, recipe,
                extension,  dark, text, keep,      memory};
    }
};

/// Returns 0 to continue, else the exit code plus one.
int parse(QApplication& app, Wanted& wanted)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        QObject::tr("Quantize PyTorch models and see what every layer loses."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("model"),
                                 QObject::tr("A .pt2 or TorchScript model to open."),
                                 QStringLiteral("[MODEL|PROJECT]"));
    const Options options;
    parser.addOptions(options.all());
    if (!parser.parse(app.arguments()))
        return 1 + fail(parser.errorText(), 2);
    if (parser.isSet(QStringLiteral("help"))) {
        std::fputs(qPrintable(parser.helpText()), stdout);
        return 1;
    }
    if (parser.isSet(QStringLiteral("version"))) {
        std::puts("quantscope-ui " QUANTSCOPE_VERSION);
        return 1;
    }
    if (parser.positionalArguments().size() > 1)
        return 1 + fail(QObject::tr("one model at a time, please"), 2);
    wanted.model = parser.positionalArguments().value(0);
    wanted.screenshot = parser.value(options.screenshot);
    wanted.data = parser.value(options.data);
    wanted.compareOn = parser.value(options.compareOn);
    wanted.select = parser.value(options.select);
    wanted.recipe = parser.value(options.recipe);
    wanted.extensions = parser.values(options.extension);
    const std::string file = wanted.model.toStdString();
    if (wanted.data.isEmpty() && !wanted.compareOn.isEmpty() && !qs::isProjectFile(file)
        && !qs::isResult(file))
        return 1 + fail(QObject::tr("--data is required: only a project names data"), 2);
    if (parser.isSet(options.dark))
        wanted.style.colours = qs::WindowStyle::Colours::Dark;
    if (parser.isSet(options.text)) {
        wanted.style.textPercent = parser.value(options.text).toInt();
        if (wanted.style.textPercent < 80 || wanted.style.textPercent > 200)
            return 1 + fail(QObject::tr("invalid --text-size; expected 80 to 200"), 2);
    }
    if (parser.isSet(options.keep)) {
        bool isNumber = false;
        const uint megabytes = parser.value(options.keep).toUInt(&isNumber);
        if (!isNumber || megabytes > 65536)
            return 1 + fail(QObject::tr("invalid --keep-values; expected 0 to 65536"), 2);
        wanted.valueBytes = std::size_t(megabytes) << 20;
    }
    if (parser.isSet(options.memory)) {
        const auto bytes = qs::parseBytes(parser.value(options.memory).toStdString());
        if (!bytes)
            return 1 + fail(QObject::tr("invalid --memory; expected a size such as 4G"), 2);
        qs::setMemoryLimit(*bytes);
    }
    if (parser.isSet(options.size)) {
        const auto parts = parser.value(options.size).split(QLatin1Char('x'));
        wanted.size = QSize(parts.value(0).toInt(), parts.value(1).toInt());
        if (parts.size() != 2 || wanted.size.width() < 320 || wanted.size.height() < 240)
            return 1
                + fail(QObject::tr("invalid --size; expected WIDTHxHEIGHT, at least 320x240"), 2);
    }
    return 0;
}

/// Calibrates, converts and compares with the data of the command line after the model is planned.
void runWithData(qs::MainWindow& window, const QString& data, const QString& compareOn)
{
    auto& pipeline = window.workspace().pipeline();
    QObject::connect(&pipeline, &qs::Pipeline::succeeded, &window,
                     [&window, data, compareOn, ran = false](qs::Stage stage) mutable {
                         if (stage != qs::Stage::Plan || std::exchange(ran, true))
                             return;
                         auto& document = window.workspace().document();
                         document.setSettings(document.settings().withData(
                             data.toStdString(), compareOn.toStdString()));
                         window.workspace().pipeline().runUpTo(qs::Stage::Compare);
                     });
}

/// Runs before the constructors of the libraries.
void runFirst(int, char** argv, char** environment)
{
    qs::restartWithPassiveThreads(argv, environment);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kFirst)(int, char**, char**) = runFirst;

int runWindow(int argc, char** argv)
{
    // Screenshots and help need no display; without one Qt would abort.
    const bool display = hasDisplay();
    if (!display)
        qputenv("QT_QPA_PLATFORM", "offscreen");
    if (!display || takesPicture(argc, argv))
        qInstallMessageHandler(keepQtQuiet);
    QApplication app(argc, argv);
    app.setApplicationName(QStringLiteral("quantscope"));
    app.setOrganizationName(QStringLiteral("quantscope"));
    app.setWindowIcon(QIcon(QStringLiteral(":/icons/quantscope.svg")));
    Wanted wanted;
    if (const int code = parse(app, wanted))
        return code - 1;
    if (!display && wanted.screenshot.isEmpty())
        return fail(QObject::tr("quantscope-ui: there is no display; start it from a desktop, or "
                                "add --screenshot FILE"),
                    1);
    qs::applyStyle(app, wanted.style);
    const auto engine = qs::makeEngine(
        QStandardPaths::writableLocation(QStandardPaths::CacheLocation).toStdString(),
        wanted.valueBytes);
    for (const QString& folder : std::as_const(wanted.extensions))
        if (const auto loaded = qs::loadPack(folder.toStdString()); !loaded)
            return fail(QString::fromStdString(loaded.error().line()), 1);
    if (!wanted.model.isEmpty())
        engine->expectOpening(wanted.model.toStdString());
    qs::MainWindow window(*engine);
    // Screenshots have a fixed default size, independent of the screen.
    if (wanted.size.isEmpty() && !wanted.screenshot.isEmpty())
        wanted.size = QSize(1600, 1000);
    if (!wanted.size.isEmpty())
        window.resize(wanted.size);
    window.actions()[qs::ActionId::CompareAfterEach].setChecked(wanted.screenshot.isEmpty()
                                                                && qs::wantsComparisonAfterEach());
    window.show();
    std::unique_ptr<qs::Photographer> photographer;
    if (!wanted.screenshot.isEmpty()) {
        window.keepNoRecent();
        QApplication::setCursorFlashTime(0); // no blinking caret in screenshots
        photographer = std::make_unique<qs::Photographer>(
            window,
            qs::ScreenshotOrder {wanted.screenshot, wanted.model, wanted.select, wanted.size,
                                 wanted.runs()});
    } else
        qs::sayWhereEnlarged(window, wanted.size);
    if (wanted.runs())
        runWithData(window, wanted.data, wanted.compareOn);
    if (!wanted.model.isEmpty()) {
        qs::Recipe recipe = qs::defaultRecipe();
        if (!wanted.recipe.isEmpty()) {
            auto read = qs::readRecipe(wanted.recipe.toStdString());
            if (!read)
                return fail(QString::fromStdString(read.error().line()), 1);
            recipe = std::move(*read);
        }
        // A screenshot run cannot ask the user.
        const std::string file = wanted.model.toStdString();
        if (!wanted.screenshot.isEmpty() && qs::isProjectFile(file))
            if (const auto project = qs::readProject(file);
                project && !qs::unconfirmedPaths(file, qs::pathsOutside(*project, file)).empty())
                return fail(
                    QObject::tr("%1: it names files outside its folder; open it in the window once")
                        .arg(wanted.model),
                    1);
        window.openModel(wanted.model, recipe);
    }
    return QApplication::exec();
}

} // namespace

int main(int argc, char** argv)
{
    qs::beginProcess();
    qs::endProcess(runWindow(argc, argv));
}
