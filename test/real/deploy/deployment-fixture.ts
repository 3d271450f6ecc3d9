/** Prepares a sandbox for deployments: nodes, storage, actors for what cannot run there, and functions to inspect it. */
import { type KubeObject, objectIdentity } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { down } from '../../../src/deploy/down/down.ts'
import { distinctKinds } from '../../../src/deploy/object-changes.ts'
import { type UpOptions, up } from '../../../src/deploy/up.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Connection } from '../../../src/kube/connect.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import type { RunReport } from '../../../src/run/engine.ts'
import type { RunEvent } from '../../../src/run/events.ts'
import { runActors } from '../../../src/sandbox/actors/registry.ts'
import { ensureNodes } from '../../../src/sandbox/cluster-objects.ts'
import type { Cluster } from '../../cluster.ts'
import { testIo } from '../../io.ts'

export interface RunningActors {
  readonly stop: () => Promise<void>
}

export const allActors = ['kubelet', 'nmstate', 'olm', 'openstack']

/** Runs actors in this process until they are stopped. */
export function startActors(
  connection: Pick<Connection, 'client' | 'transport'>,
  names: readonly string[] = allActors,
  stepMs = 20,
  real: readonly string[] = [],
): RunningActors {
  const end = new AbortController()
  const playing = runActors({ connection, names, real, signal: end.signal, stepMs })
  return {
    stop: async () => {
      end.abort()
      await playing
    },
  }
}

export function nodeNames(plan: Plan): readonly string[] {
  return plan.from.cluster.nodes.map(({ name }) => name)
}

/** Creates what a cluster has before Stackloom: its nodes and a storage class. */
export async function prepareCluster(client: KubeClient, nodes: readonly string[]): Promise<void> {
  await ensureNodes(client, nodes)
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  const storageClass: KubeObject = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local', annotations },
    provisioner: 'kubernetes.io/no-provisioner',
  }
  await client.apply(storageClass, { fieldManager: 'administrator' })
}

export interface Deployed {
  readonly report: RunReport
  readonly events: readonly RunEvent[]
}

/** Deploys a plan and collects the events. */
export async function deploy(
  client: KubeClient,
  plan: Plan,
  settings: Partial<UpOptions> & { readonly seen?: (event: RunEvent) => void } = {},
): Promise<Deployed> {
  const events: RunEvent[] = []
  const report = await up({
    client,
    plan,
    documents: renderDocuments(plan),
    selection: {},
    run: 'test',
    what: 'up',
    sink: (event) => {
      events.push(event)
      settings.seen?.(event)
    },
    stop: new AbortController().signal,
    discoverHosts: async () => 'simulated',
    ...settings,
  })
  return { report, events }
}

export async function takeDown(client: KubeClient, clouds: readonly string[] | 'all'): Promise<Deployed> {
  const events: RunEvent[] = []
  const report = await down({
    client,
    clouds,
    run: 'test',
    sink: (event) => events.push(event),
    stop: new AbortController().signal,
  })
  return { report, events }
}

/** Stages that failed, with their reasons, to compare with an empty list. */
export function failedStages({ report }: Deployed): readonly string[] {
  return report.stages
    .filter(({ outcome }) => outcome !== 'done' && outcome !== 'skipped')
    .map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)
}

export function writes({ events }: Deployed): readonly RunEvent[] {
  return events.filter((event) => event.kind === 'applied' && event.change !== 'unchanged')
}

/** Every object of the kinds that a plan renders, and all Services and Secrets, by identity. */
export async function objectsIn(client: KubeClient, plan: Plan): Promise<ReadonlyMap<string, KubeObject>> {
  const kinds = distinctKinds(renderDocuments(plan).map(({ object }) => object))
  const more = ['Service', 'Secret'].map((kind) => ({ apiVersion: 'v1', kind }))
  const found = new Map<string, KubeObject>()
  for (const { apiVersion, kind } of [...kinds, ...more]) {
    const { items } = await client.list({ apiVersion, kind })
    for (const item of items) {
      const object = { ...item, apiVersion, kind } as KubeObject
      found.set(objectIdentity(object), object)
    }
  }
  return found
}

/**
 * Contents by identity: everything except the status, which other controllers write, and of managedFields only ours, with
 * the time of the last apply. Equal results mean that nothing was written.
 */
export function objectContents(objects: ReadonlyMap<string, KubeObject>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...objects].map(([id, object]) => {
      const { status: _status, metadata, ...rest } = object
      const { managedFields = [], resourceVersion: _version, ...identity } = metadata
      const ours = managedFields.filter(({ manager }) => manager === 'stackloom')
      return [id, JSON.stringify({ ...rest, metadata: { ...identity, managedFields: ours } })]
    }),
  )
}

/** Runs commands of the program in this process, in a folder and against a cluster. */
export function runCommands(
  folder: string,
  cluster: Pick<Cluster, 'kubeconfig'>,
): (...words: readonly string[]) => Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return async (...words) => {
    const io = testIo({ cwd: folder })
    const code = await main([...words, '--kubeconfig', cluster.kubeconfig], io)
    return { code, out: io.out(), err: io.err() }
  }
}
