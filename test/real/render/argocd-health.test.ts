/** Runs the health scripts for Argo CD with a real Lua interpreter. */
import { spawnSync } from 'node:child_process'
import { beforeEach, describe, expect, it } from 'vitest'
import { argocdHealth } from '../../../src/render/gitops/tools.ts'

const LUA = 'lua5.4'
const scripts = argocdHealth()['data'] as Readonly<Record<string, string>>

/** A JSON value as a Lua expression. */
function toLua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toLua).join(', ')}}`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, child]) => `[${JSON.stringify(key)}] = ${toLua(child)}`)
    .join(', ')}}`
}

function health(kind: string, object: object): string {
  const script = scripts[`resource.customizations.health.${kind}`] ?? ''
  const program = `local obj = ${toLua(object)}\nlocal health = (function()\n${script}\nend)()\nprint(health.status .. ": " .. (health.message or ""))`
  const { stdout, stderr, status } = spawnSync(LUA, ['-'], { input: program, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : stderr
}

const ready = { type: 'Ready', status: 'True', message: 'Setup complete' }
const metadata = { generation: 2 }
const controlPlane = 'core.openstack.org_OpenStackControlPlane'

const hasLua = spawnSync(LUA, ['-v']).status === 0

describe('health of objects in Argo CD', () => {
  beforeEach((ctx) => {
    if (!hasLua) ctx.skip(`${LUA} is not installed`)
  })

  it.each([
    ['without a status', controlPlane, { metadata }, 'Progressing'],
    [
      'of an earlier generation',
      controlPlane,
      { metadata, status: { observedGeneration: 1, conditions: [ready] } },
      'Progressing',
    ],
    [
      'that is ready',
      controlPlane,
      { metadata, status: { observedGeneration: 2, conditions: [ready] } },
      'Healthy: Setup complete',
    ],
    [
      'with a condition of severity Error',
      controlPlane,
      {
        metadata,
        status: {
          observedGeneration: 2,
          conditions: [
            { type: 'Ready', status: 'False', severity: 'Info', message: 'waits' },
            { type: 'NovaReady', status: 'False', severity: 'Error', message: 'no password' },
          ],
        },
      },
      'Degraded: NovaReady: no password',
    ],
    [
      'with a condition of severity Warning',
      controlPlane,
      { metadata, status: { conditions: [{ type: 'Ready', status: 'False', severity: 'Warning', message: 'waits' }] } },
      'Progressing: waits',
    ],
    [
      'of nmstate that is degraded',
      'nmstate.io_NodeNetworkConfigurationPolicy',
      { metadata, status: { conditions: [{ type: 'Degraded', status: 'True', message: 'rolled back' }] } },
      'Degraded: rolled back',
    ],
    [
      'of OLM at its latest version',
      'operators.coreos.com_Subscription',
      { metadata, status: { state: 'AtLatestKnown' } },
      'Healthy: AtLatestKnown',
    ],
  ])('an object %s', (_, kind, object, expected) => {
    const result = health(kind, object)
    expect(result.startsWith(expected), result).toBe(true)
  })

  it('is a valid script for every kind', () => {
    for (const kind of Object.keys(scripts)) {
      const name = kind.replace('resource.customizations.health.', '')
      expect(health(name, { metadata })).toMatch(/^Progressing: /)
    }
  })
})
