/** Addresses of hosts, and addresses with two holders. */
import { bad, cr, netConfig, object, stackloomOperator } from '../objects.ts'
import { changed, having, meta, type State, spec, status, without } from '../state.ts'

const waits = (message: string) => status({ conditions: [bad('Ready', message), bad('ReservationReady', message)] })
const ipSet = 'IPSet openstack2/compute-0'

const infraOperator = 'openstack-operators/infra-operator-controller-manager'

export const ipamStates: readonly State[] = [
  {
    rule: 'ipam/two-allocators',
    when: 'infra-operator was started beside the operator',
    objects: having(stackloomOperator()),
    about: `Deployment ${infraOperator}`,
    says: ['so does Deployment stackloom-operator/stackloom-operator'],
  },
  {
    rule: 'ipam/spans-overlap',
    when: 'the sample range of a NetConfig overlaps with pods and VIPs',
    objects: having(
      netConfig('openstack2/netconfig', [
        { name: 'ctlplane', cidr: '192.168.27.0/24', hosts: ['192.168.27.100', '192.168.27.250'] },
        { name: 'internalapi', cidr: '172.27.0.0/24', hosts: ['172.27.0.60', '172.27.0.250'] },
      ]),
    ),
    about: 'NetConfig openstack2/netconfig',
    says: ['NetworkAttachmentDefinition openstack2/internalapi', '172.27.0.60-172.27.0.70'],
  },
  {
    rule: 'ipam/address-twice',
    when: 'a host and a Service have one address',
    objects: having(
      object('network.openstack.org/v1beta1/Reservation', 'openstack2/compute-0', {
        spec: {
          ipSetRef: { name: 'compute-0' },
          reservation: { internalapi: { network: 'internalapi', subnet: 'subnet1', address: '172.27.0.85' } },
        },
      }),
    ),
    about: 'Reservation openstack2/compute-0',
    says: ['172.27.0.85 is held by Reservation openstack2/compute-0 and by Service openstack2/rabbitmq'],
  },
  {
    rule: 'ipam/address-twice',
    when: 'a pod and a node have one address',
    objects: having(
      object('whereabouts.cni.cncf.io/v1alpha1/IPPool', 'openshift-multus/openstack-internalapi-172.17.0.0-24', {
        spec: { range: '172.17.0.0/24', allocations: { '10': { podref: 'openstack/ovn-0' } } },
      }),
      object('v1/Pod', 'openstack/ovn-0', {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      }),
    ),
    about: 'Node worker-0',
    says: ['172.17.0.10', 'node worker-0 (enp6s0.20) and by pod openstack/ovn-0'],
  },
  {
    rule: 'ipam/netconfig-missing',
    when: 'hosts were deployed before the NetConfig',
    objects: changed(
      ipSet,
      waits('NetConfig missing in namespace openstack2'),
      without('NetConfig openstack2/netconfig'),
    ),
    about: ipSet,
    says: ['1 IPSet waits: openstack2 has no NetConfig'],
  },
  {
    rule: 'ipam/netconfig-deletion-blocked',
    when: 'a NetConfig in use is being deleted',
    objects: changed(
      'NetConfig openstack2/netconfig',
      meta({ deletionTimestamp: '2026-03-01T11:59:00Z', finalizers: ['openstack.org/netconfig'] }),
    ),
    about: 'NetConfig openstack2/netconfig',
    says: ['waits for 1 IPSet', 'compute-0', 'kubectl -n openstack2 delete ipsets'],
  },
  {
    rule: 'ipam/two-netconfigs',
    when: 'a second NetConfig was applied',
    objects: having(netConfig('openstack2/other', [])),
    about: 'NetConfig openstack2/other',
    says: ['netconfig and other'],
  },
  {
    rule: 'ipam/network-unknown',
    when: 'a node set misspells a network',
    objects: changed(ipSet, spec({ networks: [{ name: 'internlapi', subnetName: 'subnet1' }] })),
    about: ipSet,
    says: ['internlapi/subnet1', 'did you mean internalapi/subnet1?'],
  },
  {
    rule: 'ipam/network-unknown',
    when: 'the NetConfig lacks a network, and has one with another number',
    objects: changed(ipSet, spec({ networks: [{ name: 'internalapi2', subnetName: 'subnet1' }] })),
    about: ipSet,
    says: ['internalapi2/subnet1'],
    never: ['did you mean'],
  },
  {
    rule: 'ipam/hosts-exhausted',
    when: 'the only address of the range is reserved',
    objects: changed(
      'NetConfig openstack2/netconfig',
      spec({
        networks: [
          {
            name: 'internalapi',
            subnets: [
              {
                name: 'subnet1',
                cidr: '172.27.0.0/24',
                allocationRanges: [{ start: '172.27.0.100', end: '172.27.0.100' }],
              },
            ],
          },
        ],
      }),
      having(
        cr(
          'network.openstack.org/v1beta1/IPSet',
          'openstack2/compute-1',
          { networks: [{ name: 'internalapi', subnetName: 'subnet1' }] },
          [bad('Ready', 'no ip address could be created'), bad('ReservationReady', 'no ip address could be created')],
        ),
      ),
    ),
    about: 'NetConfig openstack2/netconfig',
    says: ['all 1 addresses of internalapi/subnet1', 'compute-1 waits'],
  },
  {
    rule: 'ipam/ipset-waiting',
    when: 'a fixed address is already reserved',
    objects: changed(ipSet, waits('172.27.0.150 already reserved on internalapi by openstack/compute-9')),
    about: ipSet,
    says: ['172.27.0.150 already reserved'],
  },
  {
    rule: 'ipam/reservation-outside',
    when: 'the NetConfig was changed after a host got its address',
    objects: having(
      object('network.openstack.org/v1beta1/Reservation', 'openstack2/compute-0', {
        spec: {
          ipSetRef: { name: 'compute-0' },
          reservation: {
            internalapi: { network: 'internalapi', subnet: 'subnet1', address: '172.17.0.100' },
          },
        },
      }),
    ),
    about: 'Reservation openstack2/compute-0',
    says: ['172.17.0.100 on internalapi is not in 172.27.0.0/24'],
  },
  {
    rule: 'ipam/reservation-orphaned',
    when: 'a Reservation was restored from a backup',
    objects: without(ipSet),
    about: 'Reservation openstack2/compute-0',
    says: ['IPSet compute-0, which does not exist'],
  },
]
