/** SL84xx: problems of a running lab. */
import { problem } from '../../errors/finding.ts'

export const diskLocked = problem<{ disk: string; instance: string }>({
  code: 'SL8401',
  severity: 'error',
  message: ({ disk, instance }) => `${disk} is locked by ${instance}, which is not running`,
  remedy: ({ disk }) => `run \`stackloom lab up\`, or \`limactl disk unlock ${disk}\``,
})

export const vmNotRunning = problem<{ node: string; status: string }>({
  code: 'SL8402',
  severity: 'error',
  message: ({ node, status }) => `${node} is ${status}`,
  remedy: () => 'run `stackloom lab up` to start it',
})

export const nodeUnreachable = problem<{ node: string; reason: string }>({
  code: 'SL8403',
  severity: 'error',
  message: ({ node, reason }) => `${node} does not answer: ${reason}`,
  remedy: ({ node }) =>
    `check with \`limactl shell\` whether the VM is up; its log is serial.log in the Lima folder of ${node}`,
})

export const vipMissing = problem<{ vip: string; interface: string; node: string }>({
  code: 'SL8404',
  severity: 'error',
  message: ({ vip, interface: name, node }) => `${vip} is not on ${name} of ${node}`,
  remedy: () => 'read `docker logs keepalived` on the node; both VIP interfaces must be up',
})

export const clockSkew = problem<{ node: string; seconds: number }>({
  code: 'SL8405',
  severity: 'error',
  message: ({ node, seconds }) => `the clock of ${node} is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead'}`,
  remedy: () => 'run `sudo systemctl restart systemd-timesyncd` on the node',
})

export const vmDrift = problem<{ node: string; fields: string; action: string }>({
  code: 'SL8406',
  severity: 'warning',
  message: ({ node, fields, action }) => `${node} differs in ${fields}: ${action}`,
  remedy: () => 'run `stackloom lab up --dry-run` to see what would change',
})

export const certificateExpiring = problem<{ file: string; days: number }>({
  code: 'SL8407',
  severity: 'warning',
  message: ({ file, days }) => (days > 0 ? `${file} expires in ${days} days` : `${file} has expired`),
  remedy: () => 'run `stackloom lab up`: it renews the certificate and reconfigures the services',
})

export const vmMissing = problem<{ node: string }>({
  code: 'SL8408',
  severity: 'error',
  message: ({ node }) => `${node} has no VM`,
  remedy: () => 'run `stackloom lab up` to create it',
})
