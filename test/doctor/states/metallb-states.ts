/** Wrong pools and advertisements. */
import { testPlan } from '../../plan.ts'
import { first } from '../healthy-cluster.ts'
import { allocationFailed, l2, node, object, policy, pool, requests, service } from '../objects.ts'
import { changed, having, type State, spec, without } from '../state.ts'

const sample = (name: string, ip?: string) =>
  service(name, {
    ...(ip !== undefined && { ip }),
    ports: [9292],
    annotations: requests('internalapi', { 'metallb.io/allow-shared-ip': name }),
  })
const lost = sample('openstack/glance-internal')

export const metallbStates: readonly State[] = [
  {
    rule: 'metallb/pools-overlap',
    when: 'a leftover pool contains addresses of a cloud',
    objects: having(pool('zz-old', ['172.17.0.86-172.17.0.95'])),
    about: 'IPAddressPool metallb-system/zz-old',
    says: ['zz-old and openstack-internalapi both contain 172.17.0.86-172.17.0.90', 'edit ipaddresspools.metallb.io'],
    // Its range is in one cloud's network, and it serves every namespace.
    beside: ['metallb/open-pool'],
  },
  {
    rule: 'metallb/same-pool-name',
    when: "the second cloud's apply of internalapi overwrote the first's",
    objects: having(
      pool('internalapi', ['172.28.0.80-172.28.0.90'], ['openstack2']),
      l2('internalapi-openstack', ['internalapi'], ['enp6s0.20']),
      l2('internalapi-openstack2', ['internalapi'], ['enp6s0.20']),
      lost,
      allocationFailed(lost, 'pool internalapi not compatible for ip assignment'),
      sample('openstack2/glance-internal', '172.28.0.80'),
    ),
    about: 'IPAddressPool metallb-system/internalapi',
    says: [
      'the ranges of openstack are lost',
      'openstack2-internalapi and openstack-internalapi',
      'L2Advertisement internalapi-openstack announces it',
    ],
  },
  {
    rule: 'metallb/same-pool-name',
    when: "without scopes: the first cloud's fixed addresses are in no pool any more",
    objects: having(
      pool('internalapi', ['172.28.0.80-172.28.0.90']),
      l2('internalapi', ['internalapi'], ['enp6s0.20']),
      service('openstack/glance-internal', {
        annotations: requests('internalapi', { 'metallb.io/loadBalancerIPs': '172.16.0.80' }),
      }),
      sample('openstack2/glance-internal', '172.28.0.80'),
    ),
    about: 'IPAddressPool metallb-system/internalapi',
    says: ['has 172.28.0.80-172.28.0.90 for openstack2'],
  },
  {
    rule: 'metallb/configuration-refused',
    when: 'MetalLB keeps an old configuration',
    objects: having(
      object('metallb.io/v1beta1/ConfigurationState', 'metallb-system/controller', {
        status: { result: 'Invalid', errorSummary: 'pool "a" has no prefixes defined' },
      }),
    ),
    about: 'ConfigurationState metallb-system/controller',
    says: ['has no prefixes defined'],
  },
  {
    rule: 'metallb/wrong-range',
    when: 'a pool without a scope served another cloud',
    objects: having(
      pool('openstack2-internalapi', ['172.27.0.80-172.27.0.90']),
      service('openstack/glance-internal', { ip: '172.27.0.88' }),
    ),
    about: 'IPAddressPool metallb-system/openstack2-internalapi',
    says: [
      'openstack has addresses of pool openstack2-internalapi, which belongs to openstack2 (glance-internal 172.27.0.88)',
      'serves every namespace',
      `'{"spec":{"autoAssign":false,"serviceAllocation":{"namespaces":["openstack2"]}}}'`,
    ],
    beside: ['metallb/open-pool'],
  },
  {
    rule: 'metallb/wrong-range',
    when: 'the scope names the wrong cloud',
    objects: having(
      pool('openstack2-internalapi', ['172.27.0.80-172.27.0.90'], ['openstack', 'openstack2']),
      service('openstack/glance-internal', { ip: '172.27.0.88' }),
    ),
    about: 'IPAddressPool metallb-system/openstack2-internalapi',
    says: ['namespaces is openstack, openstack2'],
  },
  {
    rule: 'metallb/wrong-range',
    when: "another team's pool is in a network of a cloud, and its own Service has an address",
    objects: having(
      pool('shared', ['172.17.0.95-172.17.0.99'], ['web']),
      l2('shared', ['shared'], ['enp6s0.20']),
      service('web/shop', { ip: '172.17.0.95' }),
    ),
    about: 'IPAddressPool metallb-system/shared',
    says: ['which is in a network of openstack', 'if shared is not the pool of openstack', 'outside the cloud'],
    never: ['belongs to'],
  },
  {
    rule: 'metallb/one-pool-many-ranges',
    when: 'one pool has a range for each of two clouds',
    objects: having(
      pool('storage', ['172.18.0.80-172.18.0.90', '172.29.0.80-172.29.0.90'], ['openstack', 'openstack2']),
    ),
    about: 'IPAddressPool metallb-system/storage',
    says: ['from the first (172.18.0.80-172.18.0.90)', 'openstack-storage, openstack2-storage'],
  },
  {
    rule: 'metallb/key-crosses-clouds',
    when: 'two clouds use the key of the samples',
    objects: having(
      service('openstack/swift-internal', {
        ip: '172.17.0.88',
        ports: [8080],
        annotations: { 'metallb.io/allow-shared-ip': 'internalapi' },
      }),
      service('openstack2/swift-internal', {
        ip: '172.27.0.88',
        ports: [8080],
        annotations: { 'metallb.io/allow-shared-ip': 'internalapi' },
      }),
    ),
    about: 'Service openstack2/swift-internal',
    says: ['openstack and openstack2 use the sharing key internalapi'],
  },
  {
    rule: 'metallb/rabbitmq-shares-address',
    when: 'both RabbitMQs of a cloud request one address',
    objects: having(
      service('openstack/rabbitmq-cell1', {
        ports: [5671],
        annotations: requests('openstack-internalapi', { 'metallb.io/loadBalancerIPs': '172.17.0.85' }),
      }),
    ),
    about: 'Service openstack/rabbitmq-cell1',
    says: ['172.17.0.85 with openstack/rabbitmq', 'TCP/5671'],
    beside: ['metallb/pending-sharing-refused'],
  },
  {
    rule: 'metallb/not-advertised',
    when: 'the advertisement of a pool is gone',
    objects: without('L2Advertisement metallb-system/openstack-internalapi'),
    about: 'IPAddressPool metallb-system/openstack-internalapi',
    says: ['3 Services with addresses', 'no node answers'],
  },
  {
    rule: 'metallb/advertises-unknown-pool',
    when: 'an old advertisement is left after the pools were renamed',
    objects: having(l2('internalapi-openstack', ['internalapi'], ['enp6s0.20'])),
    about: 'L2Advertisement metallb-system/internalapi-openstack',
    says: ['refers to pool internalapi', 'set spec.ipAddressPools to openstack-internalapi'],
  },
  {
    rule: 'metallb/advertises-unknown-pool',
    when: 'an old advertisement does not tell its cloud',
    objects: having(l2('internalapi', ['internalapi'], ['enp6s0.20'])),
    about: 'L2Advertisement metallb-system/internalapi',
    says: ['refers to pool internalapi', 'stackloom up --stage metallb-config'],
    never: ['openstack-internalapi', 'openstack2-internalapi'],
  },
  {
    rule: 'metallb/advertises-unknown-pool',
    when: 'the pool of one of two clouds was deleted',
    objects: without('IPAddressPool metallb-system/openstack-internalapi').filter(
      ({ kind, metadata }) => kind !== 'Service' || metadata.namespace !== 'openstack',
    ),
    about: 'L2Advertisement metallb-system/openstack-internalapi',
    says: ['refers to pool openstack-internalapi', 'stackloom up --stage metallb-config'],
    never: ['openstack2', 'ctlplane'],
  },
  {
    rule: 'metallb/open-pool',
    when: 'the scope of a pool was removed',
    objects: having(pool('openstack-internalapi', ['172.17.0.80-172.17.0.90'])),
    about: 'IPAddressPool metallb-system/openstack-internalapi',
    says: ['any Service of the cluster', '"namespaces":["openstack"]'],
  },
  {
    rule: 'metallb/open-pool',
    when: "another team's pool is in a network of a cloud",
    objects: having(pool('shared', ['172.17.0.95-172.17.0.99'])),
    about: 'IPAddressPool metallb-system/shared',
    says: ['pool shared, which is in a network of openstack, has no', 'if another team has it', 'edit ipaddresspools'],
    never: ['"namespaces":'],
  },
  {
    rule: 'metallb/open-pool',
    when: 'the selector of a pool matches no namespace',
    objects: having(
      pool('openstack-internalapi', ['172.17.0.80-172.17.0.90'], [], {
        serviceAllocation: { namespaceSelectors: [{ matchLabels: { cloud: 'none' } }] },
      }),
    ),
    about: 'IPAddressPool metallb-system/openstack-internalapi',
    says: ['match no namespace'],
  },
  {
    rule: 'metallb/unprefixed-leftover',
    when: 'a pool of install_yamls is left over',
    objects: having(pool('internalapi', ['172.16.9.80-172.16.9.90'])),
    about: 'IPAddressPool metallb-system/internalapi',
    says: ['openstack and openstack2', 'delete ipaddresspools.metallb.io internalapi'],
  },
  {
    rule: 'metallb/pool-not-planned',
    when: 'a pool was edited manually',
    objects: [pool('openstack-internalapi', ['172.17.0.80-172.17.0.99'], ['openstack'])],
    plan: onlyInternalapi(),
    about: 'IPAddressPool metallb-system/openstack-internalapi',
    says: ['has 172.17.0.80-172.17.0.99, planned is 172.17.0.80-172.17.0.90'],
  },
  {
    rule: 'metallb/pool-not-planned',
    when: 'a planned pool is gone',
    objects: [pool('other', ['203.0.113.1'], ['elsewhere'])],
    plan: onlyInternalapi(),
    about: 'IPAddressPool metallb-system/openstack-internalapi',
    says: ['is planned but does not exist'],
  },
  {
    rule: 'metallb/pool-not-planned',
    when: 'a planned pool is gone, and its Services and its advertisement remain',
    objects: [
      pool('other', ['203.0.113.1'], ['elsewhere']),
      l2('openstack-internalapi', ['openstack-internalapi'], []),
      service('openstack/keystone-internal', {
        annotations: requests('openstack-internalapi', { 'metallb.io/loadBalancerIPs': '172.17.0.80' }),
      }),
      service('openstack/glance-internal', { annotations: requests('openstack-internalapi') }),
    ],
    plan: onlyInternalapi(),
    about: 'IPAddressPool metallb-system/openstack-internalapi',
    says: ['is planned but does not exist'],
  },
  {
    rule: 'metallb/bridge-port-advertised',
    when: 'the NIC of an advertisement became a bridge port',
    objects: changed(
      'L2Advertisement metallb-system/openstack-ctlplane',
      spec({ interfaces: ['enp6s0'] }),
      having(
        policy(`${first.namespace}-worker-0`, 'worker-0', [
          { name: 'enp6s0' },
          { name: 'enp6s0.20', addresses: ['172.17.0.10'] },
          { name: 'ospbr', ports: ['enp6s0'], addresses: ['192.168.17.10'] },
        ]),
        policy(`${first.namespace}-worker-1`, 'worker-1', [
          { name: 'enp6s0' },
          { name: 'enp6s0.20', addresses: ['172.17.0.11'] },
          { name: 'ospbr', ports: ['enp6s0'], addresses: ['192.168.17.11'] },
        ]),
      ),
    ),
    about: 'L2Advertisement metallb-system/openstack-ctlplane',
    says: ['port of ospbr on node worker-0', `'{"spec":{"interfaces":["ospbr"]}}'`],
  },
  {
    rule: 'metallb/interface-nowhere',
    when: 'the interface of an advertisement is misspelt',
    objects: changed('L2Advertisement metallb-system/openstack-internalapi', spec({ interfaces: ['enp6s0.200'] })),
    about: 'L2Advertisement metallb-system/openstack-internalapi',
    says: ['enp6s0.200, which no node has'],
    // Another VLAN is another network.
    never: ['there is'],
  },
  {
    rule: 'metallb/leader-without-interface',
    when: 'a third node lacks the VLAN and may be chosen',
    objects: changed(
      'L2Advertisement metallb-system/openstack2-internalapi',
      spec({ nodeSelectors: [] }),
      having(node('worker-9')).map((one) =>
        one.kind === 'L2Advertisement'
          ? spec({
              nodeSelectors: [
                {
                  matchExpressions: [
                    { key: 'kubernetes.io/hostname', operator: 'In', values: ['worker-0', 'worker-1'] },
                  ],
                },
              ],
            })(one)
          : one,
      ),
    ),
    about: 'L2Advertisement metallb-system/openstack2-internalapi',
    says: ['enp6s0.30, which worker-9 does not have', 'In [worker-0, worker-1]'],
  },
  {
    rule: 'metallb/frr-namespace',
    when: 'OpenShift was updated, and frr-k8s runs in another namespace',
    objects: having(
      object('apps/v1/DaemonSet', 'openshift-frr-k8s/frr-k8s'),
      object('network.openstack.org/v1beta1/BGPConfiguration', 'openstack/bgpconfiguration', {
        spec: { frrConfigurationNamespace: 'metallb-system' },
      }),
    ),
    about: 'BGPConfiguration openstack/bgpconfiguration',
    says: ['frr-k8s runs in openshift-frr-k8s', '"frrConfigurationNamespace":"openshift-frr-k8s"'],
  },
]

/** A plan of one cloud with one pool, as the numbers of the first healthy cloud have it. */
function onlyInternalapi() {
  const plan = testPlan()
  const clouds = plan.clouds.map((cloud) => ({
    ...cloud,
    networks: cloud.networks.filter(({ name }) => name === 'internalapi'),
  }))
  return { ...plan, clouds }
}
