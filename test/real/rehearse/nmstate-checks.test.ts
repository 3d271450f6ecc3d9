/**
 * Compares the simulated nmstate with the checks that the real one makes before it touches a node: `nmstatectl gc`, which
 * translates a desired state and needs no node. What only a node refuses is compared by `nmstate-actor.test.ts`.
 */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { explainNmstateError } from '../../../src/rehearse/nmstate-errors.ts'
import type { NetworkState } from '../../../src/sandbox/actors/nmstate/enactments.ts'
import { findRefusal } from '../../../src/sandbox/actors/nmstate/find-refusal.ts'
import { hasNmstatectl, nmstatectlPath } from '../../../tools/nmstatectl.ts'
import { count } from '../../counts.ts'
import { generatedState, NICS } from './generated-states.ts'

const SEED = Number(process.env['STACKLOOM_SEED'] ?? 22)

/** Refused by the kernel or by NetworkManager, or because of what the node has. */
const NODE_ALONE = [
  /UnknownDevice/,
  /vlan\.id: .*out of range/,
  /File exists/,
  /VerificationError/,
  /is longer than 15 characters/,
  /is holding unknown port/,
]

/** Without a node, `gc` knows only the interfaces of the state. */
function withNics(state: NetworkState): NetworkState {
  const named = new Set(state.interfaces?.map(({ name }) => name))
  const missing = NICS.filter((name) => !named.has(name)).map((name) => ({ name, type: 'ethernet', state: 'up' }))
  return { ...state, interfaces: [...(state.interfaces ?? []), ...missing] }
}

function checkState(state: NetworkState): string | undefined {
  const { status, stderr } = spawnSync(nmstatectlPath(), ['gc', '-'], {
    input: JSON.stringify(state),
    encoding: 'utf8',
  })
  return status === 0 ? undefined : explainNmstateError(stderr).line
}

describe('the simulated nmstate', { timeout: 600_000 }, () => {
  beforeEach((context) => {
    if (!hasNmstatectl()) context.skip('nmstatectl is not built; `make setup` builds it with cargo')
  })

  it('refuses the generated states that the checks of the real one refuse', () => {
    const states = fc.sample(generatedState, { seed: SEED, numRuns: count({ test: 200, soak: 5000 }) }).map(withNics)
    const refused = new Set<string>()
    for (const state of states) {
      const refusal = findRefusal({}, state, { nics: NICS })
      if (refusal !== undefined && NODE_ALONE.some((pattern) => pattern.test(refusal))) continue
      const verdict = checkState(state)
      if (verdict !== undefined) refused.add(verdict.replaceAll(/\d/g, ''))
      expect(refusal === undefined, `${JSON.stringify(state)}\n  nmstate: ${verdict}\n  actor: ${refusal}`).toBe(
        verdict === undefined,
      )
    }
    // The generator makes mistakes of many kinds.
    expect(refused.size).toBeGreaterThan(5)
  })
})
