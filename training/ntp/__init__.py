"""Losses, closed-form gradients and Algorithm 1 of arXiv 2409.17335.

`train` runs both stages; a :class:`Training` holds a record per stage and the final weights.
``marginaudit.training.ntp.model.losses`` is the textbook form in embedding space, for any weights.
"""

from marginaudit.training.ntp.algorithm1 import train
from marginaudit.training.ntp.far.horizon import MOST_TRUE_STEPS, no_closed_form, no_fast_forward
from marginaudit.training.ntp.model.classes import SampleClasses, sample_classes
from marginaudit.training.ntp.model.losses import (
    loss_gradient,
    stage1_loss,
    stage1_loss_gradient,
    stage2_loss,
)
from marginaudit.training.ntp.prediction import label_logits, log_probabilities, predict
from marginaudit.training.ntp.records import Progress, Stage1, Stage2, StageRecord
from marginaudit.training.ntp.stage1 import stage1_law
from marginaudit.training.ntp.trained import Asymptotics, Training

__all__ = [
    "MOST_TRUE_STEPS",
    "Asymptotics",
    "Progress",
    "SampleClasses",
    "Stage1",
    "Stage2",
    "StageRecord",
    "Training",
    "label_logits",
    "log_probabilities",
    "loss_gradient",
    "no_closed_form",
    "no_fast_forward",
    "predict",
    "sample_classes",
    "stage1_law",
    "stage1_loss",
    "stage1_loss_gradient",
    "stage2_loss",
    "train",
]
