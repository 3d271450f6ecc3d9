import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { type Installation, renderManifests } from './manifests.ts'
import { partsByName } from './part-selection.ts'
import { parts } from './parts.ts'

const installation: Installation = { namespace: 'home', image: 'image', replicas: 2 }

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly startupProbe: { readonly periodSeconds: number; readonly failureThreshold: number }
}

function renderContainer(changes: Partial<Installation>): Container | undefined {
  const given = { ...installation, ...changes }
  const deployment = renderManifests(partsByName(parts, given.parts), given).find(({ kind }) => kind === 'Deployment')
  const { template } = (deployment as KubeObject)['spec'] as {
    readonly template: { readonly spec: { readonly containers: readonly Container[] } }
  }
  return template.spec.containers[0]
}

function runArguments(changes: Partial<Installation>): readonly string[] {
  return renderContainer(changes)?.args ?? []
}

describe('the Deployment of the operator', () => {
  it('runs the parts that were selected by name, because no other part has permissions and webhooks', () => {
    expect(runArguments({ parts: ['ipam', 'dataplane'] }).join(' ')).toContain('--parts ipam,dataplane')
  })

  it('starts Node with options that it accepts', () => {
    const env = Object.fromEntries(renderContainer({})?.env.map(({ name, value }) => [name, value]) ?? [])
    expect(() => execFileSync(process.execPath, ['-e', ''], { env })).not.toThrow()
    expect(env).toHaveProperty('NODE_OPTIONS')
  })

  it('serves the console on request, with a Service for the proxy and no right of its own', () => {
    const objects = (console: boolean) => renderManifests(parts, { ...installation, console })
    expect(runArguments({})).not.toContain('--console')
    expect(runArguments({ console: true })).toContain('--console')
    const added = objects(true).filter(({ metadata }) => metadata.name === 'stackloom-console')
    expect(added.map(({ kind }) => kind)).toEqual(['Service', 'NetworkPolicy'])
    expect(added[0]?.['spec']).toMatchObject({ ports: [{ port: 443, targetPort: 'console-proxy' }] })
    const rights = (all: readonly KubeObject[]) => all.filter(({ kind }) => kind.endsWith('Role'))
    expect(rights(objects(true))).toEqual(rights(objects(false)))
  })

  it('has minutes to start on a busy node before its liveness is asked', () => {
    const { startupProbe } = renderContainer({}) ?? {}
    const seconds = (startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0)
    expect(seconds).toBeGreaterThanOrEqual(240)
  })

  it('runs all parts that the cluster supports unless some are selected', () => {
    expect(runArguments({})).not.toContain('--parts')
  })
})
