/** What stays without TLS in this release of Kolla-Ansible, and where it stays. */
import { type Lab, usesCeph } from '../lab.ts'

export interface TlsGap {
  readonly what: string
  readonly where: string
}

export function tlsGaps(lab: Lab): readonly TlsGap[] {
  return [
    { what: 'OVN northbound and southbound databases', where: 'TCP 6641 and 6642 on the management network' },
    { what: 'memcached', where: 'TCP 11211 on the management network' },
    { what: 'iSCSI', where: 'TCP 3260 on the isolated storage network' },
    { what: 'Geneve', where: 'UDP 6081 on the isolated tunnel network' },
    ...(lab.monitoring.prometheus ? [{ what: 'Prometheus exporters', where: 'on the management network' }] : []),
    ...(usesCeph(lab) ? [{ what: 'Ceph messenger', where: 'on the storage network' }] : []),
  ]
}
