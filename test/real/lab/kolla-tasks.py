"""Narrows a copy of Kolla-Ansible to the tasks that render the configuration this test looks at.

The tasks, templates and variables stay Kolla's own; only their number shrinks: all of them take minutes.
"""
import os
import sys

import yaml

ANSIBLE, OUT = sys.argv[1:3]

# Role: the group of its hosts, its tasks, and the services that they are done for.
WANTED = {
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
# What stands behind the VIPs of the lab.
BALANCED = ['cinder', 'glance', 'grafana', 'horizon', 'keystone', 'neutron', 'nova', 'nova-cell', 'placement',
            'prometheus', 'rabbitmq']


def read(*path):
    with open(os.path.join(ANSIBLE, *path)) as file:
        return yaml.safe_load(file)


def write(value, *path):
    with open(os.path.join(ANSIBLE, *path), 'w') as file:
        yaml.safe_dump(value, file)


for role, (groups, names, services) in WANTED.items():
    tasks = [task for task in read('roles', role, 'tasks', 'config.yml') if task.get('name') in names]
    if len(tasks) != len(names):
        sys.exit(f'{role}: {names} are not all there')
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
# Its further tasks are for a single frontend and for firewalld, and the lab has neither.
# Services that nothing balances are left out here: the task would look at each of them and skip it.
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
    for role, (groups, _, _) in WANTED.items()
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
