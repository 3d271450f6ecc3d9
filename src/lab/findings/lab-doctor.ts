/** SL84xx: problems of a running lab. */
import { problem } from '../../errors/finding.ts'

export const diskLocked = problem<{ disk: string; instance: string }>({
  code: 'SL8401',
  severity: 'error',
  title: 'A disk is locked by a VM that does not run',
  message: ({ disk, instance }) => `${disk} is locked by ${instance}, which is not running`,
  remedy: ({ disk }) => `run \`stackloom lab up\`, or limactl disk unlock ${disk}`,
  description: `Lima locks a data disk while its VM runs. After a crash or a reboot of the host the lock remains, and
the VM does not start.`,
  example: { disk: 'osl-node3-lvm', instance: 'osl-node3' },
})

export const vmNotRunning = problem<{ node: string; status: string }>({
  code: 'SL8402',
  severity: 'error',
  title: 'A VM does not run',
  message: ({ node, status }) => `${node} is ${status}`,
  remedy: () => 'run `stackloom lab up` to start it',
  description: `Lima does not start VMs after a reboot of the host.`,
  example: { node: 'node2', status: 'Stopped' },
})

export const nodeUnreachable = problem<{ node: string; reason: string }>({
  code: 'SL8403',
  severity: 'error',
  title: 'A node does not answer over SSH',
  message: ({ node, reason }) => `${node} does not answer: ${reason}`,
  remedy: ({ node }) =>
    `check with limactl shell whether the VM is up; its log is serial.log in the Lima folder of ${node}`,
  description: `The nodes have static addresses on the management network. When the host cannot reach them, socket_vmnet
is not running, or its network has another gateway.`,
  example: { node: 'node1', reason: 'Connection timed out' },
})

export const vipMissing = problem<{ vip: string; interface: string; node: string }>({
  code: 'SL8404',
  severity: 'error',
  title: 'A VIP is on no node',
  message: ({ vip, interface: name, node }) => `${vip} is not on ${name} of ${node}`,
  remedy: () => 'read `docker logs keepalived` on the node; both VIP interfaces must be up',
  description: `keepalived tracks its interfaces: when the interface of the external VIP is down, keepalived removes the
internal VIP too, and no service of the cloud is reachable.`,
  example: { vip: '192.168.105.250', interface: 'mgmt0', node: 'node1' },
})

export const clockSkew = problem<{ node: string; seconds: number }>({
  code: 'SL8405',
  severity: 'error',
  title: "A node's clock is wrong",
  message: ({ node, seconds }) => `the clock of ${node} is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'}`,
  remedy: () => 'run sudo systemctl restart systemd-timesyncd on the node',
  description: `The clocks of VMs stop while the Mac sleeps. Tokens, TLS and Ceph monitors fail when clocks differ by more
than a few seconds.`,
  example: { node: 'node2', seconds: -1800 },
})

export const vmDrift = problem<{ node: string; fields: string; action: string }>({
  code: 'SL8406',
  severity: 'warning',
  title: 'A VM differs from its definition',
  message: ({ node, fields, action }) => `${node} differs in ${fields}: ${action}`,
  remedy: () => 'run `stackloom lab up --dry-run` to see what would change',
  description: `Lima keeps its own copy of a VM's definition. A change of the lab file resizes or replaces the VM.`,
  example: { node: 'node2', fields: 'memory', action: 'resize' },
})

export const certificateExpiring = problem<{ file: string; days: number }>({
  code: 'SL8407',
  severity: 'warning',
  title: 'A certificate expires soon',
  message: ({ file, days }) => (days > 0 ? `${file} expires in ${days} days` : `${file} has expired`),
  remedy: () => 'run `stackloom lab up`: it renews the certificate and reconfigures the services',
  description: `Certificates are valid for at most 825 days. Rendering renews them when a third of that time is left.`,
  example: { file: 'kolla/certificates/haproxy.pem', days: 20 },
})

export const vmMissing = problem<{ node: string }>({
  code: 'SL8408',
  severity: 'error',
  title: 'A VM does not exist',
  message: ({ node }) => `${node} has no VM`,
  remedy: () => 'run `stackloom lab up` to create it',
  description: `The lab file has a node for which Lima has no VM.`,
  example: { node: 'node4' },
})
