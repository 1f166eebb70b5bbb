// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/configure/recipe.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"

#include <QAction>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

namespace qs::test {

/// The network of PyTorch's BackendConfig tutorial, with its batch norm.
inline const char* const kTutorial = R"(
import sys, torch
from torch import nn
class Tutorial(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.conv = nn.Linear(10, 3), nn.Conv2d(3, 3, 3)
        self.bn, self.relu, self.sigmoid = nn.BatchNorm2d(3), nn.ReLU(), nn.Sigmoid()
    def forward(self, x):
        return self.sigmoid(self.relu(self.bn(self.conv(self.linear(x)))))
torch.manual_seed(3)
torch.export.save(torch.export.export(Tutorial().eval(), (torch.randn(1, 3, 10, 10),)), sys.argv[1])
)";

inline const char* const kRecipe
    = R"({"format": "quantscope.recipe", "version": 1, "backend": "BACKEND",
 "qconfigs": {"act7": {
   "activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine",
                  "quant_min": 0, "quant_max": 127, "eps": 0.000244140625},
   "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}},
 "mapping": {"global": null, "object_type": [["torch.nn.Linear", "act7"], ["torch.nn.Conv2d", "act7"],
   ["torch.nn.BatchNorm2d", "act7"], ["torch.nn.ReLU", "act7"]]}})";

/// The convolution, the batch norm and the relu of the tutorial.
inline const char* const kFused[] = {"conv2d", "batch_norm", "relu"};
inline const std::vector<std::string> kFusion {"torch.nn.Conv2d", "torch.nn.BatchNorm2d",
                                               "torch.nn.ReLU"};

/// A test with the tutorial's network in the window, on backends in separate files.
class BackendWindow : public WindowTest<RealEngine>
{
protected:
    QTemporaryDir m_folder;
    QString m_model;

    QString file(const char* name) { return m_folder.filePath(QString::fromLatin1(name)); }
    Document& document() { return workspace().document(); }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(settled() && !document().isStale(Stage::Plan), 60000);
    }
    void openWith(const Recipe& recipe)
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(m_model, recipe);
        settle();
    }
    /// The tutorial's decisions on this backend, in a separate file.
    Recipe tutorialRecipe(const Backend& backend, const char* name)
    {
        QFile out(file(name));
        [&] { QVERIFY(out.open(QIODevice::WriteOnly)); }();
        out.write(QByteArray::fromStdString(backendToJson(backend)));
        out.close();
        const QByteArray text = QByteArray(kRecipe).replace("BACKEND", file(name).toUtf8());
        return *parseRecipe(text.toStdString(), "recipe.json");
    }
    static Backend myBackend()
    {
        return *readBackend(QS_SOURCE_DIR "/tests/engine/plan/my_backend.json");
    }
    const NodePlan& planOf(const char* name)
    {
        return *document().plan()->tryGet(*document().model(), node(name));
    }
    bool areQuantized()
    {
        return std::all_of(std::begin(kFused), std::end(kFused),
                           [this](const char* name) { return planOf(name).quantized; });
    }
    void makeModel()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_model = file("tutorial.pt2");
        QCOMPARE(QProcess::execute(QStringLiteral(QS_PYTHON),
                                   {QStringLiteral("-c"), QString::fromLatin1(kTutorial), m_model}),
                 0);
    }
};

} // namespace qs::test
