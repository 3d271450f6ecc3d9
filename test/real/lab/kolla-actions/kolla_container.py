"""Returns empty results, because the tests have no containers."""
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        return dict(result, changed=False, result=False, containers={}, resources=[], rc=0, stdout='', stdout_lines=[])
