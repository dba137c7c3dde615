"""Training: losses, closed-form gradients and Algorithm 1 of arXiv 2409.17335.

`train` runs both stages; a :class:`Training` holds a record per stage and the final weights.
:mod:`marginaudit.training.losses` is the textbook form in embedding space, for any weights.
"""

from marginaudit.training.algorithm1 import train
from marginaudit.training.classes import SampleClasses, sample_classes
from marginaudit.training.forward import label_logits, log_attention, log_probabilities, predict
from marginaudit.training.horizon import MOST_TRUE_STEPS, no_fast_forward
from marginaudit.training.losses import (
    loss_gradient,
    sample_probabilities,
    stage1_loss,
    stage1_loss_gradient,
    stage2_loss,
)
from marginaudit.training.records import Asymptotics, Progress, Stage1, Stage2, StageRecord, Training
from marginaudit.training.schedule import log_spaced
from marginaudit.training.stage1_law import stage1_law

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
    "log_attention",
    "log_probabilities",
    "log_spaced",
    "loss_gradient",
    "no_fast_forward",
    "predict",
    "sample_classes",
    "sample_probabilities",
    "stage1_law",
    "stage1_loss",
    "stage1_loss_gradient",
    "stage2_loss",
    "train",
]
