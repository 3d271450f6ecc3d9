/** Phase 2: the specifications that cephadm applies. */
import { writeYamlStream } from '../../yaml/write.ts'
import { hasRole, type Lab, type LabNode, nodesWithRole } from '../lab.ts'
import { banner, type TreeFile } from '../tree.ts'

function cephSpecs(lab: Lab): readonly object[] {
  const members = lab.nodes.filter((node) => hasRole(node, 'ceph-mon') || osdDevice(node) !== undefined)
  const monitors = nodesWithRole(lab, 'ceph-mon').map((node) => node.name)
  const hosts = members.map((node) => ({
    service_type: 'host',
    hostname: node.name,
    addr: node.address,
    labels: [...(hasRole(node, 'ceph-mon') ? ['_admin', 'mon', 'mgr'] : []), ...(osdDevice(node) ? ['osd'] : [])],
  }))
  // One specification per host: the device has another name where an LVM disk comes first.
  const osds = members.flatMap((node) => {
    const device = osdDevice(node)
    if (device === undefined) return []
    const spec = { data_devices: { paths: [device] } }
    return [{ service_type: 'osd', service_id: node.name, placement: { hosts: [node.name] }, spec }]
  })
  return [
    ...hosts,
    { service_type: 'mon', placement: { hosts: monitors } },
    { service_type: 'mgr', placement: { hosts: monitors } },
    ...osds,
  ]
}

function osdDevice(node: LabNode): string | undefined {
  return node.disks.find((disk) => disk.use === 'osd')?.device
}

export function cephSpecFile(lab: Lab): TreeFile {
  return { path: 'ceph/cluster.yaml', text: banner() + writeYamlStream(cephSpecs(lab)) }
}
