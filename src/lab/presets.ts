/** Renders the preset lab files, with three or four nodes. Their comments are the first documentation a user reads. Pure. */

export const presetNames = ['three-node', 'four-node'] as const
export type PresetName = (typeof presetNames)[number]

export interface PresetAnswers {
  readonly preset: PresetName
  readonly name: string
  readonly cores: number
  readonly memory: string
  readonly disk: string
  readonly domain: string
  readonly phase: 'lvm' | 'ceph' | 'both'
  readonly containers: 'debian' | 'ubuntu'
}

export const defaultAnswers: PresetAnswers = {
  preset: 'three-node',
  name: 'osl',
  cores: 12,
  memory: '96GiB',
  disk: '180GiB',
  domain: 'openstack.local',
  phase: 'lvm',
  containers: 'debian',
}

/** With `schema`, its first line names the JSON Schema for editors. */
export function renderPreset(answers: PresetAnswers, schema?: string): string {
  const { name, cores, memory, disk, domain, phase, containers } = answers
  const schemaLine = schema === undefined ? '' : `# yaml-language-server: $schema=./${schema}\n`
  return `${schemaLine}# A lab: a production-like OpenStack on this machine, in Lima VMs, deployed by Kolla-Ansible.
#   stackloom lab check     says what is wrong, before any VM exists
#   stackloom lab render    writes VMs, networks, Kolla configuration, TLS, DNS, Ceph and Terraform
#   stackloom lab up        does everything, stage by stage
apiVersion: stackloom.dev/v1alpha1
kind: Lab
metadata:
  name: ${name}
spec:
  # The budget of this machine. storage: PATH puts all disks on another drive.
  host: {cores: ${cores}, memory: ${memory}, disk: ${disk}, reserve: {memory: 16GiB, disk: 30GiB}}
  openstack: {release: "2025.2"}
  vm: {type: qemu, arch: aarch64}
  # Debian images are the only ones that upstream publishes for aarch64. For base ubuntu, build images with kolla-build.
  containers: {base: ${containers}}
  networks:
    management: {mode: shared, subnet: 192.168.105.0/24}
    tunnel: {mode: host, subnet: 10.0.1.0/24}
    # Two NICs on this one: ext0, the raw port of OVN without any address, and vip0 for the external VIP.
    # It is shared, which is NAT to the internet: instances leave the lab through their router.
    external: {mode: shared, subnet: 10.0.2.0/24, floating: 10.0.2.150-10.0.2.199}
    storage: {mode: host, subnet: 10.0.3.0/24}
  vips: {internal: 192.168.105.250, external: 10.0.2.250}
  nodes:
${renderNodes(answers.preset)}  # lvm first; then both: Ceph beside it, and volumes can move from one to the other.
  storage: {phase: ${phase}}
  tls: true
  monitoring: {prometheus: true, grafana: true}
  # opensearch: central logging, later.
  logging: none
  dns: {domain: ${domain}}
`
}

function renderNodes(preset: PresetName): string {
  const four = preset === 'four-node'
  const compute = (name: string, host: number, disks: string): string => `  - name: ${name}
    roles: [compute]
    cpus: 4
    memory: ${four ? '20GiB' : '28GiB'}
    disk: 40GiB
${disks}    host: ${host}
`
  return `  - name: node1
    roles: [control, network, monitoring, ceph-mon]
    cpus: 6
    memory: ${four ? '24GiB' : '32GiB'}
    disk: 60GiB
    # disks: {state: 40GiB} for /var/lib/docker lets this VM be replaced without losing the database.
    host: 11
${compute('node2', 12, '    # Stays unformatted: the Ceph phase uses it.\n    disks: {osd: 20GiB}\n')}  - name: node3
    roles: [storage]
    cpus: 2
    memory: 12GiB
    disk: 30GiB
    disks: {lvm: 10GiB, osd: 20GiB}
    host: 13
${four ? compute('node4', 14, '') : ''}`
}
