/**
 * Renders the templates of the 2023 control plane where they differ: glance in two parts, other names in a cell, and an
 * image for every pod. Pure.
 */
import type { Fields } from '../merge.ts'
import { asFields, isFields } from '../merge.ts'
import { glanceConfig } from './ceph.ts'
import {
  cellInstances,
  DATABASE,
  networkAttachments,
  ovnController,
  ovnDatabase,
  SECRET,
  type Template,
  templates,
} from './templates.ts'

function image(name: string): string {
  return `quay.io/podified-antelope-centos9/openstack-${name}:current-podified`
}

/** Images that the CRD requires, by path below `spec`; `*` is any name. */
const images: Readonly<Record<string, string>> = {
  'cinder.template.cinderAPI.containerImage': image('cinder-api'),
  'cinder.template.cinderBackup.containerImage': image('cinder-backup'),
  'cinder.template.cinderScheduler.containerImage': image('cinder-scheduler'),
  'cinder.template.cinderVolumes.*.containerImage': image('cinder-volume'),
  'galera.templates.*.containerImage': image('mariadb'),
  'glance.template.containerImage': image('glance-api'),
  'glance.template.glanceAPIExternal.containerImage': image('glance-api'),
  'glance.template.glanceAPIInternal.containerImage': image('glance-api'),
  'heat.template.heatAPI.containerImage': image('heat-api'),
  'heat.template.heatCfnAPI.containerImage': image('heat-api-cfn'),
  'heat.template.heatEngine.containerImage': image('heat-engine'),
  'horizon.template.containerImage': image('horizon'),
  'keystone.template.containerImage': image('keystone'),
  'manila.template.manilaAPI.containerImage': image('manila-api'),
  'manila.template.manilaScheduler.containerImage': image('manila-scheduler'),
  'manila.template.manilaShares.*.containerImage': image('manila-share'),
  'memcached.templates.*.containerImage': image('memcached'),
  'neutron.template.containerImage': image('neutron-server'),
  'ovn.template.ovnController.ovnContainerImage': image('ovn-controller'),
  'ovn.template.ovnController.ovsContainerImage': image('ovn-base'),
  'ovn.template.ovnDBCluster.ovndbcluster-nb.containerImage': image('ovn-nb-db-server'),
  'ovn.template.ovnDBCluster.ovndbcluster-sb.containerImage': image('ovn-sb-db-server'),
  'ovn.template.ovnNorthd.containerImage': image('ovn-northd'),
  'placement.template.containerImage': image('placement-api'),
  'swift.template.swiftProxy.containerImageMemcached': image('memcached'),
  'swift.template.swiftProxy.containerImageProxy': image('swift-proxy-server'),
  'swift.template.swiftRing.containerImage': image('swift-proxy-server'),
  'swift.template.swiftStorage.containerImageAccount': image('swift-account'),
  'swift.template.swiftStorage.containerImageContainer': image('swift-container'),
  'swift.template.swiftStorage.containerImageMemcached': image('memcached'),
  'swift.template.swiftStorage.containerImageObject': image('swift-object'),
  'swift.template.swiftStorage.containerImageProxy': image('swift-proxy-server'),
}

const overrides: Readonly<Record<string, Template>> = {
  glance: ({ ceph, attach, storageClass }) => {
    const half = { replicas: 1, ...networkAttachments(attach('glance', 'storage')) }
    return {
      template: {
        databaseInstance: DATABASE,
        secret: SECRET,
        storageClass,
        storageRequest: '10G',
        ...(ceph && { customServiceConfig: glanceConfig(ceph) }),
        glanceAPIInternal: half,
        glanceAPIExternal: half,
      },
    }
  },

  ovn: (context) => ({
    template: {
      ovnDBCluster: { 'ovndbcluster-nb': ovnDatabase(context, 'NB'), 'ovndbcluster-sb': ovnDatabase(context, 'SB') },
      ovnNorthd: { replicas: 1, networkAttachment: 'internalapi' },
      ovnController: {
        'external-ids': { 'system-id': 'random', 'ovn-bridge': 'br-int', 'ovn-encap-type': 'geneve' },
        ...ovnController(context),
      },
    },
  }),

  swift: ({ storageClass, quorum }) => ({
    template: { swiftProxy: { replicas: 1 }, swiftRing: {}, swiftStorage: { replicas: quorum, storageClass } },
  }),

  nova: ({ cells }) => ({
    template: {
      secret: SECRET,
      apiServiceTemplate: { replicas: 1 },
      metadataServiceTemplate: { replicas: 1 },
      schedulerServiceTemplate: { replicas: 1 },
      cellTemplates: Object.fromEntries(
        ['cell0', ...cells].map((cell) => [
          cell,
          { cellDatabaseUser: `nova_${cell}`, ...cellInstances(cell), hasAPIAccess: true },
        ]),
      ),
    },
  }),
}

const imagePaths = Object.entries(images).map(([path, name]) => ({ path: path.split('.'), name }))

export const templates2023: Readonly<Record<string, Template>> = Object.fromEntries(
  Object.entries({ ...templates, ...overrides }).map(([service, template]): [string, Template] => [
    service,
    (context) => withImages(service, template(context)),
  ]),
)

function withImages(service: string, fields: Fields): Fields {
  const wanted = imagePaths.filter(({ path }) => path[0] === service)
  return wanted.reduce((filled, { path, name }) => asFields(fill(filled, path.slice(1), name)), fields)
}

/** Sets the image wherever its pod exists and has none. */
function fill(target: unknown, [key = '', ...rest]: readonly string[], name: string): unknown {
  if (!isFields(target)) return target
  if (rest.length === 0) return { [key]: name, ...target }
  const keys = key === '*' ? Object.keys(target) : [key].filter((child) => child in target)
  return { ...target, ...Object.fromEntries(keys.map((key) => [key, fill(target[key], rest, name)])) }
}
