/** Reads every object of an API server, and compares what two equal runs must have in common. */

import { asRecord, isRecord } from '../../../src/api/json.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Connection } from '../../../src/kube/connect.ts'

/** Resources that are written periodically, whatever a run does. */
const CHANGING_RESOURCES = ['leases', 'events', 'nodes']

/** Every object of the server by its path, as soon as two lists are equal: then the operators are idle. */
export async function settledObjects({
  transport,
}: Pick<Connection, 'transport'>): Promise<ReadonlyMap<string, KubeObject>> {
  const ask = (path: string) =>
    transport.json({ method: 'GET', path, idempotent: true, verb: 'read', subject: path }) as Promise<ApiResponse>
  const { groups = [] } = await ask('/apis')
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)]
  const paths: string[] = []
  for (const root of roots) {
    const { resources = [] } = await ask(root)
    const listed = resources.filter(({ name, verbs }) => verbs.includes('list') && !CHANGING_RESOURCES.includes(name))
    paths.push(...listed.map(({ name }) => `${root}/${name}`))
  }
  const look = async (): Promise<ReadonlyMap<string, KubeObject>> => {
    const found = new Map<string, KubeObject>()
    for (const path of paths)
      for (const item of (await ask(path)).items ?? [])
        found.set(`${path} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item)
    return found
  }
  for (let before = await look(); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const now = await look()
    if (JSON.stringify(resourceVersions(now)) === JSON.stringify(resourceVersions(before))) return now
    before = now
  }
}

/** Equal results mean that nothing was written in between. */
export function resourceVersions(objects: ReadonlyMap<string, KubeObject>): Readonly<Record<string, string>> {
  return Object.fromEntries([...objects].map(([path, { metadata }]) => [path, metadata.resourceVersion ?? '']))
}

/**
 * What is equal after equal runs: everything except what the server generates (identities, versions, times, cluster
 * addresses and ports), random names, and the values of generated secrets.
 */
export function comparableObjects(
  objects: ReadonlyMap<string, KubeObject>,
): Readonly<Record<string, ComparableObject>> {
  const alike = [...objects]
    .filter(([path]) => !MADE_BY_CLUSTER.some((kind) => path.includes(kind)))
    .map(([path, object]): readonly [string, ComparableObject] => {
      const { name, generateName } = object.metadata
      if (typeof generateName !== 'string') return [path, comparable(object)]
      const renamed = { ...object, metadata: { ...object.metadata, name: generateName } }
      return [path.slice(0, path.length - name.length) + generateName, comparable(renamed)]
    })
  const counted = new Map<string, number>()
  return Object.fromEntries(
    alike
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      .map(([path, object]) => {
        // Pods of one set have one name here, so they are numbered.
        const many = counted.get(path) ?? 0
        counted.set(path, many + 1)
        return [many === 0 ? path : `${path} ${many}`, object]
      }),
  )
}

/** An object without what differs from run to run, and the managers of its fields. */
interface ComparableObject {
  readonly managers: readonly string[]
  readonly metadata: unknown
  readonly [field: string]: unknown
}

/** Without managers, because they remember fields that were applied once and removed later. */
export function withoutManagers(
  objects: Readonly<Record<string, ComparableObject>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(objects).map(([path, { managers: _hands, ...body }]) => [path, body]))
}

/** Derived by the cluster from objects that are compared themselves. */
const MADE_BY_CLUSTER = ['/endpoints ', '/endpointslices ', '/ipaddresses ']

function comparable(object: KubeObject): ComparableObject {
  const { metadata, ...rest } = object
  const { managedFields = [], ...known } = metadata
  const hands = managedFields.map(({ manager, operation, subresource, fieldsV1 }) =>
    JSON.stringify([manager, operation, subresource ?? '', fieldsV1]).replace(GENERATED, 'given'),
  )
  const same = asRecord(withoutServerFields(rest))
  return {
    metadata: withoutServerFields(known),
    managers: hands.toSorted(),
    ...same,
    ...(isSecret(rest) && { data: Object.keys(asRecord(same['data'])).toSorted() }),
  }
}

/** Items of a list have no kind; only Secrets have these two fields. */
function isSecret(object: Readonly<Record<string, unknown>>): boolean {
  return 'data' in object && typeof object['type'] === 'string'
}

/** A uid or the address of a pod as part of a field path. */
const GENERATED = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|10\.244\.\d+\.\d+/g

/** Includes fields of the scheduler and the kubelet. */
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'observedGeneration',
  'clusterIP',
  'clusterIPs',
  'nodePort',
  'healthCheckNodePort',
  'generateName',
  'nodeName',
  'hostIP',
  'hostIPs',
  'podIP',
  'podIPs',
  'containerID',
])

/** Times are recognised by their format, in any field. */
function withoutServerFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutServerFields)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, child]) => !SERVER_FIELDS.has(key) && !isTime(child))
      .map(([key, child]) => [key, withoutServerFields(child)]),
  )
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value)
}

/** A discovery response or a list. */
interface ApiResponse {
  readonly groups?: readonly { readonly preferredVersion: { readonly groupVersion: string } }[]
  readonly resources?: readonly { readonly name: string; readonly verbs: readonly string[] }[]
  readonly items?: readonly KubeObject[]
}
