/** Services without an address, for each of MetalLB's reasons. */
import type { KubeObject } from '../../../src/api/object.ts'
import { healthy } from '../healthy-cluster.ts'
import { allocationFailed, pool, requests, type ServiceOptions, service } from '../objects.ts'
import { changed, having, meta, replaced, type State, without } from '../state.ts'

const waiting = (name: string, words: ServiceOptions, why?: string): readonly KubeObject[] => {
  const pending = service(name, words)
  return why === undefined ? [pending] : [pending, allocationFailed(pending, why)]
}

/** The pool for internalapi of a cloud is gone: MetalLB takes the addresses away. */
const withoutPool = (namespace: string): readonly KubeObject[] =>
  without(`IPAddressPool metallb-system/${namespace}-internalapi`).map((object) =>
    object.kind === 'Service' && object.metadata.annotations?.['metallb.io/address-pool'] === `${namespace}-internalapi`
      ? { ...object, status: {} }
      : object,
  )
const similarPool = pool('openstack-internalapis', ['172.18.0.80-172.18.0.90'], ['openstack'])

const glance = 'openstack2/glance-internal'

export const pendingStates: readonly State[] = [
  {
    rule: 'metallb/pending-unknown-pool',
    when: 'a Service requests the pool of the upstream samples',
    objects: having(...waiting(glance, { annotations: requests('internalapi') }, 'unknown pool "internalapi"')),
    about: `Service ${glance}`,
    says: ['no pool internalapi', 'metallb.io/address-pool=openstack2-internalapi', 'unknown pool "internalapi"'],
  },
  {
    rule: 'metallb/pending-not-for-namespace',
    when: "a Service requests another cloud's pool",
    objects: having(
      ...waiting(
        glance,
        { annotations: requests('openstack-internalapi') },
        'pool openstack-internalapi not compatible for ip assignment',
      ),
    ),
    about: `Service ${glance}`,
    says: ['serves openstack, not openstack2', 'not compatible for ip assignment', 'own pool openstack2-internalapi'],
  },
  {
    rule: 'metallb/pending-not-for-namespace',
    when: "a Service requests an address of another cloud's pool",
    objects: having(...waiting(glance, { annotations: { 'metallb.io/loadBalancerIPs': '172.17.0.89' } })),
    about: `Service ${glance}`,
    says: ['172.17.0.89 is in pool openstack-internalapi'],
  },
  {
    rule: 'metallb/pending-exhausted',
    when: 'every address of the pool is taken',
    objects: having(
      pool('openstack2-internalapi', ['172.27.0.80', '172.27.0.85'], ['openstack2']),
      ...waiting(glance, { annotations: requests('openstack2-internalapi') }, 'no available IPs'),
    ),
    about: `Service ${glance}`,
    says: [
      'all 2 of pool openstack2-internalapi',
      'no available IPs',
      'edit ipaddresspools.metallb.io openstack2-internalapi',
    ],
  },
  {
    rule: 'metallb/pending-exhausted',
    when: 'the pools that assign automatically are full',
    objects: having(
      pool('shared', ['203.0.113.1'], [], { autoAssign: true }),
      service('default/first', { ip: '203.0.113.1' }),
      ...waiting('default/second', {}, 'no available IPs'),
    ),
    about: 'Service default/second',
    says: ['all 1 of pool shared'],
    beside: ['metallb/not-advertised'],
  },
  {
    rule: 'metallb/pending-not-in-pool',
    when: "a sample's address is deployed into another cloud",
    objects: having(
      ...waiting(
        glance,
        { annotations: requests('openstack2-internalapi', { 'metallb.io/loadBalancerIPs': '172.99.0.80' }) },
        '["172.99.0.80"] is not allowed in config',
      ),
    ),
    about: `Service ${glance}`,
    says: ['172.99.0.80, which is in no pool', 'not allowed in config'],
  },
  {
    rule: 'metallb/pending-other-pool',
    when: 'the requested address is in another pool',
    objects: having(
      ...waiting(glance, {
        annotations: requests('openstack2-ctlplane', { 'metallb.io/loadBalancerIPs': '172.27.0.89' }),
      }),
    ),
    about: `Service ${glance}`,
    says: ['172.27.0.89 is in pool openstack2-internalapi', 'it must be in openstack2-ctlplane'],
    never: ['annotate'],
  },
  {
    rule: 'metallb/pending-other-pool',
    when: 'the pool of the requested address has the name of the upstream samples on the Service',
    objects: having(
      ...waiting(glance, { annotations: requests('internalapi', { 'metallb.io/loadBalancerIPs': '172.27.0.89' }) }),
    ),
    about: `Service ${glance}`,
    says: ['metallb.io/address-pool=openstack2-internalapi'],
  },
  {
    rule: 'metallb/pending-unknown-pool',
    when: 'the pool of a network was deleted, and a pool of another network has a similar name',
    objects: [
      ...without('L2Advertisement metallb-system/openstack-internalapi', withoutPool('openstack')).filter(
        ({ kind, metadata }) => kind !== 'Service' || metadata.namespace !== 'openstack',
      ),
      similarPool,
      ...waiting('openstack/glance-internal', { annotations: requests('openstack-internalapi') }),
    ],
    about: 'Service openstack/glance-internal',
    says: ['there is no pool openstack-internalapi', 'stackloom up --stage metallb-config'],
    never: ['internalapis', 'openstack2'],
  },
  {
    rule: 'metallb/pending-not-in-pool',
    when: 'the pool of a network was deleted',
    objects: [...withoutPool('openstack'), similarPool],
    about: 'Service openstack/keystone-internal',
    says: ['pool openstack-internalapi does not exist', 'stackloom up --stage metallb-config'],
    never: ['internalapis', 'ctlplane', 'openstack2'],
    beside: ['metallb/advertises-unknown-pool'],
  },
  {
    rule: 'metallb/pending-not-in-pool',
    when: 'the pool of the network of an address was deleted, and the Service names none',
    objects: changed(
      'Service openstack/keystone-internal',
      meta({ annotations: { 'metallb.io/loadBalancerIPs': '172.17.0.80' } }),
      withoutPool('openstack'),
    ),
    about: 'Service openstack/keystone-internal',
    says: ['pool openstack-internalapi does not exist'],
    never: ['ctlplane', 'openstack2'],
    beside: ['metallb/advertises-unknown-pool'],
  },
  {
    rule: 'metallb/pending-not-for-namespace',
    when: "the cloud's own pool was deleted, and its Service requests another cloud's",
    objects: [
      ...withoutPool('openstack2').filter(
        ({ kind, metadata }) =>
          metadata.name !== 'openstack2-internalapi' && (kind !== 'Service' || metadata.namespace !== 'openstack2'),
      ),
      ...waiting(glance, { annotations: requests('openstack-internalapi') }),
    ],
    about: `Service ${glance}`,
    says: ['openstack-internalapi belongs to openstack', 'stackloom up --stage metallb-config'],
    never: ['patch'],
  },
  {
    rule: 'metallb/pending-port-clash',
    when: 'two Services with the same port request one address',
    objects: having(
      ...waiting(
        glance,
        {
          ports: [9292, 5000],
          annotations: requests('openstack2-internalapi', {
            'metallb.io/loadBalancerIPs': '172.27.0.80',
            'metallb.io/allow-shared-ip': 'openstack2-internalapi',
          }),
        },
        'port TCP/5000 is already in use on "172.27.0.80"',
      ),
    ),
    about: `Service ${glance}`,
    says: ['TCP/5000 on 172.27.0.80', 'Service openstack2/keystone-internal'],
  },
  {
    rule: 'metallb/pending-sharing-refused',
    when: 'a Service without a key requests an address that others share',
    objects: having(
      ...waiting(glance, { ports: [9292], annotations: { 'metallb.io/loadBalancerIPs': '172.27.0.80' } }),
    ),
    about: `Service ${glance}`,
    says: ['held by Service openstack2/keystone-internal', 'metallb.io/allow-shared-ip=openstack2-internalapi'],
  },
  {
    rule: 'metallb/pending-stale-annotation',
    when: 'the override was changed and the old annotation stayed',
    objects: changed('Service openstack2/placement-internal', (old) => ({
      ...old,
      metadata: { ...old.metadata, annotations: { 'metallb.universe.tf/address-pool': 'internalapi' } },
      status: {},
    })),
    about: 'Service openstack2/placement-internal',
    says: ['metallb.universe.tf/address-pool: internalapi is left', 'metallb.io/address-pool=openstack2-internalapi'],
  },
  {
    rule: 'metallb/pending-stale-annotation',
    when: 'the address moved in the override and the old one stayed on the Service',
    objects: changed('Service openstack2/placement-internal', (old) => ({
      ...old,
      metadata: { ...old.metadata, annotations: { 'metallb.universe.tf/loadBalancerIPs': '172.99.0.80' } },
      status: {},
    })),
    about: 'Service openstack2/placement-internal',
    says: ['metallb.io/loadBalancerIPs'],
  },
  {
    rule: 'metallb/pending-no-pools',
    when: 'all pools were deleted',
    objects: [
      ...healthy().filter(({ kind }) => !['IPAddressPool', 'L2Advertisement'].includes(kind)),
      ...waiting(glance, { annotations: requests('openstack2-internalapi') }),
    ],
    about: `Service ${glance}`,
    says: ['there is no IPAddressPool', 'stackloom up --stage metallb-config'],
  },
  {
    rule: 'metallb/pending-nobody-serves',
    when: 'a slot was rendered without annotations',
    objects: having(...waiting(glance, {}, 'no available IPs')),
    about: `Service ${glance}`,
    says: ['requests no pool', 'openstack2-internalapi'],
    never: ['openstack-internalapi'],
  },
  {
    rule: 'metallb/pending-nobody-serves',
    when: "a slot was rendered without annotations, and another cloud's pool serves everyone",
    objects: having(
      pool('openstack-internalapi', ['172.17.0.80-172.17.0.90']),
      ...waiting(glance, {}, 'no available IPs'),
    ),
    about: `Service ${glance}`,
    says: ['openstack2-internalapi'],
    never: ['openstack-internalapi'],
    beside: ['metallb/open-pool'],
  },
  {
    rule: 'metallb/pending-two-wishes',
    when: 'the address is in the field and in the annotation',
    objects: having(
      ...waiting(glance, {
        annotations: { 'metallb.io/loadBalancerIPs': '172.27.0.89' },
        spec: { loadBalancerIP: '172.27.0.89' },
      }),
    ),
    about: `Service ${glance}`,
    says: ['spec.loadBalancerIP', '"op":"remove"'],
  },
  {
    rule: 'metallb/pending-wrong-family',
    when: 'an IPv4 Service asks for an IPv6 address',
    objects: having(
      ...waiting(glance, {
        annotations: { 'metallb.io/loadBalancerIPs': 'fd00:17::80' },
        spec: { ipFamilies: ['IPv4'] },
      }),
    ),
    about: `Service ${glance}`,
    says: ['fd00:17::80', 'IPv4'],
  },
  {
    rule: 'metallb/pending-no-address',
    when: 'the requested address has a prefix length',
    objects: having(...waiting(glance, { annotations: { 'metallb.io/loadBalancerIPs': '172.27.0.80/24' } })),
    about: `Service ${glance}`,
    says: ['"172.27.0.80/24"'],
  },
  {
    rule: 'metallb/pending-other-class',
    when: 'the Service uses another load balancer class',
    objects: having(...waiting(glance, { spec: { loadBalancerClass: 'example.com/other' } })),
    about: `Service ${glance}`,
    says: ['example.com/other'],
  },
  {
    rule: 'metallb/pending-unexplained',
    when: "MetalLB's controller does not run",
    objects: having(...waiting(glance, { annotations: requests('openstack2-internalapi') })),
    about: `Service ${glance}`,
    says: ['has reported no event', 'component=controller'],
  },
  {
    rule: 'metallb/pending-unexplained',
    when: 'MetalLB reports an unknown reason',
    objects: replaced(
      healthy(),
      waiting(glance, { annotations: requests('openstack2-internalapi') }, 'an unknown reason'),
    ),
    about: `Service ${glance}`,
    says: ['an unknown reason'],
  },
]
