/** The BGP routers of a rehearsal without machines: FRR learns what other programs of FRR announce, and leaves no file. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Leaf } from '../../../src/rehearse/announce/leaf-plan.ts'
import { missingRoutes } from '../../../src/rehearse/announce/leaf-plan.ts'
import { startLeaves } from '../../../src/rehearse/announce/leaf-router.ts'
import { loseRoutes } from '../../../src/rehearse/announce/lose-routes.ts'
import { type Enclosure, openEnclosure } from '../../../src/rehearse/enclosure.ts'
import { ensureFrr } from '../../../src/rehearse/image/unpacked-packages.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { requireRehearsal } from './prepared.ts'

const NODES = ['worker-0', 'worker-1']
const VIPS = ['172.17.0.80', '172.17.1.80']

function leaf(index: number): Leaf {
  const address = `192.168.100.${index + 1}`
  return { name: `leaf${index}`, address, port: 179, asn: 65_000, nodeAsn: 64_999, nodes: NODES }
}

/** Announces as the speaker of a node: one session with each router. */
async function startSpeaker(enclosure: Enclosure, folder: string, address: string, leaves: readonly Leaf[]) {
  const name = `speaker-${address}`
  const home = enclosure.inside(name)
  await mkdir(enclosure.outside(name))
  const config = [
    'router bgp 64999',
    ` bgp router-id ${address}`,
    ' no bgp ebgp-requires-policy',
    ' no bgp network import-check',
    ' timers bgp 1 3',
    ...leaves.flatMap((router) => [
      ` neighbor ${router.address} remote-as ${router.asn}`,
      ` neighbor ${router.address} disable-connected-check`,
      ` neighbor ${router.address} update-source ${address}`,
    ]),
    ' address-family ipv4 unicast',
    ...VIPS.map((vip) => `  network ${vip}/32`),
    '',
  ]
  await writeFile(enclosure.outside(`${name}/bgpd.conf`), config.join('\n'))
  const libraries = `${folder}/usr/lib/x86_64-linux-gnu`
  const flags = '--no_kernel --no_zebra --user root --group root --vty_port 0'.split(' ')
  const files = ['--config_file', `${home}/bgpd.conf`, '--pid_file', `${home}/bgpd.pid`, '--vty_socket', home]
  const bgpd = [`${folder}/usr/lib/frr/bgpd`, ...flags, ...files, '--listenon', address]
  const script = 'mount --bind "$0" /var/tmp && exec "$@"'
  enclosure.start({
    file: 'unshare',
    args: ['--mount', 'sh', '-c', script, home, ...bgpd],
    env: { LD_LIBRARY_PATH: `${libraries}/frr:${libraries}` },
  })
}

async function readCrashLogs(): Promise<readonly string[]> {
  return readdir('/var/tmp/frr').catch(() => [])
}

describe('the BGP routers of a rehearsal', { timeout: 300_000 }, () => {
  beforeEach(requireRehearsal)

  it('learn every VIP from every node, miss what no node announces, forget a lost node, and leave no file', async () => {
    const folder = await ensureFrr(sandboxContext())
    const before = await readCrashLogs()
    const enclosure = await openEnclosure()
    try {
      const leaves = [leaf(0), leaf(1)]
      const addresses = ['198.18.0.10', '198.18.0.11']
      const link = 'ip link add cluster type veth peer name peer && ip link set peer up && ip link set cluster up'
      const assign = [...leaves.map(({ address }) => address), ...addresses].map(
        (address) => `ip address add ${address}/32 dev cluster`,
      )
      const { stderr } = await enclosure.exec({ file: 'sh', args: ['-c', [link, ...assign].join(' && ')] })
      expect(stderr).toBe('')
      const running = await startLeaves(enclosure, folder, leaves)
      for (const address of addresses) await startSpeaker(enclosure, folder, address, leaves)
      for (const { leaf: router, routes } of running) {
        const missing = async (vips: readonly string[]) =>
          missingRoutes(router, { vips, nodes: NODES }, await routes()).map(({ code }) => code)
        await expect.poll(() => missing(VIPS), { timeout: 120_000 }).toEqual([])
        expect(await missing([...VIPS, '172.17.0.81'])).toEqual(['SL9344'])
      }
      const cutOff = async (): Promise<void> => {
        await enclosure.exec({ file: 'ip', args: ['address', 'del', `${addresses[1]}/32`, 'dev', 'cluster'] })
      }
      const nodes = NODES.map((name) => ({ name, cutOff }))
      const loss = await loseRoutes(running, { vips: VIPS, nodes })
      expect(loss).toMatchObject({ node: 'worker-1', findings: [] })
      for (const { routes } of running) expect([...(await routes()).values()]).toEqual(VIPS.map(() => 1))
      expect(await readCrashLogs()).toEqual(before)
    } finally {
      await enclosure.close()
    }
  })
})
