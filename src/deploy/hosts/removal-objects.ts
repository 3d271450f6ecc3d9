/** Renders what stops the services of one host and renews the known hosts of the others, as deployments. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { deploymentKind, REMOVAL_LABEL, serviceKind } from '../../hosts/data-plane.ts'

/** A service of the operators that writes the keys of all hosts to each of them. */
export const KNOWN_HOSTS_SERVICE = 'ssh-known-hosts'

/** Units of edpm-ansible begin with `edpm_`. Disabled, so that a reboot does not start nova-compute again. */
const STOP_PLAYBOOK = `- name: Stop the services of the host
  hosts: all
  become: true
  gather_facts: false
  tasks:
    - name: Find the services
      ansible.builtin.find:
        paths: [/etc/systemd/system]
        patterns: ['edpm_*.service', 'edpm_*.timer']
        file_type: any
      register: units
    - name: Stop and disable them
      ansible.builtin.systemd:
        name: "{{ item.path | basename }}"
        state: stopped
        enabled: false
      loop: "{{ units.files }}"
`

export function renderStopService(namespace: string, host: string): KubeObject {
  return {
    ...serviceKind,
    metadata: { name: `stop-${host}`, namespace, labels: { [REMOVAL_LABEL]: host } },
    spec: { playbookContents: STOP_PLAYBOOK },
  }
}

export function renderStopDeployment(namespace: string, host: string, nodeSet: string): KubeObject {
  return {
    ...deploymentKind,
    metadata: { name: `stop-${host}`, namespace, labels: { [REMOVAL_LABEL]: host } },
    spec: { nodeSets: [nodeSet], servicesOverride: [`stop-${host}`], ansibleLimit: host },
  }
}

export function renderKnownHostsDeployment(namespace: string, host: string, nodeSets: readonly string[]): KubeObject {
  return {
    ...deploymentKind,
    metadata: { name: `known-hosts-without-${host}`, namespace, labels: { [REMOVAL_LABEL]: host } },
    spec: { nodeSets, servicesOverride: [KNOWN_HOSTS_SERVICE] },
  }
}
