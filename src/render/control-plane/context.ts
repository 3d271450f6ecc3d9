/** What the templates of services are made from: one cloud's choices, looked up once. */
import type { SiteFileCloud } from '../../api/site.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { cellNames, glanceApiNames, rabbitmqNames, serviceSettings } from '../../plan/slots/cloud-services.ts'

export const SECRET = 'osp-secret'
const STORAGE_CLASS = 'local-storage'

export interface TemplateContext {
  readonly cloud: PlannedCloud
  /** Replicas of what keeps a quorum: 3 where the site has nodes for them. */
  readonly quorum: 1 | 3
  readonly storageClass: string
  readonly cells: readonly string[]
  readonly rabbitmqs: readonly string[]
  readonly glanceApis: readonly string[]
  readonly ceph: SiteFileCloud['ceph']
  /** dnsmasq's options: a line per server to ask, then what the site adds. */
  readonly dnsOptions: readonly unknown[]
  /** Networks that a service's pods attach to: what the site says, or the standard ones that the cloud has. */
  readonly attach: (service: string, ...standard: readonly string[]) => readonly string[]
}

export function buildTemplateContext(plan: Plan, cloud: PlannedCloud): TemplateContext {
  const attachable = new Set(cloud.networks.filter(({ attach }) => attach !== 'none').map(({ name }) => name))
  return {
    cloud,
    quorum: plan.from.cluster.nodes.length < 3 ? 1 : 3,
    storageClass: cloud.from.file.storageClass ?? plan.from.cluster.storageClass ?? STORAGE_CLASS,
    cells: cellNames(cloud.from),
    rabbitmqs: rabbitmqNames(cloud.from),
    glanceApis: glanceApiNames(cloud.from),
    ceph: cloud.from.file.ceph,
    dnsOptions: [
      ...dnsServers(plan, cloud).map((server) => ({ key: 'server', values: [server] })),
      ...(cloud.from.file.dns?.options ?? []),
    ],
    attach: (service, ...standard) =>
      serviceSettings(cloud.from, service).networkAttachments ?? standard.filter((name) => attachable.has(name)),
  }
}

/** Who answers what the cloud's own DNS does not know. */
export function dnsServers(plan: Plan, cloud: PlannedCloud): readonly string[] {
  return cloud.from.file.dns?.servers ?? plan.from.cluster.dns
}

/** The field, or nothing where no network is to be attached. */
export function networkAttachments(names: readonly string[]): {
  readonly networkAttachments?: readonly string[]
} {
  return names.length > 0 ? { networkAttachments: names } : {}
}
