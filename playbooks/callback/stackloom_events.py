"""Writes the events of a run as lines of JSON for Stackloom."""

import json
import os

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: stackloom_events
    type: notification
    short_description: writes the events of a run as lines of JSON
    description:
      - Writes to the file in the variable STACKLOOM_EVENTS; without it nothing is written.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "stackloom_events"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self):
        super().__init__()
        path = os.environ.get("STACKLOOM_EVENTS")
        # Line buffered: a concurrent reader sees complete lines.
        self._out = open(path, "a", buffering=1) if path else None

    def _write(self, event, **facts):
        if self._out:
            self._out.write(json.dumps({"event": event, **facts}) + "\n")

    def _write_failure(self, event, result, **facts):
        failure = result._result
        items = [item for item in failure.get("results") or [] if isinstance(item, dict) and item.get("failed")]
        failure = items[0] if items else failure
        # Ansible censors the result of a task with no_log before this point.
        text = failure.get("msg") or failure.get("stderr") or failure.get("censored") or ""
        # Ansible says of every failed command that it failed; the command says why.
        if text == "non-zero return code":
            text = (failure.get("stderr") or failure.get("stdout") or text).strip()
        # dnf names the packages here, and not in its message.
        reasons = [str(reason) for reason in failure.get("failures") or []]
        text = ": ".join([str(text), *reasons])
        self._write(event, host=result._host.get_name(), task=result._task.get_name(), message=text, **facts)

    def v2_playbook_on_play_start(self, play):
        self._write("play", name=play.get_name())

    def v2_playbook_on_task_start(self, task, is_conditional):
        self._write("task", name=task.get_name())

    def v2_playbook_on_handler_task_start(self, task):
        self._write("task", name=task.get_name())

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self._write_failure("failed", result, ignored=ignore_errors)

    def v2_runner_on_unreachable(self, result):
        self._write_failure("unreachable", result)

    def v2_playbook_on_stats(self, stats):
        self._write("stats", hosts={host: stats.summarize(host) for host in sorted(stats.processed)})
