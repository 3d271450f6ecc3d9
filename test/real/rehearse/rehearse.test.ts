/**
 * Rehearses two clouds on two virtual machines with real kernels: real nmstate, real CNI plugins, a switch with the VLANs
 * of the plan. A healthy site has no finding; a VLAN that one port lacks is found with the port.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FaultName } from '../../../src/rehearse/faults.ts'
import { type Rehearsal, rehearse } from '../../../src/rehearse/rehearse.ts'
import { isAsPlanned } from '../../../src/verify/probe/reach-matrix.ts'
import { count } from '../../counts.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { MARK, markedProcesses } from './marked-processes.ts'
import { requireRehearsal } from './prepared.ts'
import { smallPlan } from './small-plan.ts'

const plan = smallPlan()

function run(fault?: FaultName): Promise<Rehearsal> {
  return rehearse({ plan, nodes: 2, clouds: [], fault }, sandboxContext())
}

function messages({ results }: Rehearsal): readonly string[] {
  return results.flatMap(({ findings }) => findings.map(({ code, message }) => `${code} ${message}`))
}

/** Findings of each fault that name the port or machine at fault. */
const faults: readonly { readonly fault: FaultName; readonly found: RegExp }[] = [
  {
    fault: 'missing-vlan',
    found: /^SL9321 the switch port of worker-0 enp6s0 carries no VLAN 20 frame \(rhoso1\/internalapi\)/,
  },
  {
    fault: 'bridged-clouds',
    found: /^SL9323 VLANs 20 and 30 are connected \(rhoso1\/internalapi, rhoso2\/internalapi\)/,
  },
  {
    fault: 'wrong-native-vlan',
    found: /^SL9321 the switch port of worker-0 enp6s0 carries no untagged frame \(rhoso1\/ctlplane\)/,
  },
  {
    fault: 'small-mtu',
    found: /^SL9322 the switch port of worker-0 enp6s0 has an MTU of 1400; its networks need 1500/,
  },
  { fault: 'address-in-use', found: /^SL9324 .* is on VLAN 20 \(rhoso1\/internalapi\) and belongs to no node/ },
]

describe('a rehearsal', { timeout: 1_800_000 }, () => {
  beforeEach(requireRehearsal)

  it('proves a healthy site: policies, second apply, attachments, reach, isolation and removal', async () => {
    for (let round = 0; round < count({ test: 1, soak: 10 }); round += 1) {
      const rehearsal = await run()
      expect(messages(rehearsal)).toEqual([])
      expect(rehearsal.results.filter(({ verdict }) => verdict !== 'passed')).toEqual([])
      expect(new Set(rehearsal.results.map(({ id }) => id))).toEqual(
        new Set([
          'rehearse-policies',
          'rehearse-second-apply',
          'rehearse-attachments',
          'rehearse-switches',
          'rehearse-removal',
          'probe-reach',
          'probe-duplicates',
          'probe-isolation',
        ]),
      )
      expect(rehearsal.matrix.length).toBeGreaterThan(4)
      expect(rehearsal.matrix.filter((cell) => !isAsPlanned(cell))).toEqual([])
    }
  })

  it('leaves no process when it is killed while nmstate works', async () => {
    const mark = randomUUID()
    const words = ['--import', 'tsx', 'src/cli/entry.ts', 'rehearse', '-f', 'examples/two-clouds.yaml']
    const env = { ...process.env, [MARK]: mark }
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    await expect.poll(() => text, { timeout: 600_000 }).toContain('applying policies')
    expect(markedProcesses(mark).length).toBeGreaterThan(5)
    child.kill('SIGKILL')
    await expect.poll(() => markedProcesses(mark), { timeout: 60_000 }).toEqual([])
  })

  it.each(faults.slice(0, count({ test: 1, soak: faults.length })))(
    'finds $fault and names its place',
    async ({ fault, found }) => {
      expect(messages(await run(fault))).toContainEqual(expect.stringMatching(found))
    },
  )
})
