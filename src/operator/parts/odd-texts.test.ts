/** Observes objects with texts that their CRDs accept and programs misread, one at a time: no metric and no Event is lost. */
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { exampleDump, textMutations } from '../../../test/dump-mutations.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import { type GroupVersionKind, type KubeObject, objectKey } from '../../api/object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { LAST_BACKUP } from '../../backup/last-backup.ts'
import { certificateKind } from '../../certificates/read-certificates.ts'
import { systemClock } from '../../clock/clock.ts'
import { versionKind } from '../../hosts/data-plane.ts'
import type { Controller, ReconcileContext } from '../../kube/controller.ts'
import { addressesPart } from './addresses-part.ts'
import { backupsPart } from './backups-part.ts'
import { certificatesPart } from './certificates-part.ts'
import { hostsPart } from './hosts-part.ts'
import type { PartContext } from './part.ts'

const parts = [addressesPart, backupsPart, certificatesPart, hostsPart]
const kinds = parts.flatMap((part) => [...part.kinds, ...(part.optionalKinds ?? [])]).map(formatGroupKind)

const ODD_TEXTS = [
  '',
  '__proto__',
  'null',
  '5',
  '[null]',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  '{"ipam": 5}',
  '{"plugins": [null, 5]}',
  '{"ipam": {"type": "whereabouts", "ipRanges": [null, {"range": 5}]}}',
  '{"ipam": {"type": "whereabouts", "range": "10.0.0.0/99", "range_start": "x"}}',
  '1e9',
  '-1',
  '999999999999999999999999',
  '10.0.0.1/99999999999',
  '10.0.0.9-10.0.0.1',
  '::-ffff::',
  '::/0',
  'x +275760-09-13T00:00:00.000Z',
]

function observedObjects(): readonly KubeObject[] {
  const metadata = { name: 'a', namespace: 'openstack' }
  const objects = exampleDump().filter((object) => kinds.includes(formatGroupKind(object)))
  // A few of each kind: the others have the same fields.
  const few = kinds.flatMap((kind) => objects.filter((object) => formatGroupKind(object) === kind).slice(0, 2))
  return [
    ...few.map(({ spec, ...object }) =>
      object.kind === 'OpenStackControlPlane'
        ? { ...object, metadata: { ...object.metadata, annotations: { [LAST_BACKUP]: 'a 2026-01-01T00:00:00Z' } } }
        : { ...object, spec },
    ),
    {
      ...certificateKind,
      metadata,
      spec: { secretName: 'a', duration: '24h', renewBefore: '1h' },
      status: { notAfter: '2026-01-02T00:00:00Z', renewalTime: '2026-01-01T00:00:00Z' },
    },
    {
      ...versionKind,
      metadata,
      spec: { targetVersion: '1', customContainerImages: { novaComputeImage: 'a' } },
      status: { deployedVersion: '1', containerImages: { novaComputeImage: 'a' } },
    },
  ]
}

/** What Prometheus and the observers of all parts get of these objects. */
async function observe(objects: readonly KubeObject[]): Promise<string> {
  const registry = new Registry()
  const controllers: Controller[] = []
  const cache = ({ kind }: { readonly kind: GroupVersionKind }) => {
    const items = objects.filter((object) => formatGroupKind(object) === formatGroupKind(kind))
    return {
      list: (namespace?: string) => items.filter(({ metadata }) => [undefined, metadata.namespace].includes(namespace)),
      get: (key: string) => items.find(({ metadata }) => objectKey(metadata) === key),
      hasSynced: () => true,
    }
  }
  const runtime = { cache, add: (controller: Controller) => void controllers.push(controller) }
  const context = { runtime, metrics: { registry }, record: () => {}, has: () => true }
  for (const part of parts) part.observe?.start(context as unknown as PartContext)
  const reconcile = { clock: systemClock, signal: neverAborted() } as unknown as ReconcileContext
  for (const controller of controllers) {
    for (const { metadata } of objects) await controller.reconcile(metadata, reconcile)
  }
  return registry.metrics()
}

it('every part that observes serves its metrics and reconciles, whatever text an object has', async () => {
  const objects = observedObjects()
  const figures = ['stackloom_addresses{', 'stackloom_backup_timestamp', 'stackloom_certificates{', 'stackloom_hosts{']
  const every = count({ test: 20, soak: 1 })
  let index = 0
  for (const text of ODD_TEXTS) {
    for (const { field, objects: changed } of textMutations(objects, text)) {
      index += 1
      if (index % every !== 0) continue
      const served = await observe(changed).catch((error: unknown) => String((error as Error).stack))
      for (const figure of figures) expect(served, `${field} = ${text.slice(0, 80)}`).toContain(figure)
    }
  }
  // Otherwise nothing was tried.
  expect(index).toBeGreaterThan(2_000)
}, 1_800_000)
