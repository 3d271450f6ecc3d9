"""Narrows a copy of Kolla-Ansible's roles to the tasks that render the configuration this test looks at.

The tasks, templates and variables stay Kolla's own; only their number shrinks: all of them take minutes.
"""
import os
import sys

import yaml

ANSIBLE, OUT = sys.argv[1:3]
WANTED = {
    'cinder': (['Copying over cinder.conf'], ['cinder-volume']),
    'glance': (['Copying over glance-api.conf'], ['glance-api']),
    'nova-cell': (['Copying over nova.conf'], ['nova-compute']),
    'neutron': (['Copying over neutron.conf', 'Copying over ml2_conf.ini'], ['neutron-server']),
    'loadbalancer': (['Copying over haproxy.cfg', 'Copying over keepalived.conf'], ['haproxy', 'keepalived']),
}

for role, (names, services) in WANTED.items():
    folder = os.path.join(ANSIBLE, 'roles', role, 'tasks')
    with open(os.path.join(folder, 'config.yml')) as file:
        tasks = [task for task in yaml.safe_load(file) if task.get('name') in names]
    if len(tasks) != len(names):
        sys.exit(f'{role}: {names} are not all there')
    for task in tasks:
        if 'with_dict' in task:
            inner = task['with_dict'].strip('{} ')
            task['with_dict'] = (
                '{{ (%s) | dict2items | selectattr("key", "in", %s) | items2dict }}' % (inner, services)
            )
    with open(os.path.join(folder, 'narrow.yml'), 'w') as file:
        yaml.safe_dump(tasks, file)
    for host in ('node1', 'node2', 'node3'):
        for service in services:
            os.makedirs(os.path.join(OUT, host, service), exist_ok=True)

with open(os.path.join(ANSIBLE, 'narrow.yml'), 'w') as file:
    yaml.safe_dump(
        [
            {
                'hosts': 'all',
                'gather_facts': False,
                'tasks': [
                    {'include_role': {'name': role, 'tasks_from': 'narrow.yml'}, 'when': f"'{group}' in group_names"}
                    for role, group in [
                        ('cinder', 'storage'),
                        ('glance', 'control'),
                        ('nova-cell', 'compute'),
                        ('neutron', 'control'),
                        ('loadbalancer', 'network'),
                    ]
                ],
            }
        ],
        file,
    )
