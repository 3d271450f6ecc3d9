/**
 * Builds a dump with the kinds that commands read, and breaks it: each field in turn gets values of other JSON types.
 */
import { addressBlocks } from '../src/api/address-block.ts'
import { reservations } from '../src/api/ipset.ts'
import { isRecord } from '../src/api/json.ts'
import type { KubeObject } from '../src/api/object.ts'
import { formatGroupKind } from '../src/api/snapshot.ts'
import { renderInventory } from '../src/deploy/inventory.ts'
import { ansibleRun, counted, dataPlaneNode, dataPlaneRole } from './data-plane.ts'
import { dnsData, dnsMasq, host } from './dns.ts'
import { healthy } from './doctor/healthy-cluster.ts'
import { planExample } from './examples.ts'
import { healthySnapshot } from './healthy-snapshot.ts'
import { design2023 } from './ipam.ts'

const ready = [{ type: 'Ready', status: 'True', message: 'm', reason: 'r', lastTransitionTime: '2026-01-01T00:00:00Z' }]

/** One object of each kind and shape is enough: they are broken one field at a time. */
export function exampleDump(): readonly KubeObject[] {
  const plan = planExample('two-clouds')
  const namespace = 'openstack'
  const deployed = healthySnapshot(plan).objects
  const inventory = renderInventory({
    site: 's',
    cloud: 'rhoso1',
    namespace,
    objects: deployed.slice(0, 30).map(({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      name: metadata.name,
      stage: 'x',
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    })),
  })
  const { netConfig, ipSet } = design2023
  return [
    ...deployed,
    ...healthy(),
    inventory,
    netConfig,
    { ...ipSet, status: { conditions: ready, reservations: design2023.reservations, observedGeneration: 1 } },
    {
      ...reservations,
      metadata: { name: 'edpm-compute-0', namespace },
      spec: {
        ipSetRef: { namespace, name: 'edpm-compute-0', uid: 'u' },
        reservation: { ctlplane: { network: 'CtlPlane', subnet: 'subnet1', address: '192.168.122.100' } },
      },
    },
    {
      ...addressBlocks,
      metadata: { name: 'b', namespace },
      spec: { segment: 'untagged', first: '192.168.122.0', holders: { '192.168.122.100': 'openstack/n CtlPlane u' } },
    },
    { ...dnsMasq('dns', namespace), status: { dnsAddresses: ['192.168.122.80'], conditions: ready } },
    dnsData('some', [host('172.17.0.80', 'keystone-internal.openstack.svc')], namespace),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'by-hand', namespace, labels: { dnsmasqhosts: 'dnsdata' } },
      data: { 'by-hand': '172.17.0.80 hand.example.com\n' },
    },
    dataPlaneRole('r', {
      nodeTemplate: { ansibleUser: 'x', networks: [{ network: 'ctlplane', fixedIP: '192.168.122.100' }] },
      services: ['a'],
    }),
    {
      ...dataPlaneNode('n', {
        role: 'r',
        ansibleHost: '192.168.122.100',
        hostName: 'n',
        node: { ansibleVars: 'a: 1' },
      }),
      status: { conditions: ready },
    },
    ansibleRun('run', {
      step: 'configure-os',
      hosts: { n: 'h' },
      status: { JobStatus: 'Succeeded', conditions: ready, result: { reason: 'Completed', hosts: { n: counted } } },
    } as never),
  ] as readonly KubeObject[]
}

export interface Mutation {
  readonly kind: string
  /** Lists are `*`. */
  readonly path: string
  readonly objects: readonly KubeObject[]
}

export const wrongValues: readonly unknown[] = [
  5,
  'x',
  null,
  true,
  [],
  [5],
  ['x'],
  [null],
  {},
  { x: 5 },
  { x: null },
  -1e300,
]

/** The dump once for each field of each kind, with that field replaced in all objects of the kind. */
export function* mutations(dump: readonly KubeObject[], value: unknown): Generator<Mutation> {
  for (const kind of new Set(dump.map(formatGroupKind))) {
    const objects = dump.filter((object) => formatGroupKind(object) === kind)
    const paths = new Set(objects.flatMap((object) => fieldPaths(object)))
    const others = dump.filter((object) => !objects.includes(object))
    for (const path of paths) {
      const broken = objects.map((object) => replaceAt(object, path.split('\0'), value) as KubeObject)
      yield { kind, path: path.replaceAll('\0', '.'), objects: [...others, ...broken] }
    }
  }
}

/** The objects once for each text below spec, status and annotations, with another text there, or as the name of that field. */
export function* textMutations(
  objects: readonly KubeObject[],
  text: string,
): Generator<{ readonly field: string; readonly objects: readonly KubeObject[] }> {
  for (const object of objects) {
    for (const path of textPaths(object)) {
      for (const changed of [setText(object, path, text), renameField(object, path, text)]) {
        const field = `${object.kind} ${path.join('.')}`
        yield { field, objects: objects.map((other) => (other === object ? (changed as KubeObject) : other)) }
      }
    }
  }
}

function textPaths(value: unknown, prefix: readonly string[] = []): readonly (readonly string[])[] {
  const [first = 'spec', second = 'annotations'] = prefix
  if (first !== 'spec' && first !== 'status' && !(first === 'metadata' && second === 'annotations')) return []
  if (typeof value === 'string') return [prefix]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => textPaths(item, [...prefix, key]))
}

function setText(value: unknown, [key, ...rest]: readonly string[], text: unknown): unknown {
  if (key === undefined) return text
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? setText(item, rest, text) : item))
  return isRecord(value) ? { ...value, [key]: setText(value[key], rest, text) } : value
}

/** `__proto__` becomes a field of its own, as in JSON of the API server. */
function renameField(value: unknown, [key = '', ...rest]: readonly string[], name: string): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? renameField(item, rest, name) : item))
  if (!isRecord(value)) return value
  if (rest.length > 0) return { ...value, [key]: renameField(value[key], rest, name) }
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [field === key ? name : field, item]))
}

function fieldPaths(value: unknown, prefix: readonly string[] = []): readonly string[] {
  const own = prefix.length === 0 ? [] : [prefix.join('\0')]
  if (Array.isArray(value)) return [...own, ...value.flatMap((item) => fieldPaths(item, [...prefix, '*']))]
  if (!isRecord(value)) return own
  return [...own, ...Object.entries(value).flatMap(([key, item]) => fieldPaths(item, [...prefix, key]))]
}

function replaceAt(value: unknown, path: readonly string[], replacement: unknown): unknown {
  const [key = '', ...rest] = path
  if (path.length === 0) return replacement
  if (key === '*') return Array.isArray(value) ? value.map((item) => replaceAt(item, rest, replacement)) : value
  if (!isRecord(value) || !(key in value)) return value
  return { ...value, [key]: replaceAt(value[key], rest, replacement) }
}
