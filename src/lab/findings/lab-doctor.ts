/** SL84xx: what is wrong with a lab that runs. */
import { problem } from '../../errors/finding.ts'

export const diskLocked = problem<{ disk: string; instance: string }>({
  code: 'SL8401',
  severity: 'error',
  title: 'A disk is locked by a VM that does not run',
  message: ({ disk, instance }) => `${disk} is locked by ${instance}, which is not running`,
  remedy: ({ disk }) => `limactl disk unlock ${disk}; \`stackloom lab up\` does it`,
  description: `Lima locks a data disk while its VM runs. After a crash or a reboot of the host the lock stays behind and the
VM does not start.`,
  example: { disk: 'osl-node3-lvm', instance: 'osl-node3' },
})

export const vmNotRunning = problem<{ node: string; status: string }>({
  code: 'SL8402',
  severity: 'error',
  title: 'A VM does not run',
  message: ({ node, status }) => `${node} is ${status}`,
  remedy: () => '`stackloom lab up` starts it',
  description: `After a reboot of the host, VMs stay stopped until somebody starts them.`,
  example: { node: 'node2', status: 'Stopped' },
})

export const nodeUnreachable = problem<{ node: string; reason: string }>({
  code: 'SL8403',
  severity: 'error',
  title: 'A node does not answer over SSH',
  message: ({ node, reason }) => `${node} does not answer: ${reason}`,
  remedy: ({ node }) => `limactl shell shows whether it is up; its log is serial.log in the folder of ${node}`,
  description: `The nodes have static addresses on the management network. When the host cannot reach them, socket_vmnet is
not running, or its network has another gateway.`,
  example: { node: 'node1', reason: 'Connection timed out' },
})

export const vipMissing = problem<{ vip: string; interface: string; node: string }>({
  code: 'SL8404',
  severity: 'error',
  title: 'A VIP is on no node',
  message: ({ vip, interface: name, node }) => `${vip} is not on ${name} of ${node}`,
  remedy: () => 'look at `docker logs keepalived` on the node; both VIPs need both their interfaces up',
  description: `keepalived tracks its interfaces: when the external VIP's interface is down, the internal VIP goes too, and
every service of the cloud is out of reach.`,
  example: { vip: '192.168.105.250', interface: 'mgmt0', node: 'node1' },
})

export const clockSkew = problem<{ node: string; seconds: number }>({
  code: 'SL8405',
  severity: 'error',
  title: "A node's clock is wrong",
  message: ({ node, seconds }) => `the clock of ${node} is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'}`,
  remedy: () => 'sudo systemctl restart systemd-timesyncd on the node',
  description: `A Mac that slept stops the clocks of its VMs. Tokens, TLS and Ceph monitors do not survive a difference of more
than a few seconds.`,
  example: { node: 'node2', seconds: -1800 },
})

export const vmDrift = problem<{ node: string; fields: string; action: string }>({
  code: 'SL8406',
  severity: 'warning',
  title: 'A VM differs from its definition',
  message: ({ node, fields, action }) => `${node} differs in ${fields}: ${action}`,
  remedy: () => '`stackloom lab up --dry-run` shows what would be done',
  description: `Lima keeps its own copy of a VM's definition. Changes of the lab file reach a VM by a resize or a replacement.`,
  example: { node: 'node2', fields: 'memory', action: 'resize' },
})

export const certificateExpiring = problem<{ file: string; days: number }>({
  code: 'SL8407',
  severity: 'warning',
  title: 'A certificate ends soon',
  message: ({ file, days }) => (days > 0 ? `${file} ends in ${days} days` : `${file} has ended`),
  remedy: () => '`stackloom lab up` renews it and reconfigures the services',
  description: `Leaf certificates live 825 days at most and are renewed by the stage \`certificates\` when a third of their life
is left.`,
  example: { file: 'kolla/certificates/haproxy.pem', days: 20 },
})

export const vmMissing = problem<{ node: string }>({
  code: 'SL8408',
  severity: 'error',
  title: 'A VM does not exist',
  message: ({ node }) => `${node} was not created yet`,
  remedy: () => '`stackloom lab up` creates it',
  description: `The lab file has a node for which Lima has no VM.`,
  example: { node: 'node4' },
})
