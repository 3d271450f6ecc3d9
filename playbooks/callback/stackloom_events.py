"""Tells Stackloom what happens in a run: one line of JSON for each thing that it shows to people."""

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: stackloom_events
    type: notification
    short_description: the events of a run, as lines of JSON
    description:
      - Written to the file that the variable STACKLOOM_EVENTS names; without it nothing is written.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "stackloom_events"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self):
        super().__init__()
        path = os.environ.get("STACKLOOM_EVENTS")
        # A whole line at a time: whoever reads along never sees half of a word.
        self._out = open(path, "a", buffering=1) if path else None

    def _tell(self, event, **facts):
        if self._out:
            self._out.write(json.dumps({"event": event, **facts}) + "\n")

    def _tell_failure(self, event, result, **facts):
        said = result._result
        items = [one for one in said.get("results") or [] if isinstance(one, dict) and one.get("failed")]
        said = items[0] if items else said
        # What a task marked with no_log has said is replaced before it comes here.
        text = said.get("msg") or said.get("stderr") or said.get("censored") or ""
        self._tell(event, host=result._host.get_name(), task=result._task.get_name(), message=str(text), **facts)

    def v2_playbook_on_play_start(self, play):
        self._tell("play", name=play.get_name())

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._tell("task", name=task.get_name())

    def v2_playbook_on_handler_task_start(self, task):
        self._tell("task", name=task.get_name())

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._tell_failure("failed", result, ignored=ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._tell_failure("unreachable", result)

    def v2_playbook_on_stats(self, stats):
        self._tell("stats", hosts={host: stats.summarize(host) for host in sorted(stats.processed)})
