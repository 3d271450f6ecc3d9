/** The switch of a rehearsal without machines: hosts send over TCP and stay on their VLAN, and find addresses that are used twice. */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { readData } from '../../../src/data/data.ts'
import { moveVips } from '../../../src/rehearse/announce/move-vip.ts'
import { askHolder } from '../../../src/rehearse/announce/vip-holder.ts'
import { type Enclosure, openEnclosure } from '../../../src/rehearse/enclosure.ts'
import type { RehearsedHost } from '../../../src/rehearse/hosts/host-plan.ts'
import { connectHosts, probeHosts } from '../../../src/rehearse/hosts/hosts.ts'
import { ensureOpenVswitch } from '../../../src/rehearse/image/unpacked-packages.ts'
import { type RunningSwitch, startSwitch } from '../../../src/rehearse/switch/switch.ts'
import { evaluateProbes } from '../../../src/verify/probe/probe-results.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { requireRehearsal } from './prepared.ts'
import { widePlan } from './small-plan.ts'

function host(name: string, vlan: number, ...prefixed: readonly string[]): RehearsedHost {
  const plug = { kind: 'machine', name, role: 'main', vlan, addresses: [] } as const
  const place = { cloud: 'rhoso1', network: 'storage', node: name, namespace: 'openstack', name }
  return { ...place, addresses: prefixed.map((text) => text.replace(/\/.*/, '')), prefixed, mtu: 1500, plug }
}

/** A switch in an enclosure, with busybox beside it. */
async function withSwitch(
  work: (enclosure: Enclosure, switches: RunningSwitch, busybox: string) => Promise<void>,
): Promise<void> {
  const folder = await ensureOpenVswitch(sandboxContext())
  const enclosure = await openEnclosure()
  try {
    const switches = await startSwitch(enclosure, folder, [{ role: 'main', ports: [] }])
    await work(enclosure, switches, path.join(folder, 'bin/busybox'))
  } finally {
    await enclosure.close()
  }
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
    await withSwitch(async (enclosure, switches, busybox) => {
      await connectHosts(enclosure, switches, [
        host('h0', 20, '172.17.0.100/24'),
        host('h1', 20, '172.17.0.101/24'),
        host('h2', 30, '172.17.0.102/24'),
      ])
      expect(await send(enclosure, busybox, 'h1')).toBe('hello\n')
      expect(await send(enclosure, busybox, 'h2')).toBe('')
    })
  })

  it('connects two VLANs with a cable, which is no machine itself', async () => {
    await withSwitch(async (enclosure, switches, busybox) => {
      await connectHosts(enclosure, switches, [host('h0', 20, '172.17.0.100/24'), host('h2', 30, '172.17.0.102/24')])
      await switches.plug({ kind: 'cable', name: 'x0', role: 'main', vlans: [20, 30] })
      expect(await send(enclosure, busybox, 'h2')).toBe('hello\n')
      // A kernel greets the machines of a new link in the first seconds.
      await sleep(4000)
      const { forwarding } = await switches.observe(['main'])
      const macsAt = (...ports: readonly string[]) =>
        [...new Set(forwarding.filter(({ port }) => ports.includes(port)).map(({ mac }) => mac))].toSorted()
      expect(macsAt('x0a', 'x0b')).toEqual(macsAt('h0a', 'h2a'))
    })
  })

  it('shows which machine answers for an address, in both families, and none for a free one', async () => {
    await withSwitch(async (enclosure, switches, busybox) => {
      const hosts = [host('h0', 20, '172.17.0.80/24', 'fd00:bbbb::80/64'), host('h1', 30, '172.17.0.81/24')]
      await connectHosts(enclosure, switches, hosts)
      await switches.plug({ kind: 'machine', name: 'v0', role: 'main', vlan: 20, addresses: [] })
      const observer = { iface: 'v0b', busybox }
      const shown = await enclosure.exec({ file: 'ip', args: ['-n', 'h0', '-br', 'link', 'show', 'dev', 'net1'] })
      const mac = /[0-9a-f:]{17}/.exec(shown.stdout)?.[0]
      expect(mac).toBeDefined()
      for (const address of ['172.17.0.80', 'fd00:bbbb::80']) {
        // Until duplicate address detection has ended, no machine answers for an IPv6 address.
        await expect.poll(() => askHolder(enclosure, observer, address), { timeout: 30_000 }).toBe(mac)
      }
      // A free one, and one on another VLAN.
      for (const address of ['172.17.0.82', 'fd00:bbbb::82', '172.17.0.81']) {
        expect(await askHolder(enclosure, observer, address)).toBeUndefined()
      }
      // The answer is of now, not of an earlier one that the kernel keeps.
      await enclosure.exec({ file: 'ip', args: ['-n', 'h0', 'link', 'set', 'net1', 'down'] })
      expect(await askHolder(enclosure, observer, 'fd00:bbbb::80')).toBeUndefined()
    })
  })

  it('measures the move of VIPs of both families when the machine that has them is cut off', async () => {
    await withSwitch(async (enclosure, switches, busybox) => {
      const vips = ['172.17.0.80/24', 'fd00:bbbb::80/64']
      // The kernels of two hosts answer here, where a rehearsal has speakers; a free address of h1 decides nothing.
      await connectHosts(enclosure, switches, [host('h0', 20, ...vips), host('h1', 20, '172.17.0.81/24')])
      const ip = (...args: readonly string[]) => enclosure.exec({ file: 'ip', args })
      const readMac = async (name: string): Promise<string> =>
        /[0-9a-f:]{17}/.exec((await ip('-n', name, '-br', 'link', 'show', 'dev', 'net1')).stdout)?.[0] ?? ''
      const names = ['h0', 'h1']
      const nodes = await Promise.all(
        names.map(async (name) => ({ name, nics: [{ name: 'net1', mac: await readMac(name), port: `${name}a` }] })),
      )
      const cutOff = async (): Promise<void> => {
        await ip('-n', 'h0', 'link', 'set', 'net1', 'down')
        for (const vip of vips) await ip('-n', 'h1', 'address', 'add', vip, 'dev', 'net1')
      }
      const target = { addresses: ['172.17.0.81', '172.17.0.80', 'fd00:bbbb::80'], role: 'main', vlan: 20 }
      const topology = { nodes, switches: [], routers: [] }
      const running = names.map((name) => ({ name, cutOff }))
      const { moved, findings } = await moveVips(target, topology, { enclosure, switches, nodes: running, busybox })
      expect(findings).toEqual([])
      expect(moved.map(({ address, from, to }) => `${address} ${from} ${to}`)).toEqual([
        '172.17.0.80 h0 h1',
        'fd00:bbbb::80 h0 h1',
      ])
    })
  })

  it('shows an address that two machines have, in both families', async () => {
    await withSwitch(async (enclosure, switches, busybox) => {
      const taken = ['172.18.0.100/24', 'fd00:cccc::100/64']
      await switches.plug({ kind: 'machine', name: 'x0', role: 'main', vlan: 20, addresses: taken })
      const hosts = [host('h0', 20, ...taken), host('h1', 20, '172.18.0.101/24', 'fd00:cccc::101/64')]
      await connectHosts(enclosure, switches, hosts)
      const plan = widePlan()
      const runs = await probeHosts(plan, hosts, [], { program: readData('probe.sh'), enclosure, busybox })
      const findings = evaluateProbes(plan, runs, []).flatMap((result) => result.findings)
      const twice = findings.filter(({ code }) => code === 'SL9105').map(({ message }) => message)
      expect(twice).toContainEqual(
        expect.stringMatching(/^the pod itself, [0-9a-f:]{17} answer for 172\.18\.0\.100 .* of rhoso1\/storage on h0$/),
      )
      // The kernel tests IPv6 addresses itself and does not say which machine has one.
      expect(twice).toContainEqual(
        expect.stringMatching(
          /^the pod itself, another machine answer for fd00:cccc::100 .* of rhoso1\/storage on h0$/,
        ),
      )
      expect(twice.filter((message) => message.includes('::101') || message.includes('.101'))).toEqual([])
    })
  })
})
