/** DNS names that are not served. */
import { bad, cr, requests, service } from '../objects.ts'
import { changed, having, type State, spec, status } from '../state.ts'

const dnsmasq = 'DNSMasq openstack2/dns'

export const dnsStates: readonly State[] = [
  {
    rule: 'dns/no-upstream',
    when: 'the options of the control plane were left empty',
    objects: changed(dnsmasq, spec({ options: [] })),
    about: dnsmasq,
    says: ['no option server', 'kubectl -n openstack2 edit openstackcontrolplane'],
  },
  {
    rule: 'dns/broken-option',
    when: 'an option has two lines',
    objects: changed(
      dnsmasq,
      spec({ options: [{ key: 'server', values: ['192.168.122.1\naddn-hosts=/etc/passwd'] }] }),
    ),
    about: dnsmasq,
    says: ['the option server contains a newline'],
  },
  {
    rule: 'dns/two-servers',
    when: 'a second DNSMasq exists',
    objects: having(
      cr('network.openstack.org/v1beta1/DNSMasq', 'openstack2/other', {
        options: [{ key: 'server', values: ['192.168.122.1'] }],
      }),
    ),
    about: 'DNSMasq openstack2/other',
    says: ['dns and other'],
  },
  {
    rule: 'metallb/pending-unknown-pool',
    when: 'dnsmasq waits for a Service that is pending: the Service is the cause',
    objects: changed(
      dnsmasq,
      status({ conditions: [bad('Ready', 'dnsmasq-dns LoadBalancer IP still pending')] }),
      having(service('openstack2/dnsmasq-dns', { ports: [53], annotations: requests('ctlplane') })),
    ),
    about: 'Service openstack2/dnsmasq-dns',
    says: ['no pool ctlplane'],
  },
  {
    rule: 'dns/waits-for-address',
    when: 'the Service of dnsmasq was created a moment ago',
    objects: changed(
      dnsmasq,
      status({ conditions: [bad('Ready', 'dnsmasq-dns LoadBalancer IP still pending')] }),
      having({
        ...service('openstack2/dnsmasq-dns', { ports: [53], annotations: requests('openstack2-ctlplane') }),
        metadata: {
          name: 'dnsmasq-dns',
          namespace: 'openstack2',
          creationTimestamp: '2026-03-01T11:59:50Z',
          annotations: requests('openstack2-ctlplane'),
        },
      }),
    ),
    about: dnsmasq,
    says: ['openstack2/dnsmasq-dns has no address'],
  },
  {
    rule: 'dns/ingress-by-name',
    when: 'a cloud provider assigned a name instead of an address',
    objects: having({
      ...service('openstack2/keystone-public', {
        annotations: { 'dnsmasq.network.openstack.org/hostname': 'keystone' },
      }),
      status: { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }] } },
    }),
    about: 'Service openstack2/keystone-public',
    says: ['lb.example.com'],
  },
  {
    rule: 'dns/data-for-nobody',
    when: 'no DNSMasq has the label of the names',
    objects: changed('DNSData openstack2/hosts', spec({ dnsDataLabelSelectorValue: 'edpm' })),
    about: 'DNSData openstack2/hosts',
    says: ['is edpm', 'serves dnsdata'],
  },
  {
    rule: 'dns/bad-record',
    when: 'a record has an invalid address',
    objects: changed('DNSData openstack2/hosts', spec({ hosts: [{ ip: '172.27.0.300', hostnames: ['compute-0'] }] })),
    about: 'DNSData openstack2/hosts',
    says: ['compute-0 has the address "172.27.0.300"'],
  },
]
