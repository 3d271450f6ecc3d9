"""Reduces a copy of Kolla-Ansible to the tasks that render the configuration that the tests read.

Tasks, templates and variables are unchanged, but fewer: all of them take minutes.
"""
import os
import sys

import yaml

ANSIBLE, OUT = sys.argv[1:3]

# Role: groups of hosts, names of tasks, and services.
ROLES = {
    'cinder': (
        ['control', 'storage'],
        ['Copying over cinder.conf'],
        ['cinder-api', 'cinder-volume'],
    ),
    'glance': (['control'], ['Copying over glance-api.conf'], ['glance-api']),
    'nova': (['control'], ['Copying over nova.conf'], ['nova-api']),
    'nova-cell': (['compute'], ['Copying over nova.conf'], ['nova-compute']),
    'neutron': (
        ['control', 'compute'],
        ['Copying over neutron.conf', 'Copying over ml2_conf.ini'],
        ['neutron-server', 'neutron-ovn-metadata-agent'],
    ),
    'loadbalancer': (
        ['network'],
        ['Copying over haproxy.cfg', 'Copying over keepalived.conf', 'Copying checks for services which are enabled'],
        ['haproxy', 'keepalived', 'proxysql'],
    ),
}
# Services behind the VIPs of the lab.
BALANCED = ['cinder', 'glance', 'grafana', 'horizon', 'keystone', 'neutron', 'nova', 'nova-cell', 'placement',
            'prometheus', 'rabbitmq']


def read(*path):
    with open(os.path.join(ANSIBLE, *path)) as file:
        return yaml.safe_load(file)


def write(value, *path):
    with open(os.path.join(ANSIBLE, *path), 'w') as file:
        yaml.safe_dump(value, file)


for role, (groups, names, services) in ROLES.items():
    tasks = [task for task in read('roles', role, 'tasks', 'config.yml') if task.get('name') in names]
    if len(tasks) != len(names):
        sys.exit(f'{role}: {names} not found')
    for task in tasks:
        if 'with_dict' in task:
            inner = task['with_dict'].strip('{} ')
            task['with_dict'] = (
                '{{ (%s) | dict2items | selectattr("key", "in", %s) | items2dict }}' % (inner, services)
            )
    write(tasks, 'roles', role, 'tasks', 'narrow.yml')
    for host in ('node1', 'node2', 'node3'):
        for service in services:
            os.makedirs(os.path.join(OUT, host, service), exist_ok=True)

for folder in ('haproxy/services.d', 'keepalived/checks'):
    os.makedirs(os.path.join(OUT, 'node1', folder), exist_ok=True)
# The other tasks are for a single frontend and for firewalld, which the lab does not use.
# Services without haproxy are removed, because the task would only skip them.
haproxy = read('roles', 'haproxy-config', 'tasks', 'main.yml')[:1]
haproxy[0]['with_dict'] = '{{ project_services | dict2items | selectattr("value.haproxy", "defined") | items2dict }}'
write(haproxy, 'roles', 'haproxy-config', 'tasks', 'main.yml')
write(read('roles', 'loadbalancer-config', 'tasks', 'main.yml')[:1], 'roles', 'loadbalancer-config', 'tasks', 'main.yml')

configuration = [
    {
        'hosts': ':'.join(groups),
        'gather_facts': False,
        'tasks': [{'import_role': {'name': role, 'tasks_from': 'narrow.yml'}}],
    }
    for role, (groups, _, _) in ROLES.items()
]
plays = {play.get('name'): play for play in read('site.yml')}
balancing = [
    task
    for block in plays['Apply role loadbalancer']['tasks']
    for task in block['block']
    if task['include_role']['name'] in BALANCED
]
write(
    [
        *configuration,
        {'hosts': 'loadbalancer', 'gather_facts': False, 'tasks': balancing},
    ],
    'narrow.yml',
)
