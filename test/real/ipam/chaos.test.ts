/**
 * Runs two operators on a real API server: killed at random moments, cut off, and with a concurrent writer of every
 * object. No address is assigned twice, none is lost, and every IPSet is served.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AddressBlock } from '../../../src/api/address-block.ts'
import { addressBlocks } from '../../../src/api/address-block.ts'
import { type IpSet, ipSets, type Reservation, reservations } from '../../../src/api/ipset.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { isApiError } from '../../../src/kube/api-error.ts'
import { ownCrds } from '../../../src/operator/parts.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'

const cluster = useCluster({ crds: 'today' })
const namespace = 'chaos'
const rounds = count({ test: 2, soak: 20 })
const many = count({ test: 40, soak: 500 })
const limit = count({ test: 600_000, soak: 3_600_000 })
const soon = { timeout: count({ test: 180_000, soak: 1_800_000 }), interval: 300 }
const children = new Set<ChildProcess>()

/** Ranges with a few more addresses than needed. */
const wide = {
  networks: threeNetworks.networks.map((network, index) => ({
    ...network,
    subnets: network.subnets.map((subnet) => ({
      ...subnet,
      cidr: `10.${index}.0.0/16`,
      gateway: `10.${index}.0.1`,
      excludeAddresses: [],
      allocationRanges: [{ start: `10.${index}.0.100`, end: `10.${index}.15.200` }],
    })),
  })),
}

function operator(): ChildProcess {
  const script = path.join(import.meta.dirname, 'operator-process.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, cluster.kubeconfig], { stdio: 'ignore' })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Operators that run already continue. */
function twoOperators(): void {
  while (children.size < 2) operator()
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

beforeAll(async () => {
  for (const crd of ownCrds) await cluster.client.apply(crd, { fieldManager: 'test' })
  const served = async (): Promise<void> => {
    if (!(await cluster.client.resource(addressBlocks))) throw new Error('not served yet')
  }
  await vi.waitFor(served, { timeout: 30_000 })
  await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const made = netConfig(wide)
  await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace } })
}, limit)

afterAll(async () => {
  await Promise.all([...children].map(kill))
})

const list = async <T extends KubeObject>(kind: { apiVersion: string; kind: string }): Promise<readonly T[]> =>
  (await cluster.client.list(kind)).items as readonly T[]

/** Addresses that two IPSets had at any check. */
const twice: string[] = []
afterEach(() => expect(twice).toEqual([]))

/** Checks all invariants on what the API server holds; returns what does not hold yet. */
async function unsettled(): Promise<string> {
  const sets = await list<IpSet>(ipSets)
  const blocks = await list<AddressBlock>(addressBlocks)
  const shown = await list<Reservation>(reservations)
  if (sets.length === 0) return 'no IPSet exists'
  // An IPSet that is being deleted may have released what its status still has.
  const living = sets.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const assigned = living.flatMap(({ status }) => (status?.reservations ?? []).map(({ address }) => address))
  twice.push(...assigned.filter((address, index) => assigned.indexOf(address) !== index))
  const held = blocks.flatMap(({ spec }) => Object.keys(spec.holders))
  if (assigned.length !== sets.length * 3) return `${assigned.length} of ${sets.length * 3} addresses are assigned`
  if (held.toSorted().join() !== assigned.toSorted().join())
    return `the ledger holds ${held.length}, assigned are ${assigned.length}`
  return shown.length === sets.length ? '' : `${shown.length} Reservations for ${sets.length} IPSets`
}

describe('two operators without leader election', () => {
  it(
    'assign no address twice and lose none when they are killed at random',
    async () => {
      const names = Array.from({ length: many }, (_, n) => `host-${n}`)
      const networks = threeNetworks.networks.map(({ name }) => ({ name }))
      const steady = operator()
      for (let round = 0; round < rounds; round += 1) {
        const victim = operator()
        const work = Promise.all(
          names.map(async (name, n) => {
            const exists = await cluster.client.get({ ...ipSets, namespace, name })
            if (!exists) await cluster.client.create(ipSet(name, networks, namespace))
            else if (n % 2 === round % 2) await cluster.client.delete({ ...ipSets, namespace, name })
          }),
        )
        // At a random moment between its start and the end of the work.
        await new Promise((resolve) => setTimeout(resolve, 500 + Math.random() * 2_500))
        await unsettled()
        await kill(victim)
        await work
      }
      await kill(steady)
      twoOperators()
      await expect.poll(unsettled, soon).toBe('')
    },
    limit,
  )

  it(
    'continue after the API server restarts',
    async () => {
      twoOperators()
      for (let round = 0; round < count({ test: 1, soak: 5 }); round += 1) {
        const work = Promise.all(Array.from({ length: many }, (_, n) => insist(() => come(`cut-off-${round}-${n}`))))
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 500))
        await cluster.restart('kube-apiserver')
        await work
      }
      await expect.poll(unsettled, soon).toBe('')
    },
    limit,
  )

  it(
    'lose no address when another writer causes conflicts on every object',
    async () => {
      twoOperators()
      // An IPSet that stays, so that something is left to check at the end.
      await insist(() => come('host-0'))
      const calm = new AbortController()
      const storm = (async () => {
        for (let blow = 0; !calm.signal.aborted; blow += 1) {
          for (const kind of [addressBlocks, reservations, ipSets]) {
            const touched = (await list(kind)).map(({ apiVersion, kind: of, metadata }) =>
              cluster.client
                .patch(
                  { apiVersion, kind: of, ...metadata },
                  { metadata: { annotations: { blow: String(blow) } } },
                  merge,
                )
                // Deleted meanwhile: nothing to conflict with.
                .catch(() => undefined),
            )
            await Promise.all(touched)
          }
        }
      })()
      await Promise.all(Array.from({ length: many }, (_, n) => come(`storm-${n}`)))
      const everybodyReady = async (): Promise<number> =>
        (await list<IpSet>(ipSets)).filter((ipSet) => ipSet.status?.reservations?.length !== 3).length
      await expect.poll(everybodyReady, soon).toBe(0)
      const names = (await list<IpSet>(ipSets)).map(({ metadata }) => metadata.name)
      await Promise.all(
        names
          .filter((name) => !name.startsWith('host-'))
          .map((name) => cluster.client.delete({ ...ipSets, namespace, name })),
      )
      const left = async (): Promise<number> =>
        (await list(ipSets)).filter(({ metadata }) => !metadata.name.startsWith('host-')).length
      await expect.poll(left, soon).toBe(0)
      calm.abort()
      await storm
      await expect.poll(unsettled, soon).toBe('')
    },
    limit,
  )
})

const merge = { type: 'merge' } as const

const come = (name: string): Promise<unknown> =>
  cluster.client.create(
    ipSet(
      name,
      threeNetworks.networks.map((network) => ({ name: network.name })),
      namespace,
    ),
  )

/** Retries while the API server is away; a request whose answer was lost may have been served. */
async function insist(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (isApiError(error, 'already-exists')) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
