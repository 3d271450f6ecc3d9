/**
 * Renders kernel settings of the nodes as a Tuned object of OpenShift's Node Tuning Operator, which applies them without a
 * reboot. On other platforms the administrator sets `ARP_SETTINGS`; see `installRequirements`.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan } from '../plan/plan.ts'
import { ownershipLabels } from './labels.ts'

/**
 * Linux answers ARP for each of its addresses on every interface, so a node would answer on the segment of one cloud for
 * its address in another. `all`, because interfaces come and go with the clouds. MetalLB answers for VIPs itself.
 */
export const ARP_SETTINGS = ['net.ipv4.conf.all.arp_ignore=1', 'net.ipv4.conf.all.arp_announce=2'] as const

/**
 * A node has one profile, the matching one with the lowest number. OpenShift's own have 30 and 40; that of a
 * PerformanceProfile has 20 and must not be replaced by ours.
 */
const profiles = [
  { name: 'stackloom-control-plane', include: 'openshift-control-plane', priority: 24 },
  { name: 'stackloom-node', include: 'openshift-node', priority: 25 },
] as const

/** Roles of the nodes to which OpenShift gives the profile of the control plane. */
const CONTROL_PLANE_ROLES = ['node-role.kubernetes.io/master', 'node-role.kubernetes.io/infra']

export function renderNodeTuning({ site, from: { cluster } }: Plan): readonly KubeObject[] {
  const { platform, isolation, nodes } = cluster
  if (platform !== 'openshift' || isolation.nodeAddresses !== 'own-segment' || nodes.length === 0) return []
  const roles = CONTROL_PLANE_ROLES.map((label) => ({ label }))
  return [
    {
      apiVersion: 'tuned.openshift.io/v1',
      kind: 'Tuned',
      metadata: {
        name: 'stackloom',
        namespace: 'openshift-cluster-node-tuning-operator',
        labels: ownershipLabels({ site }),
      },
      spec: {
        profile: profiles.map(({ name, include }) => ({ name, data: profileData(include) })),
        recommend: profiles.map(({ name, include, priority }) => ({
          profile: name,
          priority,
          // Conditions of one list are alternatives; those inside an entry must hold too.
          match: nodes.map((node) => ({
            label: 'kubernetes.io/hostname',
            value: node.name,
            ...(include === 'openshift-control-plane' && { match: roles }),
          })),
        })),
      },
    },
  ]
}

function profileData(include: string): string {
  return `[main]
summary=Nodes answer ARP for an address only on its own segment
include=${include}

[sysctl]
${ARP_SETTINGS.join('\n')}
`
}
