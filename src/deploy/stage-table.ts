/**
 * Lists the stages of a site as data: purpose, dependencies with reasons, and the make target of install_yamls that each
 * replaces. Shared stages run once, the others once per cloud. The work of a stage is in `site-stages.ts`.
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
  /** What the stage does, in one sentence. */
  readonly what: string
  readonly after: readonly { readonly name: StageName; readonly why: string }[]
  readonly locks: readonly string[]
  /** The commands of install_yamls. */
  readonly replaces: string
}

/** Nodes lose their connection to the API server for a moment when their interfaces change: one stage at a time. */
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
    what: 'checks what the cluster must have: Multus, whereabouts, storage, gateway settings, DNS',
    after: [],
    replaces: 'make validate_marketplace crc_storage',
  }),
  shared({
    name: 'nmstate',
    what: 'installs the operator that configures the interfaces of nodes',
    after: [{ name: 'preflight', why: 'the cluster must be checked first' }],
    replaces: 'make nmstate',
  }),
  shared({
    name: 'metallb',
    what: 'installs the operator that assigns addresses to LoadBalancer Services',
    after: [{ name: 'preflight', why: 'the cluster must be checked first' }],
    replaces: 'make metallb',
  }),
  shared({
    name: 'nncp',
    what: 'configures VLANs, bridges and addresses on the nodes, one node at a time',
    after: [{ name: 'nmstate', why: 'its handlers configure the nodes' }],
    locks: [NODE_NETWORKING],
    replaces: 'make nncp',
  }),
  shared({
    name: 'cert-manager',
    what: 'installs the operator that issues certificates',
    after: [{ name: 'preflight', why: 'the cluster must be checked first' }],
    replaces: 'make certmanager',
  }),
  shared({
    name: 'openstack',
    what: 'installs the OpenStack operator',
    after: [{ name: 'cert-manager', why: 'its webhooks need certificates' }],
    replaces: 'make openstack openstack_wait',
  }),
  shared({
    name: 'openstack-init',
    what: 'starts the operators of all services and their webhooks',
    after: [{ name: 'openstack', why: 'that operator installs the others' }],
    replaces: 'make openstack_init',
  }),
  cloud({
    name: 'namespace',
    what: "creates the cloud's namespace",
    after: [{ name: 'preflight', why: 'the cluster must be checked first' }],
    replaces: 'make namespace',
  }),
  cloud({
    name: 'secrets',
    what: "generates the cloud's passwords and keys, once",
    after: [{ name: 'namespace', why: 'the Secrets are in it' }],
    replaces: 'make input',
  }),
  cloud({
    name: 'netattach',
    what: 'defines the networks that pods attach to',
    after: [
      { name: 'namespace', why: 'the attachments are in it' },
      { name: 'nncp', why: 'pods attach to interfaces that it creates' },
    ],
    replaces: 'make netattach',
  }),
  cloud({
    name: 'metallb-config',
    what: "creates the cloud's address pools and announces them",
    after: [
      { name: 'metallb', why: 'its webhooks validate the pools' },
      { name: 'nncp', why: 'addresses are announced on interfaces that it creates' },
      { name: 'namespace', why: 'the pools are limited to this namespace' },
    ],
    replaces: 'make metallb_config',
  }),
  cloud({
    name: 'netconfig',
    what: 'describes the networks to the data plane',
    after: [
      { name: 'namespace', why: 'the NetConfig is in it' },
      { name: 'openstack-init', why: 'the infra operator validates and serves it' },
    ],
    replaces: 'make netconfig_deploy',
  }),
  cloud({
    name: 'control-plane',
    what: 'deploys the control plane and waits until each Service has its planned address',
    after: [
      { name: 'secrets', why: 'its services read their passwords from them' },
      { name: 'netattach', why: 'its pods attach to these networks' },
      { name: 'metallb-config', why: 'its Services take their addresses from these pools' },
      { name: 'netconfig', why: 'its DNS serves these networks' },
      { name: 'openstack-init', why: 'the operators must run to reconcile it' },
    ],
    replaces: 'make openstack_deploy openstack_wait_deploy',
  }),
  cloud({
    name: 'data-plane',
    what: 'deploys the compute hosts and runs host discovery of nova',
    after: [{ name: 'control-plane', why: 'hosts need its endpoints, certificates and queues' }],
    replaces: 'make edpm_deploy edpm_wait_deploy edpm_nova_discover_hosts',
  }),
  cloud({
    name: 'verify',
    what: 'checks VIPs, pools and node policies against the plan',
    after: [{ name: 'data-plane', why: 'it checks the finished cloud' }],
    replaces: 'nothing: manual checks with oc get',
  }),
]
