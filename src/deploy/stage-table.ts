/**
 * The stages of a site, as data: what each is for, what must be over before it and why, and which make target of
 * install_yamls it replaces.
 *
 * `shared` stages run once, the others once per cloud. The work behind a name is elsewhere.
 */

export const sharedStages = [
  'preflight',
  'nmstate',
  'metallb',
  'nncp',
  'cert-manager',
  'openstack',
  'openstack-init',
] as const

export const cloudStages = [
  'namespace',
  'secrets',
  'netattach',
  'metallb-config',
  'netconfig',
  'control-plane',
  'data-plane',
  'verify',
] as const

export type SharedStage = (typeof sharedStages)[number]
export type CloudStage = (typeof cloudStages)[number]
export type StageName = SharedStage | CloudStage

export interface StageEntry {
  readonly name: StageName
  readonly scope: 'shared' | 'cloud'
  /** One sentence for people. */
  readonly what: string
  readonly after: readonly { readonly name: StageName; readonly why: string }[]
  readonly locks: readonly string[]
  /** What one would have typed in install_yamls. */
  readonly replaces: string
}

/** Nodes lose their way to the API server for a moment when their interfaces change: one stage at a time. */
export const NODE_NETWORKING = 'node networking'

const shared = (entry: Omit<StageEntry, 'scope' | 'locks'> & Partial<StageEntry>): StageEntry => ({
  scope: 'shared',
  locks: [],
  ...entry,
})
const cloud = (entry: Omit<StageEntry, 'scope' | 'locks'>): StageEntry => ({
  scope: 'cloud',
  locks: [],
  ...entry,
})

export const stageTable: readonly StageEntry[] = [
  shared({
    name: 'preflight',
    what: 'checks what the cluster must bring: Multus, whereabouts, storage, gateway settings, DNS',
    after: [],
    replaces: 'make validate_marketplace crc_storage',
  }),
  shared({
    name: 'nmstate',
    what: 'installs the operator that configures the interfaces of nodes',
    after: [{ name: 'preflight', why: 'the cluster must be fit first' }],
    replaces: 'make nmstate',
  }),
  shared({
    name: 'metallb',
    what: 'installs the operator that gives LoadBalancer Services their addresses',
    after: [{ name: 'preflight', why: 'the cluster must be fit first' }],
    replaces: 'make metallb',
  }),
  shared({
    name: 'nncp',
    what: 'puts VLANs, bridges and addresses on the nodes, one node at a time',
    after: [{ name: 'nmstate', why: 'its handlers configure the nodes' }],
    locks: [NODE_NETWORKING],
    replaces: 'make nncp',
  }),
  shared({
    name: 'cert-manager',
    what: 'installs the operator that issues certificates',
    after: [{ name: 'preflight', why: 'the cluster must be fit first' }],
    replaces: 'make certmanager',
  }),
  shared({
    name: 'openstack',
    what: 'installs the OpenStack operator',
    after: [{ name: 'cert-manager', why: 'its webhooks take their certificates from there' }],
    replaces: 'make openstack openstack_wait',
  }),
  shared({
    name: 'openstack-init',
    what: "brings up every service's operator and their webhooks",
    after: [{ name: 'openstack', why: 'that operator installs the others' }],
    replaces: 'make openstack_init',
  }),
  cloud({
    name: 'namespace',
    what: "makes the cloud's namespace",
    after: [{ name: 'preflight', why: 'the cluster must be fit first' }],
    replaces: 'make namespace',
  }),
  cloud({
    name: 'secrets',
    what: "generates the cloud's passwords and keys, once",
    after: [{ name: 'namespace', why: 'they live in it' }],
    replaces: 'make input',
  }),
  cloud({
    name: 'netattach',
    what: 'defines the networks that pods attach to',
    after: [
      { name: 'namespace', why: 'they live in it' },
      { name: 'nncp', why: 'pods attach to interfaces that it makes' },
    ],
    replaces: 'make netattach',
  }),
  cloud({
    name: 'metallb-config',
    what: "makes the cloud's address pools and announces them",
    after: [
      { name: 'metallb', why: 'its webhooks check the pools' },
      { name: 'nncp', why: 'addresses are announced on interfaces that it makes' },
      { name: 'namespace', why: 'the pools are for this namespace alone' },
    ],
    replaces: 'make metallb_config',
  }),
  cloud({
    name: 'netconfig',
    what: 'describes the networks to the data plane',
    after: [
      { name: 'namespace', why: 'it lives in it' },
      { name: 'openstack-init', why: 'the infra operator checks and serves it' },
    ],
    replaces: 'make netconfig_deploy',
  }),
  cloud({
    name: 'control-plane',
    what: 'deploys the control plane and waits until each Service has its planned address',
    after: [
      { name: 'secrets', why: 'its services read their passwords there' },
      { name: 'netattach', why: 'its pods attach to these networks' },
      { name: 'metallb-config', why: 'its Services take their addresses from these pools' },
      { name: 'netconfig', why: 'its DNS serves these networks' },
      { name: 'openstack-init', why: 'the operators must be there to see it' },
    ],
    replaces: 'make openstack_deploy openstack_wait_deploy',
  }),
  cloud({
    name: 'data-plane',
    what: 'deploys the compute hosts and makes nova find them',
    after: [{ name: 'control-plane', why: 'hosts need its endpoints, certificates and queues' }],
    replaces: 'make edpm_deploy edpm_wait_deploy edpm_nova_discover_hosts',
  }),
  cloud({
    name: 'verify',
    what: 'checks VIPs, pools and node policies against the plan',
    after: [{ name: 'data-plane', why: 'it looks at the finished cloud' }],
    replaces: 'nothing: by hand, with oc get',
  }),
]
