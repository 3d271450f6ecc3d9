/** Invalid attachments, and addresses of pods. */
import { attachment, event, object } from '../objects.ts'
import { having, type State } from '../state.ts'

const pod = (name: string, networks: string, status?: string, phase = 'Running') =>
  object(
    'v1/Pod',
    name,
    { status: { phase, conditions: [{ type: 'Ready', status: 'True' }] } },
    {
      annotations: {
        'k8s.v1.cni.cncf.io/networks': networks,
        ...(status !== undefined && { 'k8s.v1.cni.cncf.io/network-status': status }),
      },
    },
  )

const waiting = pod('openstack/ovn-9', '[]', undefined, 'Pending')
const ipPool = (name: string, range: string, allocations: Readonly<Record<string, unknown>>) =>
  object('whereabouts.cni.cncf.io/v1alpha1/IPPool', `openshift-multus/${name}`, {
    spec: { range, allocations },
  })

const whereabouts = (values: Readonly<Record<string, unknown>>, master = 'enp6s0.20') => ({
  type: 'macvlan',
  master,
  ipam: { type: 'whereabouts', ...values },
})

export const multusStates: readonly State[] = [
  {
    rule: 'multus/unreadable-attachment',
    when: 'the configuration was edited manually',
    objects: having(attachment('openstack/storage', '{ "type": "macvlan", }')),
    about: 'NetworkAttachmentDefinition openstack/storage',
    says: ['is not JSON'],
  },
  {
    rule: 'multus/span-ignored',
    when: 'the prefix was changed in the range and not in the span',
    objects: having(
      attachment(
        'openstack/storage',
        whereabouts({
          range: '172.18.0.0/24',
          range_start: '172.19.0.30',
          range_end: '172.19.0.70',
          network_name: 'a',
        }),
      ),
    ),
    about: 'NetworkAttachmentDefinition openstack/storage',
    says: ['172.19.0.30-172.19.0.70 is not inside 172.18.0.0/24'],
  },
  {
    rule: 'multus/master-nowhere',
    when: 'the VLAN of an attachment does not exist',
    objects: having(
      attachment('openstack/storage', whereabouts({ range: '172.18.0.0/24', network_name: 'a' }, 'enp6s0.21')),
    ),
    about: 'NetworkAttachmentDefinition openstack/storage',
    says: ['enp6s0.21, which no node has'],
    // The VLAN of another network.
    never: ['enp6s0.20'],
  },
  {
    rule: 'multus/attachment-missing',
    when: 'networkAttachments is misspelt',
    objects: having(pod('openstack/ovn-0', '[{"name":"internlapi"}]', '[]', 'Pending')),
    about: 'Pod openstack/ovn-0',
    says: ['network internlapi', 'there is internalapi'],
  },
  {
    rule: 'multus/attachment-missing',
    when: 'networks are written in the short form',
    objects: having(pod('openstack/ovn-0', 'openstack/internalapi@net1, openstack2/nothing', '[]', 'Pending')),
    about: 'Pod openstack/ovn-0',
    says: ['network nothing', 'openstack2 has no such'],
  },
  {
    rule: 'multus/pods-exhausted',
    when: 'a span for pods is full',
    objects: having(
      attachment(
        'openstack/internalapi',
        whereabouts({
          range: '172.17.0.0/24',
          range_start: '172.17.0.30',
          range_end: '172.17.0.31',
          network_name: 'openstack-internalapi',
        }),
      ),
      ipPool('openstack-internalapi-172.17.0.0-24', '172.17.0.0/24', {
        '30': { podref: 'openstack/ovn-9' },
        '31': { podref: 'openstack/ovn-9' },
      }),
      waiting,
      event(waiting, 'FailedCreatePodSandBox', 'Could not allocate IP in range: ip: 172.17.0.30'),
    ),
    about: 'NetworkAttachmentDefinition openstack/internalapi',
    says: ['all 2 addresses of 172.17.0.30-172.17.0.31', 'Could not allocate IP in range'],
  },
  {
    rule: 'multus/not-attached',
    when: 'a pod started before Multus did',
    objects: having(pod('openstack/ovn-0', '[{"name":"internalapi"}]', '[{"name":"openshift-sdn"}]')),
    about: 'Pod openstack/ovn-0',
    says: ['runs without it', 'kubectl -n openstack delete pod ovn-0'],
  },
  {
    rule: 'multus/range-shared',
    when: 'two clouds have the same range without names',
    objects: having(
      attachment('openstack/storage', whereabouts({ range: '172.18.0.0/24' })),
      attachment('openstack2/storage', whereabouts({ range: '172.18.0.0/24' }, 'enp6s0.30')),
    ),
    about: 'NetworkAttachmentDefinition openstack/storage',
    says: ['like openstack2/storage'],
  },
  {
    rule: 'multus/leaked-addresses',
    when: 'a node was lost with its pods',
    objects: having(
      ipPool('openstack-internalapi-172.17.0.0-24', '172.17.0.0/24', { '40': { podref: 'openstack/gone' } }),
    ),
    about: 'IPPool openshift-multus/openstack-internalapi-172.17.0.0-24',
    says: ['172.17.0.40 is reserved for pod openstack/gone'],
  },
  {
    rule: 'multus/leaked-overlaps',
    when: 'only the entry of the IPPool was released',
    objects: having(
      object(
        'whereabouts.cni.cncf.io/v1alpha1/OverlappingRangeIPReservation',
        'openshift-multus/openstack-internalapi-172.17.0.40',
        { spec: { podref: 'openstack/gone', containerid: 'x', ifname: 'net1' } },
      ),
    ),
    about: 'OverlappingRangeIPReservation openshift-multus/openstack-internalapi-172.17.0.40',
    says: ['blocks 172.17.0.40 for pod openstack/gone'],
  },
  {
    rule: 'multus/address-unreserved',
    when: 'the IPPool was restored from a backup',
    objects: having(
      attachment(
        'openstack/internalapi',
        whereabouts({
          range: '172.17.0.0/24',
          range_start: '172.17.0.30',
          range_end: '172.17.0.70',
          network_name: 'openstack-internalapi',
        }),
      ),
      ipPool('openstack-internalapi-172.17.0.0-24', '172.17.0.0/24', {}),
      pod('openstack/ovn-0', '[{"name":"internalapi"}]', '[{"name":"openstack/internalapi","ips":["172.17.0.31"]}]'),
    ),
    about: 'Pod openstack/ovn-0',
    says: ['it has 172.17.0.31 on internalapi', 'whereabouts may give it to another pod'],
  },
]
