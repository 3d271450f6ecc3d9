"""Copies files in this process, because a module process for each of Kolla's files takes seconds."""
import os
import shutil

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    TRANSFERS_FILES = True

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = self._task.args
        dest = args['dest']
        if args.get('content') is not None:
            with open(dest, 'w') as file:
                file.write(args['content'])
        else:
            source = args['src'] if os.path.isabs(args['src']) else self._find_needle('files', args['src'])
            if dest.endswith('/') or os.path.isdir(dest):
                os.makedirs(dest, exist_ok=True)
                if not source.endswith('/'):
                    dest = os.path.join(dest, os.path.basename(source))
            if os.path.isdir(source):
                shutil.copytree(source, dest, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, dest)
        return dict(result, changed=False, dest=dest, invocation={'module_args': {}})
