/** The switch of a rehearsal without machines: what hosts send over TCP arrives, and stays on its VLAN. */
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Enclosure, openEnclosure } from '../../../src/rehearse/enclosure.ts'
import type { RehearsedHost } from '../../../src/rehearse/hosts/host-plan.ts'
import { connectHosts } from '../../../src/rehearse/hosts/hosts.ts'
import { ensureOpenVswitch } from '../../../src/rehearse/image/unpacked-packages.ts'
import { startSwitch } from '../../../src/rehearse/switch/switch.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { requireRehearsal } from './prepared.ts'

function host(name: string, vlan: number, address: string): RehearsedHost {
  const plug = { kind: 'machine', name, role: 'main', vlan, addresses: [] } as const
  const place = { cloud: 'rhoso1', network: 'internalapi', node: name, namespace: 'openstack', name }
  return { ...place, addresses: [address], prefixed: [`${address}/24`], mtu: 1500, plug }
}

/** Listens on the first host, sends a line from another one, and returns what arrived. */
async function send(enclosure: Enclosure, busybox: string, from: string): Promise<string> {
  const listen = ['netns', 'exec', 'h0', busybox, 'nc', '-l', '-p', '5000', '-w', '10']
  const receiver = enclosure.exec({ file: 'ip', args: listen })
  const words = `for i in 1 2 3 4 5; do echo hello | ${busybox} nc -w 2 172.17.0.100 5000 && break; sleep 0.5; done`
  await enclosure.exec({ file: 'ip', args: ['netns', 'exec', from, 'sh', '-c', words] })
  return (await receiver).stdout
}

describe('the switch of a rehearsal', { timeout: 300_000 }, () => {
  beforeEach(requireRehearsal)

  it('carries TCP between hosts of a VLAN, with checksums, and nothing between two VLANs', async () => {
    const folder = await ensureOpenVswitch(sandboxContext())
    const busybox = path.join(folder, 'bin/busybox')
    const enclosure = await openEnclosure()
    try {
      const switches = await startSwitch(enclosure, folder, [{ role: 'main', ports: [] }])
      await connectHosts(enclosure, switches, [
        host('h0', 20, '172.17.0.100'),
        host('h1', 20, '172.17.0.101'),
        host('h2', 30, '172.17.0.102'),
      ])
      expect(await send(enclosure, busybox, 'h1')).toBe('hello\n')
      expect(await send(enclosure, busybox, 'h2')).toBe('')
    } finally {
      await enclosure.close()
    }
  })
})
