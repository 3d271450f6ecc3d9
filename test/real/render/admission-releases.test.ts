/**
 * Judges the update of deployed clouds from one release to the next by the operators' own admission.
 *
 * The modules are older than both releases. The cluster therefore has their CRDs, and drops the fields of later releases:
 * an object with those would be validated without the defaults that validation relies on, and that ends in a panic.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { asRecord, isRecord, type JsonRecord } from '../../../src/api/json.ts'
import { type KubeObject, objectIdentity } from '../../../src/api/object.ts'
import { getField, getList, getString } from '../../../src/api/raw-object.ts'
import { formatGroupKind } from '../../../src/api/snapshot.ts'
import { mapConcurrently } from '../../../src/async/map-concurrently.ts'
import { objectRef } from '../../../src/deploy/object-changes.ts'
import { PINNED_RELEASE } from '../../../src/sandbox/crds/release-folders.ts'
import { useCluster } from '../../cluster.ts'
import { eraOfExample, exampleSites } from '../../examples.ts'
import { useAdmission } from './openstack-admission.ts'
import { editService, type Rendered, renderEdited, type SiteFile } from './site-edits.ts'

const examples = exampleSites.filter((name) => eraOfExample(name) === 'today')
const isJudged = ({ apiVersion }: KubeObject): boolean =>
  /^(?:core|dataplane|network|rabbitmq)\.openstack\.org\//.test(apiVersion)

/** A cell's message queue under its name in the modules: without it every cell would have the default. */
function withOldNames(object: KubeObject): KubeObject {
  const copy = structuredClone(object)
  for (const cell of Object.values(asRecord(getField(copy, 'spec', 'nova', 'template', 'cellTemplates')))) {
    const cluster = getString(cell, 'messagingBus', 'cluster')
    if (cluster !== undefined) Object.assign(cell as object, { cellMessageBusInstance: cluster })
  }
  return copy
}

/** The value without fields that the schema of a CRD does not have. */
function prune(value: unknown, schema: JsonRecord): unknown {
  if (Array.isArray(value)) return value.map((item) => prune(item, asRecord(schema['items'])))
  if (!isRecord(value) || schema['x-kubernetes-preserve-unknown-fields'] === true) return value
  const { properties, additionalProperties } = schema
  const fields = Object.entries(value).flatMap(([key, item]): readonly (readonly [string, unknown])[] => {
    const known = asRecord(properties)[key] ?? additionalProperties
    if (known === true || key === 'metadata') return [[key, item]]
    return isRecord(known) ? [[key, prune(item, known)]] : []
  })
  return Object.fromEntries(fields)
}

describe(`an update from 18.0-fr4 to 18.0-fr6 and the operators' own admission (modules ${PINNED_RELEASE})`, () => {
  const cluster = useCluster({ crds: PINNED_RELEASE })
  useAdmission(cluster)

  const schemas = new Map<string, JsonRecord>()
  beforeAll(async () => {
    const crds = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }
    for (const crd of (await cluster.client.list(crds)).items) {
      const kind = formatGroupKind({
        apiVersion: `${getString(crd, 'spec', 'group')}/v1`,
        kind: getString(crd, 'spec', 'names', 'kind') ?? '',
      })
      schemas.set(kind, asRecord(getField(getList(crd, 'spec', 'versions')[0], 'schema', 'openAPIV3Schema')))
    }
  })
  /** The objects of kinds that the modules have, with the fields that they know. */
  const withKnownFields = (objects: readonly KubeObject[]): readonly KubeObject[] =>
    objects.filter(isJudged).flatMap((object) => {
      const schema = schemas.get(formatGroupKind(object))
      return schema ? [prune(withOldNames(object), schema) as KubeObject] : []
    })
  const deploy = async ({ objects }: Rendered): Promise<readonly KubeObject[]> => {
    for (const object of objects.filter(({ kind }) => kind === 'Namespace'))
      await cluster.client.apply(object, { fieldManager: 'stackloom' })
    return mapConcurrently(withKnownFields(objects), 8, (object) => cluster.client.create(object))
  }
  /** Refusals of the update; objects that only one of the releases has are not updated. */
  const judge = async (deployed: readonly KubeObject[], { objects, errors }: Rendered): Promise<readonly string[]> => {
    const stored = new Map(deployed.map((object) => [objectIdentity(object), object]))
    const answers = await mapConcurrently(withKnownFields(objects), 8, async (object) => {
      const { resourceVersion } = stored.get(objectIdentity(object))?.metadata ?? {}
      if (resourceVersion === undefined) return []
      const after = { ...object, metadata: { ...object.metadata, resourceVersion } }
      const refused = (error: unknown): readonly string[] => [error instanceof Error ? error.message : String(error)]
      return cluster.client.update(after, { dryRun: true }).then(() => [], refused)
    })
    return [...errors, ...answers.flat()]
  }
  const withDeployed = async <T>(
    example: string,
    check: (first: Rendered, deployed: readonly KubeObject[]) => Promise<T>,
  ): Promise<T> => {
    const first = renderEdited(example, '18.0-fr4')
    const deployed = await deploy(first)
    try {
      return await check(first, deployed)
    } finally {
      await mapConcurrently(deployed, 8, (object) => cluster.client.delete(objectRef(object)))
    }
  }

  it.each(examples)(
    'is accepted: %s',
    (example) =>
      withDeployed(example, async ({ lock, objects }, deployed) => {
        const after = renderEdited(example, '18.0-fr6', undefined, lock)
        expect(after.objects).not.toEqual(objects)
        expect(deployed.map(({ kind }) => kind)).toContain('OpenStackControlPlane')
        expect(await judge(deployed, after)).toEqual([])
      }),
    300_000,
  )

  it.each<[string, (site: SiteFile) => void, RegExp]>([
    [
      'heat gets another database',
      editService('heat', { template: { databaseInstance: 'openstack-cell1' } }),
      /Changing the DatabaseInstance/,
    ],
    [
      'swift loses storage pods',
      editService('swift', { template: { swiftStorage: { replicas: 0 } } }),
      /swiftStorage.replicas.*does not support scale-in/,
    ],
  ])(
    'is refused with a change that the operators do not allow: %s',
    (_, edit, expected) =>
      withDeployed('every-service', async ({ lock }, deployed) => {
        const after = renderEdited('every-service', '18.0-fr6', edit, lock)
        expect((await judge(deployed, after)).join('\n')).toMatch(expected)
      }),
    300_000,
  )
})
