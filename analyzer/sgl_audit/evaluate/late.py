"""Refusals that a server meets only once loading starts.

Three stages in the order in which a server meets them: the loader's quantization configuration,
the mixture-of-experts method that this configuration chooses, and the attention back end with the
wrapper for special models. Each is the tree's own code, run without a loaded model; what only a
loaded model has is unknown, and where that decides nothing is claimed.
"""

from __future__ import annotations

from sgl_audit.evaluate.entry import Entry, Follow, Reached
from sgl_audit.evaluate.late_attention import attention_refusals
from sgl_audit.evaluate.late_quantization import expert_refusals, quantization_config
from sgl_audit.evaluate.late_runner import make_runner
from sgl_audit.evaluate.late_trial import Trial
from sgl_audit.evaluate.values import Instance
from sgl_audit.model.resolution import Refusal

SCHEDULER = "scheduler"
MODEL_CONFIG = "model_config"


def late_refusals(
    entry: Entry, reached: Reached, follow: Follow = Follow.NOTHING
) -> tuple[Refusal, ...] | None:
    """The refusals in the order they are met, or None where that is not known.

    Args:
        follow: how far to follow the layers, where nothing before them refuses.
    """
    trial = Trial(entry)
    scheduler = reached.scheduler
    if not isinstance(scheduler, Instance) or reached.stopped is not None:
        return _before_loading(trial, reached)
    model_config = scheduler.d["model_config"]
    runner = make_runner(trial, model_config, reached)
    if trial.refusals:
        # The runner itself refuses: a server gets no further.
        return trial.answer()
    quantization = quantization_config(trial, model_config, reached)
    expert_refusals(trial, quantization, model_config, reached)
    attention_refusals(trial, runner, reached)
    reached.late_reason = trial.reason
    if follow is not Follow.NOTHING and not trial.refusals:
        from sgl_audit.evaluate.following.sites import follow_launch

        reached.paths = follow_launch(trial, runner, model_config, quantization, reached, follow)
    return trial.answer()


def _before_loading(trial: Trial, reached: Reached) -> tuple[Refusal, ...] | None:
    """What stopped the scheduler stops the server, if the tree itself refused there."""
    raised = reached.stopped_by
    if raised is not None and trial.is_refusal(raised):
        ready = isinstance(reached.scheduler, Instance) and "model_config" in reached.scheduler.d
        return (trial.refusal(raised, SCHEDULER if ready else MODEL_CONFIG),)
    reached.late_reason = reached.stopped or "the scheduler was not reached"
    return None
