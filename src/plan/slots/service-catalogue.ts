/**
 * The services of a control plane, as data: which are on by default, what each needs, and which Services each creates.
 *
 * Knows no particular cloud or CRD; `slot-uses.ts` combines them.
 */
/** Where an endpoint is reached from: the cloud's own hosts, or anywhere. */
export type EndpointType = 'internal' | 'public'

/** What a Service is created for each of. */
export type Each = 'glance API' | 'cell' | 'rabbitmq' | 'replica'

export interface EndpointEntry {
  /** The slot's name without the endpoint type; `*` stands for the name of the glance API, cell or RabbitMQ. */
  readonly name: string
  /** Below the control plane's `spec`: what carries the override; `*` as above. */
  readonly path: string
  /** The same in the CRD of 2023, where it differs, by endpoint type. */
  readonly in2023?: Readonly<Partial<Record<EndpointType, string>>>
  readonly types: readonly EndpointType[]
  readonly each?: Each
  readonly ports: readonly number[]
  /** Needs its own address: other endpoints of its kind have the same ports. */
  readonly alone?: boolean
  /** The network of its internal endpoint, if not `internalapi`. */
  readonly network?: string
  /** A switch in the service's template: no Service while it is not true. */
  readonly when?: string
}

export interface ServiceEntry {
  readonly name: string
  /** On by default. */
  readonly standard: boolean
  /** The services that it needs. */
  readonly needs: readonly string[]
  /** A switch in its template, and the services that it needs while that is true. */
  readonly needsWhen?: { readonly when: string; readonly needs: readonly string[] }
  /** Switches in templates of the services that it needs: `telemetry.ceilometer.enabled`. */
  readonly needsOn?: readonly string[]
  readonly endpoints: readonly EndpointEntry[]
}

const both: readonly EndpointType[] = ['internal', 'public']
const base: readonly string[] = ['galera', 'rabbitmq', 'memcached', 'keystone']

/** An API with an internal and a public endpoint in keystone. */
function api(name: string, path: string, port: number): EndpointEntry {
  return { name, path, types: both, ports: [port] }
}

function service(
  name: string,
  needs: readonly string[],
  endpoints: readonly EndpointEntry[] = [],
  standard = false,
): ServiceEntry {
  return { name, standard, needs, endpoints }
}

function standardService(
  name: string,
  needs: readonly string[],
  endpoints: readonly EndpointEntry[] = [],
): ServiceEntry {
  return service(name, needs, endpoints, true)
}

/** A DNS server of designate: a Service per replica, since each answers on port 53 itself. */
function designateServer(name: string, path: string, port: number): EndpointEntry {
  return {
    name,
    path,
    types: ['internal'],
    each: 'replica',
    ports: [port],
    alone: true,
    network: 'designateext',
  }
}

export const serviceCatalogue: readonly ServiceEntry[] = [
  standardService('galera', []),
  standardService(
    'rabbitmq',
    [],
    [
      {
        name: 'rabbitmq.*',
        path: 'rabbitmq.templates.*',
        types: ['internal'],
        each: 'rabbitmq',
        ports: [5671, 5672, 15671, 15672, 15691, 15692],
        alone: true,
      },
    ],
  ),
  standardService('memcached', []),
  standardService(
    'dns',
    [],
    [{ name: 'dns', path: 'dns.template', types: ['internal'], ports: [53], network: 'ctlplane' }],
  ),
  standardService('keystone', ['galera', 'rabbitmq', 'memcached'], [api('keystone', 'keystone.template', 5000)]),
  standardService('placement', base, [api('placement', 'placement.template', 8778)]),
  standardService('glance', base, [
    {
      name: 'glance.*',
      path: 'glance.template.glanceAPIs.*',
      in2023: { internal: 'glance.template.glanceAPIInternal', public: 'glance.template.glanceAPIExternal' },
      types: both,
      each: 'glance API',
      ports: [9292],
    },
  ]),
  standardService('ovn', []),
  standardService('neutron', [...base, 'ovn'], [api('neutron', 'neutron.template', 9696)]),
  standardService(
    'nova',
    [...base, 'placement', 'glance', 'neutron'],
    [
      api('nova', 'nova.template.apiServiceTemplate', 8774),
      {
        name: 'nova.metadata',
        path: 'nova.template.metadataServiceTemplate',
        types: ['internal'],
        ports: [8775],
      },
      {
        name: 'nova.*.metadata',
        path: 'nova.template.cellTemplates.*.metadataServiceTemplate',
        types: ['internal'],
        each: 'cell',
        ports: [8775],
        alone: true,
        when: 'cellTemplates.*.metadataServiceTemplate.enabled',
      },
      {
        name: 'nova.*.novnc',
        path: 'nova.template.cellTemplates.*.noVNCProxyServiceTemplate',
        types: ['public'],
        each: 'cell',
        ports: [6080],
        alone: true,
      },
    ],
  ),
  service('swift', ['rabbitmq', 'memcached', 'keystone'], [api('swift', 'swift.template.swiftProxy', 8080)]),
  service('cinder', base, [api('cinder', 'cinder.template.cinderAPI', 8776)]),
  service('barbican', base, [api('barbican', 'barbican.template.barbicanAPI', 9311)]),
  service('heat', base, [
    api('heat', 'heat.template.heatAPI', 8004),
    api('heat.cfn', 'heat.template.heatCfnAPI', 8000),
  ]),
  service(
    'horizon',
    ['memcached', 'keystone'],
    [{ name: 'horizon', path: 'horizon.template', types: ['public'], ports: [80, 443] }],
  ),
  service('manila', base, [api('manila', 'manila.template.manilaAPI', 8786)]),
  service(
    'designate',
    [...base, 'redis', 'neutron'],
    [
      api('designate', 'designate.template.designateAPI', 9001),
      designateServer('designate.bind9.*', 'designate.template.designateBackendbind9', 53),
      designateServer('designate.mdns.*', 'designate.template.designateMdns', 5354),
      designateServer('designate.unbound.*', 'designate.template.designateUnbound', 53),
    ],
  ),
  service(
    'octavia',
    [...base, 'neutron', 'nova', 'glance', 'ovn'],
    [api('octavia', 'octavia.template.octaviaAPI', 9876)],
  ),
  service('ironic', base, [
    api('ironic', 'ironic.template.ironicAPI', 6385),
    api('ironic.inspector', 'ironic.template.ironicInspector', 5050),
  ]),
  {
    ...service('telemetry', base, [
      { ...api('telemetry.aodh', 'telemetry.template.autoscaling.aodh', 8042), when: 'autoscaling.enabled' },
      {
        ...api('telemetry.cloudkitty', 'telemetry.template.cloudkitty.cloudKittyAPI', 8889),
        when: 'cloudkitty.enabled',
      },
      // Planned even while logging is off: the CRD's default asks for 172.17.0.80, even if another network has it.
      { name: 'telemetry.logging', path: 'telemetry.template.logging', types: ['internal'], ports: [10514] },
    ]),
    needsWhen: { when: 'autoscaling.enabled', needs: ['heat'] },
  },
  {
    ...service('watcher', [...base, 'telemetry'], [api('watcher', 'watcher.template.apiServiceTemplate', 9322)]),
    needsOn: ['telemetry.ceilometer.enabled', 'telemetry.metricStorage.enabled'],
  },
  service('redis', []),
  // In the CRD of 2023 only; galera and telemetry replaced them.
  service('mariadb', []),
  service('ceilometer', base),
]

/** Services with several instances: their fields are `templates`, by name. */
export const multiInstanceServices: ReadonlySet<string> = new Set([
  'galera',
  'mariadb',
  'memcached',
  'rabbitmq',
  'redis',
])

/** Slots that are never filled, and why. */
export const unfilledSlots: Readonly<Record<string, string>> = {
  'ovn.template.ovnDBCluster.*.override.service':
    'hosts reach the databases on their network attachment, not through a LoadBalancer',
  'rabbitmq.templates.*.podOverride.services': 'clients use the one Service of the cluster, not single pods',
}

const byName = new Map(serviceCatalogue.map((entry) => [entry.name, entry]))

export function findService(name: string): ServiceEntry | undefined {
  return byName.get(name)
}
