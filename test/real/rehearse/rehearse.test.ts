/**
 * Rehearses two clouds on two virtual machines with real kernels: real nmstate, real CNI plugins, a switch with the VLANs
 * of the plan. A healthy site has no finding; a VLAN that one port lacks is found with the port.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Plan } from '../../../src/plan/plan.ts'
import { runInNode } from '../../../src/rehearse/enter-node.ts'
import type { FaultName } from '../../../src/rehearse/faults.ts'
import { endKept, findKept } from '../../../src/rehearse/kept.ts'
import { type Rehearsal, rehearse } from '../../../src/rehearse/rehearse.ts'
import { isAsPlanned } from '../../../src/verify/probe/reach-matrix.ts'
import { count, requireSoak } from '../../counts.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { MARK, markedProcesses } from './marked-processes.ts'
import { requireRehearsal } from './prepared.ts'
import { bgpPlan, smallPlan, widePlan } from './small-plan.ts'

const plan = smallPlan()

function run(fault?: FaultName, rehearsed = plan): Promise<Rehearsal> {
  return rehearse({ plan: rehearsed, nodes: 2, clouds: [], fault }, sandboxContext())
}

/** With a record of its own: a rehearsal that a developer has kept stays. */
const state = mkdtempSync(path.join(tmpdir(), 'stackloom-rehearse-'))
const { paths, ...context } = sandboxContext()
const keepingContext = { ...context, paths: { ...paths, sandboxes: path.join(state, 'sandboxes') } }
afterAll(() => rmSync(state, { recursive: true }))

function messages({ results }: Rehearsal): readonly string[] {
  return results.flatMap(({ findings }) => findings.map(({ code, message }) => `${code} ${message}`))
}

const MISSING_VLAN = /^SL9321 the switch port of worker-0 enp6s0 carries no VLAN 20 frame \(rhoso1\/internalapi\)/

interface FaultCase {
  readonly fault: FaultName
  /** Findings that name the port or machine at fault, and what pods see. */
  readonly found: readonly RegExp[]
  /** Absent: the small one. */
  readonly rehearsed?: Plan
}

const faultCases: readonly FaultCase[] = [
  {
    fault: 'bridged-clouds',
    found: [/^SL9323 VLANs 20 and 30 are connected \(rhoso1\/internalapi, rhoso2\/internalapi\)/, /^SL9101 /],
  },
  {
    fault: 'wrong-native-vlan',
    found: [/^SL9321 the switch port of worker-0 enp6s0 carries no untagged frame \(rhoso1\/ctlplane\)/, /^SL9102 /],
  },
  {
    fault: 'small-mtu',
    found: [/^SL9322 the switch port of worker-0 enp6s0 has an MTU of 1400; its networks need 1500/, /^SL9103 /],
  },
  {
    fault: 'foreign-dhcp',
    found: [
      /^SL9324 .* at switch port x0a is on VLAN 20 \(rhoso1\/internalapi\) and belongs to no node/,
      /^SL9138 192\.0\.2\.1 offers addresses by DHCP on rhoso1\/internalapi/,
    ],
  },
  {
    fault: 'address-in-use',
    found: [/^SL9324 .* at switch port x0a is on VLAN 20 \(rhoso1\/internalapi\) and belongs to no node/, /^SL9105 /],
  },
  {
    fault: 'swapped-nics',
    found: [
      /^SL9320 enp6s0 of worker-0 is connected to the switch of role storage, planned is main/,
      /^SL9320 enp7s0 of worker-0 is connected to the switch of role main, planned is storage/,
    ],
    rehearsed: widePlan(),
  },
  {
    fault: 'address-in-use',
    // The kernel of the pod tests IPv6 addresses itself and does not say which machine has one.
    found: [
      /^SL9324 .* at switch port x0a is on VLAN \d+ \(rhoso1\/storage\) and belongs to no node/,
      /^SL9105 the pod itself, [0-9a-f:]{17} answer for 172\.18\.0\.\d+ /,
      /^SL9105 the pod itself, another machine answer for fd00:/,
    ],
    rehearsed: widePlan(),
  },
]
const faults = faultCases.map(({ fault, found, rehearsed = plan }) => ({ fault, found, rehearsed }))

describe('a rehearsal', { timeout: 1_800_000 }, () => {
  beforeEach(requireRehearsal)

  const rounds = Array.from({ length: count({ test: 1, soak: 10 }) }, (_, index) => index + 1)

  it.each(rounds)('proves a healthy site, its holes closed: round %i', async () => {
    const rehearsal = await run()
    expect(messages(rehearsal)).toEqual([])
    expect(rehearsal.results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
    expect(new Set(rehearsal.results.map(({ id }) => id))).toEqual(
      new Set([
        'rehearse-policies',
        'rehearse-second-apply',
        'rehearse-attachments',
        'rehearse-announcements',
        'rehearse-multus',
        'rehearse-dns',
        'rehearse-vip-move',
        'probe-vips',
        'rehearse-switches',
        'rehearse-removal',
        'probe-reach',
        'probe-duplicates',
        'probe-isolation',
      ]),
    )
    // Every network on which pods have addresses asks for each cloud, so that no cell can be missing unseen.
    const asking = plan.clouds.flatMap(({ name, networks }) =>
      networks
        .filter(({ attach, subnets }) => attach !== 'none' && subnets.length > 0)
        .map((network) => `${name}/${network.name}`),
    )
    const cells = asking.flatMap((from) => plan.clouds.map(({ name }) => `${from} to ${name}`))
    expect(rehearsal.matrix.map(({ from, to }) => `${from} to ${to}`)).toEqual(expect.arrayContaining(cells))
    expect(rehearsal.matrix.filter((cell) => !isAsPlanned(cell))).toEqual([])
  })

  it('leaves no process when it is killed while nmstate works', async () => {
    const mark = randomUUID()
    const words = ['--import', 'tsx', 'src/cli/entry.ts', 'rehearse', '-f', 'examples/two-clouds.yaml', '--nodes', '1']
    const env = { ...process.env, [MARK]: mark }
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    await expect.poll(() => text, { timeout: 600_000 }).toContain('applying policies')
    expect(markedProcesses(mark).length).toBeGreaterThan(4)
    child.kill('SIGKILL')
    await expect.poll(() => markedProcesses(mark), { timeout: 60_000 }).toEqual([])
  })

  it('finds missing-vlan, keeps the machines, runs a script in one, and ends them', async () => {
    // One cloud is enough: its VLAN is missing.
    const request = { plan, nodes: 2, clouds: ['rhoso1'], fault: 'missing-vlan', keep: true } as const
    const rehearsal = await rehearse(request, keepingContext)
    try {
      expect(rehearsal.fault).toBe('the switch port of worker-0 enp6s0 lacks VLAN 20')
      expect(messages(rehearsal)).toContainEqual(expect.stringMatching(MISSING_VLAN))
      const kept = await findKept(keepingContext.paths)
      expect(kept).toMatchObject({ nodes: ['worker-0', 'worker-1'], pid: rehearsal.keptBy })
      if (!kept) return
      const { code, output } = await runInNode(
        { kept, node: 'worker-1' },
        'hostname; ip -br address show dev enp6s0.20',
      )
      expect(code).toBe(0)
      expect(output).toMatch(/^worker-1\nenp6s0\.20@enp6s0 .* 172\.17\.0\.\d+\/24/)
    } finally {
      await endKept(keepingContext.paths)
    }
  })

  it.for(faults)(
    'finds $fault on $rehearsed.site and names its place',
    async ({ fault, found, rehearsed }, context) => {
      requireSoak(context)
      const seen = messages(await run(fault, rehearsed))
      for (const message of found) expect(seen).toContainEqual(expect.stringMatching(message))
    },
  )

  it('sends jumbo frames and IPv6 over two NICs, and moves VIPs of both families', async (context) => {
    requireSoak(context)
    const rehearsal = await run(undefined, widePlan(['internalapi']))
    expect(messages(rehearsal)).toEqual([])
    expect(rehearsal.vipMoves?.some(({ address }) => address.includes(':'))).toBe(true)
    expect(rehearsal.matrix.filter((cell) => !isAsPlanned(cell))).toEqual([])
  })

  it('lets two BGP routers learn every VIP of two clouds from every node, over aggregated links', async (context) => {
    requireSoak(context)
    const request = { plan: bgpPlan(), nodes: 2, clouds: ['rhoso1', 'rhoso2'] }
    const rehearsal = await rehearse(request, sandboxContext())
    expect(messages(rehearsal)).toEqual([])
    expect(rehearsal.results).toContainEqual(
      expect.objectContaining({
        id: 'rehearse-announcements',
        verdict: 'passed',
        seen: expect.stringMatching(/^[1-9]/),
      }),
    )
    expect(rehearsal.results).toContainEqual(
      expect.objectContaining({
        id: 'rehearse-route-loss',
        verdict: 'passed',
        seen: expect.stringMatching(/^worker-1 /),
      }),
    )
    expect(rehearsal.matrix.filter((cell) => !isAsPlanned(cell))).toEqual([])
  })
})
