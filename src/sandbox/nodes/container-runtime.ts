/** Configures containerd for a node. Pure. */
import path from 'node:path'
import { PAUSE_REFERENCE } from '../images/image-table.ts'
import type { SandboxNode } from './node-layout.ts'

/** State is in memory, as on a machine that was restarted; images and containers are kept. */
export function containerdConfig({ folder, socket }: SandboxNode): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  return `version = 2
root = ${JSON.stringify(path.join(folder, 'containerd'))}
state = "/run/containerd"

[grpc]
  address = ${JSON.stringify(socket)}

# By default it is beside the other one, and stays when containerd is killed.
[ttrpc]
  address = "/run/containerd/containerd.sock.ttrpc"

[${cri}]
  sandbox_image = "${PAUSE_REFERENCE}"
  # Root of a container may lack the right to lower the score, and then no pod starts.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  tolerate_missing_hugetlb_controller = true
  disable_hugetlb_controller = true

[${cri}.cni]
  bin_dir = "/opt/cni/bin"
  conf_dir = "/etc/cni/net.d"

[${cri}.containerd]
  snapshotter = "overlayfs"

[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
`
}
