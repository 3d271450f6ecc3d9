import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import { isCollected } from '../../../test/garbage.ts'
import { createNodeSettingsCache } from './node-settings.ts'

describe('what is kept of the settings of nodes', () => {
  const node = (name: string, ansibleVars: string) => {
    const made = dataPlaneNode(name, { node: { ansibleVars } })
    return { ...made, metadata: { ...made.metadata, uid: `uid-${name}`, generation: 1 } }
  }

  it('is the same value until the node changes', () => {
    const cache = createNodeSettingsCache({ get: () => undefined })
    const role = dataPlaneRole('r')
    expect(cache.settings(node('a', 'x: 1'), role).effective).toBe(cache.settings(node('a', 'x: 1'), role).effective)
  })

  it('is freed for a node that was deleted', async () => {
    const cache = createNodeSettingsCache({ get: () => undefined })
    const deleted = node('a', 'x: 1')
    const reference = new WeakRef(cache.settings(deleted, undefined).effective)
    cache.forget(deleted)
    expect(await isCollected(reference)).toBe(true)
  })

  it('does not grow with the changes of a tenant', async () => {
    const cache = createNodeSettingsCache({ get: () => undefined })
    const text = (number: number): string => `x${number}: {y: ${'y'.repeat(100_000)}}\n`
    // A value, because the variables of a node are a copy of what is kept of its text.
    const reference = new WeakRef(cache.settings(node('a', text(0)), undefined).effective.vars['x0'] as object)
    for (let number = 1; number < 200; number += 1) {
      const changed = node('a', text(number))
      cache.settings({ ...changed, metadata: { ...changed.metadata, generation: number + 1 } }, undefined)
    }
    expect(await isCollected(reference)).toBe(true)
  })

  it('has no names of services that do not exist', async () => {
    const cache = createNodeSettingsCache({ get: () => undefined })
    const reference = new WeakRef(cache.step('ns', 'no-such-service'))
    expect(cache.step('ns', 'run-os')).toBe(cache.step('other', 'run-os'))
    expect(await isCollected(reference)).toBe(true)
  })
})
