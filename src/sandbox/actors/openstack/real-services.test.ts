import { describe, expect, it } from 'vitest'
import { addServiceConditions, good } from './real-services.ts'

const exposed = [{ type: 'Ready', ...good }] as const

describe('addServiceConditions', () => {
  it('is ready only when every service has answered', () => {
    const starting = addServiceConditions(exposed, { kind: 'starting', doing: 'creating the database of keystone' })
    expect(starting[0]).toMatchObject({ status: 'False', reason: 'Requested' })
    expect(starting[0].message).toContain('creating the database of keystone')
    const running = addServiceConditions(exposed, { kind: 'running', answers: [{ service: 'keystone' }] })
    expect(running.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Ready=True',
      'OpenStackControlPlaneKeystoneAPIReady=True',
    ])
  })

  it('reports a service that fails later with what it answers', () => {
    const answers = [{ service: 'keystone' }, { service: 'nova', problem: '503 Service Unavailable' }]
    const [ready, ...others] = addServiceConditions(exposed, { kind: 'running', answers })
    expect(ready).toMatchObject({ status: 'False', severity: 'Error' })
    expect(ready.message).toBe('nova does not work: it answers 503 Service Unavailable')
    expect(others.find(({ status }) => status === 'False')?.type).toBe('OpenStackControlPlaneNovaReady')
  })

  it('reports why a start failed', () => {
    const [ready] = addServiceConditions(exposed, {
      kind: 'failed',
      doing: 'starting the database',
      reason: 'no space',
    })
    expect(ready).toMatchObject({
      reason: 'Error',
      message: 'OpenStackControlPlane error occurred starting the database: no space',
    })
  })
})
