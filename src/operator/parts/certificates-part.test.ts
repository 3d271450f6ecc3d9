import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { certificatesPart, createCertificateObserver, registerCertificateMetrics } from './certificates-part.ts'

const DAY = 86_400_000
const now = Date.parse('2026-01-01T00:00:00Z')
const certificate = (name: string, daysLeft: number): KubeObject => ({
  apiVersion: 'cert-manager.io/v1',
  kind: 'Certificate',
  metadata: { name, namespace: 'openstack' },
  status: {
    notAfter: new Date(now + daysLeft * DAY).toISOString(),
    renewalTime: new Date(now + (daysLeft - 40) * DAY).toISOString(),
  },
})

it('stackloom_certificates counts certificates by verdict, and has every verdict of a cloud', async () => {
  const registry = new Registry()
  const objects = [certificate('a', 2), certificate('b', 100), certificate('c', 90), certificate('d', -1)]
  registerCertificateMetrics(
    registry,
    () => objects,
    () => now,
  )
  const text = await registry.metrics()
  for (const [verdict, count] of [
    ['expired', 1],
    ['critical', 1],
    ['soon', 0],
    ['due', 0],
    ['valid', 2],
  ])
    expect(text).toContain(`stackloom_certificates{cloud="openstack",verdict="${verdict}"} ${count}`)
})

it('records one Event when a certificate is not renewed in time, and another when it has ended', async () => {
  const recorded: EventRecord[] = []
  let live: KubeObject | undefined = certificate('a', 2)
  const observer = createCertificateObserver(
    () => live,
    (event) => void recorded.push(event),
  )
  const reconcile = (time: number) =>
    observer.reconcile({ name: 'a', namespace: 'openstack' }, { clock: { now: () => time } } as never)
  await reconcile(now)
  await reconcile(now)
  expect(recorded).toMatchObject([{ reason: 'CertificateEnds', note: expect.stringContaining('ends 2026-01-03') }])
  await reconcile(now + 3 * DAY)
  expect(recorded[1]?.note).toContain('ended 2026-01-03')
  live = certificate('a', 100)
  await reconcile(now + 3 * DAY)
  expect(recorded).toHaveLength(2)
  live = undefined
  expect(await reconcile(now)).toBeUndefined()
})

it('the part may only read, and no Secrets', () => {
  expect(certificatesPart.rules).toMatchObject([{ resources: ['certificates'], verbs: ['get', 'list', 'watch'] }])
})
