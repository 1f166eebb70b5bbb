// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/training_question.h"

#include "ui/session/workspace.h"

#include <QMessageBox>
#include <QPushButton>

namespace qs {

bool mayEndTraining(Workspace& workspace, QWidget* parent)
{
    ModelTrainer& trainer = workspace.trainer();
    if (!trainer.isTraining()) {
        if (trainer.isRunning() && trainer.choices().resumes)
            trainer.cancel(); // the decision that it was resumed from comes back
        return true;
    }
    QMessageBox box(QMessageBox::Question, QObject::tr("A training runs"),
                    QObject::tr("The training of %1 is not finished (%2).")
                        .arg(workspace.document().title(), trainer.progressText()),
                    QMessageBox::Discard | QMessageBox::Cancel, parent);
    box.setObjectName(QStringLiteral("trainingBox"));
    box.setInformativeText(QObject::tr("Its best state can become a decision now. Stopped or "
                                       "discarded, it can be resumed later."));
    QPushButton* keep
        = box.addButton(QObject::tr("Stop and &keep the best"), QMessageBox::AcceptRole);
    keep->setObjectName(QStringLiteral("trainingKeep"));
    box.setDefaultButton(keep);
    box.setEscapeButton(QMessageBox::Cancel);
    const int answer = box.exec();
    // It may have ended while the question was open.
    if (box.clickedButton() == keep) {
        trainer.cancel();
        trainer.waitForEnd();
        return true;
    }
    if (answer != QMessageBox::Discard)
        return false;
    trainer.discard();
    return true;
}

} // namespace qs
