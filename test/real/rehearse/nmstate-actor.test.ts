/**
 * Compares the simulated nmstate with the real one on a virtual machine: generated desired states, one after the other, get
 * the same verdict from both.
 */
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { applyWithRetries } from '../../../src/rehearse/apply-policies.ts'
import { applyDesiredState, type NetworkState } from '../../../src/sandbox/actors/nmstate/enactments.ts'
import { findRefusal } from '../../../src/sandbox/actors/nmstate/find-refusal.ts'
import { requireSoak } from '../../counts.ts'
import { generatedState, NICS } from './generated-states.ts'
import { requireRehearsal } from './prepared.ts'
import { singleNodeTopology, startTopology } from './running-topology.ts'

const SEED = Number(process.env['STACKLOOM_SEED'] ?? 22)
const states = fc.sample(generatedState, { seed: SEED, numRuns: 200 })
/** Each test starts with new machines: two, because nmstate waits most of the time that a refused state takes. */
const MACHINES = 2
const STATES_OF_TEST = 50
const firsts = Array.from({ length: states.length / STATES_OF_TEST }, (_, index) => index * STATES_OF_TEST)

/** Applies states one after the other; returns those that the real nmstate and the simulated one judge differently. */
async function compare(desiredStates: readonly NetworkState[]): Promise<readonly string[]> {
  const { nodes, close } = await startTopology(singleNodeTopology(NICS), ['net.ipv4.ip_forward=1'])
  const differences: string[] = []
  const [node] = nodes
  if (!node) throw new Error('there is no node')
  let state: NetworkState = {}
  try {
    for (const desired of desiredStates) {
      const refusal = findRefusal(state, desired, { nics: NICS })
      const { code, error } = await applyWithRetries(node, desired)
      const verdict = code === 0 ? undefined : error.line
      if ((refusal === undefined) !== (verdict === undefined)) {
        const difference = `${JSON.stringify(desired)}\n  nmstate: ${verdict}\n  actor: ${refusal}`
        // At once: the other states take minutes.
        console.error(difference)
        differences.push(difference)
      }
      if (verdict === undefined) state = applyDesiredState(state, desired)
    }
  } finally {
    await close()
  }
  return differences
}

describe('the simulated nmstate', { timeout: 7_200_000 }, () => {
  beforeEach(requireSoak)
  beforeEach(requireRehearsal)

  it.each(firsts)('has the verdict of the real one for generated states, from number %i on', async (first) => {
    const share = STATES_OF_TEST / MACHINES
    const shares = Array.from({ length: MACHINES }, (_, index) => {
      const start = first + index * share
      return states.slice(start, start + share)
    })
    expect((await Promise.all(shares.map(compare))).flat()).toEqual([])
  })
})
