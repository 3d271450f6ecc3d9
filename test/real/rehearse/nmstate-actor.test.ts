/**
 * Compares the simulated nmstate with the real one on a virtual machine: generated desired states, one after the other, get
 * the same verdict from both.
 */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { explainNmstateError } from '../../../src/rehearse/nmstate-errors.ts'
import { applyScript } from '../../../src/rehearse/node-scripts.ts'
import { applyDesiredState, type NetworkState } from '../../../src/sandbox/actors/nmstate/enactments.ts'
import { findRefusal } from '../../../src/sandbox/actors/nmstate/find-refusal.ts'
import { requireSoak } from '../../counts.ts'
import { generatedState, NICS } from './generated-states.ts'
import { requireRehearsal } from './prepared.ts'
import { singleNodeTopology, startTopology } from './running-topology.ts'

const SEED = Number(process.env['STACKLOOM_SEED'] ?? 22)
const states = fc.sample(generatedState, { seed: SEED, numRuns: 200 })

describe('the simulated nmstate', { timeout: 7_200_000 }, () => {
  beforeEach(requireSoak)
  beforeEach(requireRehearsal)

  it('has the verdict of the real one for generated states', async () => {
    const { nodes, close } = await startTopology(singleNodeTopology(NICS), ['net.ipv4.ip_forward=1'])
    const [node] = nodes
    const differences: string[] = []
    let state: NetworkState = {}
    try {
      for (const [index, desired] of states.entries()) {
        const refusal = findRefusal(state, desired, { nics: NICS })
        const { code, output } = (await node?.agent.run(applyScript(desired))) ?? { code: 1, output: 'no node' }
        const verdict = code === 0 ? undefined : explainNmstateError(output).line
        if ((refusal === undefined) !== (verdict === undefined)) {
          differences.push(`${index} ${JSON.stringify(desired)}\n  nmstate: ${verdict}\n  actor: ${refusal}`)
        }
        if (verdict === undefined) state = applyDesiredState(state, desired)
      }
    } finally {
      await close()
    }
    expect(differences).toEqual([])
  })
})
