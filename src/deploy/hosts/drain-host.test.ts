import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { instantClock } from '../../../test/instant-clock.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import { type SimulatedCloud, simulatedInstance, startSimulatedCloud } from '../../../test/openstack-server.ts'
import { openComputeHost } from '../../openstack/compute-host.ts'
import { openSession } from '../../openstack/session.ts'
import type { StageEvent } from '../../run/events.ts'
import { drainHost } from './drain-host.ts'

const SOURCE = 'compute-0.ctlplane.example.com'
let cloud: SimulatedCloud
let events: StageEvent[]
beforeEach(async () => {
  cloud = await startSimulatedCloud([SOURCE, 'compute-00.ctlplane.example.com', 'compute-1.ctlplane.example.com'])
  events = []
})
afterEach(() => cloud.close())

async function drain(parallel = 2): Promise<void> {
  const api = openComputeHost(
    await openSession({
      authUrl: `${cloud.url}/v3`,
      user: 'admin',
      password: 's3cret',
      project: 'admin',
      interface: 'public',
      guard: () => undefined,
      signal: neverAborted(),
    }),
    'compute-0',
  )
  const service = await api.findService()
  if (!service) throw new Error('no service')
  expect(service.host).toBe(SOURCE)
  await api.setStatus(service, 'disabled', 'test')
  const context = { emit: (event: StageEvent) => void events.push(event), stop: neverAborted(), clock: instantClock() }
  await drainHost('compute-0', api, service, { parallel, instanceMs: 60_000, pollMs: 10 }, context)
}

const actions = (): readonly string[] => cloud.requests.filter((request) => request.startsWith('POST'))
const onSource = (): readonly string[] => cloud.instances.filter(({ host }) => host === SOURCE).map(({ name }) => name)

describe('drainHost', () => {
  it('moves running instances live, stopped ones cold, and confirms those', async () => {
    cloud.instances.push(
      simulatedInstance('a', SOURCE),
      simulatedInstance('b', SOURCE, { status: 'SHUTOFF' }),
      simulatedInstance('c', 'compute-1.ctlplane.example.com'),
    )
    await drain()
    expect(onSource()).toEqual([])
    expect(cloud.instances.map(({ status }) => status)).toEqual(['ACTIVE', 'SHUTOFF', 'ACTIVE'])
    expect(cloud.migrations.map(({ status }) => status).sort()).toEqual(['completed', 'confirmed'])
  })

  it('moves no more instances at a time than allowed', async () => {
    cloud.instances.push(...Array.from({ length: 7 }, (_, index) => simulatedInstance(`i${index}`, SOURCE)))
    let most = 0
    cloud.onRequest = () => {
      most = Math.max(most, cloud.instances.filter(({ status }) => status === 'MIGRATING').length)
    }
    await drain(3)
    expect(onSource()).toEqual([])
    expect(most).toBeLessThanOrEqual(3)
    expect(events.at(-1)).toMatchObject({ kind: 'progress', total: 7 })
  })

  it('waits for instances that move already, and confirms what an interrupted run left', async () => {
    cloud.instances.push(
      simulatedInstance('a', SOURCE, { status: 'MIGRATING', task: 'migrating', left: 4 }),
      simulatedInstance('b', 'compute-1.ctlplane.example.com', { status: 'VERIFY_RESIZE' }),
    )
    cloud.migrations.push({
      instance_uuid: 'id-b',
      source_compute: SOURCE,
      status: 'finished',
      migration_type: 'migration',
    })
    await drain()
    expect(actions()).toEqual(['POST /compute/v2.1/servers/id-b/action'])
    expect(cloud.instances.map(({ status }) => status)).toEqual(['ACTIVE', 'SHUTOFF'])
  })

  it('does not decide about a resize that waits for its owner', async () => {
    cloud.instances.push(simulatedInstance('b', 'compute-1.ctlplane.example.com', { status: 'VERIFY_RESIZE' }))
    cloud.migrations.push({
      instance_uuid: 'id-b',
      source_compute: SOURCE,
      status: 'finished',
      migration_type: 'resize',
    })
    await expect(drain()).rejects.toMatchObject({ findings: [{ code: 'SL7204' }] })
    expect(actions()).toEqual([])
  })

  it('moves what it can, then names each instance that stays and why', async () => {
    cloud.instances.push(
      simulatedInstance('a', SOURCE, { fails: 'later' }),
      simulatedInstance('b', SOURCE, { fails: 'refused' }),
      simulatedInstance('c', SOURCE, { status: 'ERROR' }),
      simulatedInstance('d', SOURCE),
    )
    await expect(drain()).rejects.toMatchObject({ findings: [{ code: 'SL7204' }] })
    const error: unknown = await drain().catch((thrown: unknown) => thrown)
    const { message } = (error as { readonly findings: readonly [{ readonly message: string }] }).findings[0]
    for (const part of ['migration of a failed', 'b: Nova answered 409', 'c is ERROR']) expect(message).toContain(part)
    expect(onSource()).toEqual(['a', 'b', 'c'])
  })
})
