/**
 * Renders the template of each service in the control plane: as small as the CRD allows, sized for a first cloud.
 *
 * Service overrides are added afterwards, and raw fields of the site file are merged last. Pure.
 */
import type { SiteFileCloud } from '../../api/site.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { cellNames, glanceApiNames, rabbitmqNames, serviceSettings } from '../../plan/slots/cloud-services.ts'
import type { Fields } from '../merge.ts'
import { cephMounts, cinderBackupConfig, cinderVolumeConfig, glanceConfig, manilaShareConfig } from './ceph.ts'

export const SECRET = 'osp-secret'
const STORAGE_CLASS = 'local-storage'

export interface TemplateContext {
  readonly cloud: PlannedCloud
  /** Replicas of services with a quorum: 3 if the site has enough nodes. */
  readonly quorum: 1 | 3
  readonly storageClass: string
  readonly cells: readonly string[]
  readonly rabbitmqs: readonly string[]
  readonly glanceApis: readonly string[]
  readonly ceph: SiteFileCloud['ceph']
  /** Options of dnsmasq: a line per upstream server, then those of the site file. */
  readonly dnsOptions: readonly unknown[]
  /** Networks of a service's pods: those of the site file, or the standard ones that the cloud has. */
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

/** Servers to which the cloud's own DNS forwards. */
export function dnsServers(plan: Plan, cloud: PlannedCloud): readonly string[] {
  return cloud.from.file.dns?.servers ?? plan.from.cluster.dns
}

export function networkAttachments(names: readonly string[]): { readonly networkAttachments?: readonly string[] } {
  return names.length > 0 ? { networkAttachments: names } : {}
}

/** Returns the fields of a service besides `enabled`. */
export type Template = (context: TemplateContext) => Fields

export const DATABASE = 'openstack'
/** Not spread in glance and neutron, which every cloud has: V8 adds fields slowly to what a spread has copied. */
const access = { databaseInstance: DATABASE, secret: SECRET }

export const templates: Readonly<Record<string, Template>> = {
  galera: ({ cells, quorum, storageClass }) => ({
    templates: Object.fromEntries(
      [DATABASE, ...cells.map((cell) => `${DATABASE}-${cell}`)].map((name) => [
        name,
        { replicas: quorum, secret: SECRET, storageClass, storageRequest: '10G' },
      ]),
    ),
  }),

  rabbitmq: ({ rabbitmqs, quorum }) => ({
    templates: Object.fromEntries(rabbitmqs.map((name) => [name, { replicas: quorum }])),
  }),

  memcached: ({ quorum }) => ({ templates: { memcached: { replicas: quorum } } }),

  redis: () => ({ templates: { 'designate-redis': { replicas: 1 } } }),

  keystone: ({ attach }) => ({ template: { ...access, ...networkAttachments(attach('keystone')) } }),

  placement: ({ attach }) => ({ template: { ...access, ...networkAttachments(attach('placement')) } }),

  glance: ({ glanceApis, ceph, attach, storageClass }) => ({
    template: {
      databaseInstance: DATABASE,
      secret: SECRET,
      keystoneEndpoint: glanceApis[0],
      imageCache: {},
      storage: { storageClass, storageRequest: '10G' },
      ...(ceph && { customServiceConfig: glanceConfig(ceph) }),
      glanceAPIs: Object.fromEntries(
        glanceApis.map((name) => [
          name,
          {
            replicas: 1,
            // A second pod cannot see files on the volume of the first.
            type: ceph ? 'split' : 'single',
            ...networkAttachments(attach('glance', 'storage')),
          },
        ]),
      ),
    },
  }),

  ovn: (context) => ({
    template: {
      ovnDBCluster: { 'ovndbcluster-nb': ovnDatabase(context, 'NB'), 'ovndbcluster-sb': ovnDatabase(context, 'SB') },
      ovnNorthd: { replicas: 1 },
      ovnController: ovnController(context),
    },
  }),

  neutron: ({ attach }) => ({
    template: { databaseInstance: DATABASE, secret: SECRET, ...networkAttachments(attach('neutron', 'internalapi')) },
  }),

  nova: ({ cells, attach }) => {
    const pod = { replicas: 1, ...networkAttachments(attach('nova')) }
    return {
      template: {
        secret: SECRET,
        apiServiceTemplate: pod,
        metadataServiceTemplate: { enabled: true, ...pod },
        schedulerServiceTemplate: pod,
        cellTemplates: Object.fromEntries(
          ['cell0', ...cells].map((cell) => [
            cell,
            {
              cellDatabaseAccount: `nova-${cell}`,
              ...cellInstances(cell),
              conductorServiceTemplate: pod,
              hasAPIAccess: true,
            },
          ]),
        ),
      },
    }
  },

  dns: ({ dnsOptions }) => ({ template: { options: dnsOptions, replicas: 1 } }),

  swift: ({ attach, quorum, storageClass }) => {
    const networks = networkAttachments(attach('swift', 'storage'))
    return {
      template: {
        swiftProxy: { replicas: 1, ...networks },
        swiftRing: { ringReplicas: quorum },
        swiftStorage: { replicas: quorum, storageClass, storageRequest: '10G', ...networks },
      },
    }
  },

  cinder: ({ ceph, attach }) => {
    const networks = networkAttachments(attach('cinder', 'storage'))
    // A volume service without a backend never becomes ready, so it has no replica until one is configured.
    const volumes = ceph
      ? { ceph: { customServiceConfig: cinderVolumeConfig(ceph), replicas: 1, ...networks } }
      : { volume1: { replicas: 0, ...networks } }
    const backup = ceph ? { customServiceConfig: cinderBackupConfig(ceph), replicas: 1 } : { replicas: 0 }
    return {
      template: {
        ...access,
        cinderAPI: { replicas: 1 },
        cinderScheduler: { replicas: 1 },
        cinderBackup: { ...backup, ...networks },
        cinderVolumes: volumes,
      },
    }
  },

  barbican: ({ attach }) => {
    const pod = { replicas: 1, ...networkAttachments(attach('barbican')) }
    return {
      template: {
        ...access,
        serviceAccount: 'barbican',
        barbicanAPI: pod,
        barbicanWorker: pod,
        barbicanKeystoneListener: pod,
      },
    }
  },

  heat: () => ({
    template: { ...access, heatAPI: { replicas: 1 }, heatCfnAPI: { replicas: 1 }, heatEngine: { replicas: 1 } },
  }),

  horizon: ({ attach }) => ({
    template: { memcachedInstance: 'memcached', replicas: 1, secret: SECRET, ...networkAttachments(attach('horizon')) },
  }),

  manila: ({ ceph, attach }) => {
    const shares = ceph ? { customServiceConfig: manilaShareConfig(ceph), replicas: 1 } : { replicas: 0 }
    return {
      template: {
        ...access,
        manilaAPI: { replicas: 1, ...networkAttachments(attach('manila', 'internalapi')) },
        manilaScheduler: { replicas: 1 },
        manilaShares: { share1: { ...shares, ...networkAttachments(attach('manila', 'storage')) } },
      },
    }
  },

  designate: ({ attach, storageClass }) => {
    const pod = { replicas: 1, ...networkAttachments(attach('designate', 'designate')) }
    return {
      template: {
        ...access,
        designateAPI: { replicas: 1 },
        designateCentral: pod,
        designateProducer: pod,
        designateWorker: pod,
        designateMdns: pod,
        designateBackendbind9: { ...pod, storageClass, storageRequest: '10G' },
        designateUnbound: pod,
      },
    }
  },

  octavia: ({ attach }) => {
    const networks = networkAttachments(attach('octavia', 'octavia'))
    const worker = (role: string): Fields => ({ ...access, role, serviceAccount: 'octavia', ...networks })
    return {
      template: {
        ...access,
        octaviaAPI: { ...access, serviceAccount: 'octavia', replicas: 1 },
        octaviaHousekeeping: worker('housekeeping'),
        octaviaHealthManager: worker('healthmanager'),
        octaviaWorker: worker('worker'),
        octaviaRsyslog: { serviceAccount: 'octavia', ...networks },
      },
    }
  },

  ironic: ({ storageClass }) => ({
    template: {
      ...access,
      storageClass,
      ironicAPI: { replicas: 1 },
      ironicConductors: [{ replicas: 1, storageRequest: '10G' }],
      ironicInspector: { replicas: 1 },
      ironicNeutronAgent: { replicas: 1 },
    },
  }),

  telemetry: ({ cloud }) => ({
    template: {
      ceilometer: { enabled: true, secret: SECRET },
      autoscaling: { enabled: false, heatInstance: 'heat' },
      // The operator refuses watcher without it.
      metricStorage: { enabled: cloud.services.some(({ entry, enabled }) => enabled && entry.name === 'watcher') },
      logging: { enabled: false },
    },
  }),

  watcher: () => ({ template: access }),
}

/** Fields of the control plane's spec besides the services. */
export function generalFields({ storageClass, ceph }: TemplateContext): Fields {
  return { secret: SECRET, storageClass, ...(ceph && { extraMounts: cephMounts(ceph) }) }
}

/** cell0 holds instances that never got a host: it uses the database and queue of the API. */
export function cellInstances(cell: string): Fields {
  return {
    cellDatabaseInstance: cell === 'cell0' ? DATABASE : `${DATABASE}-${cell}`,
    cellMessageBusInstance: cell === 'cell0' ? 'rabbitmq' : `rabbitmq-${cell}`,
  }
}

export function ovnDatabase({ quorum, attach }: TemplateContext, dbType: 'NB' | 'SB'): Fields {
  const [networkAttachment] = attach('ovn', 'internalapi')
  return { dbType, replicas: quorum, storageRequest: '10G', ...(networkAttachment && { networkAttachment }) }
}

export function ovnController({ cloud, attach }: TemplateContext): Fields {
  const datacentre = cloud.networks.find((network) => network.name === 'datacentre')
  const [networkAttachment] = attach('ovnController', 'tenant')
  return {
    ...(networkAttachment && { networkAttachment }),
    ...(datacentre && { nicMappings: { datacentre: datacentre.bridge ?? datacentre.interface } }),
  }
}
