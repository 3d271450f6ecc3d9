/**
 * Runs test cases on a real cluster, each in its own namespace, with the data plane controllers and a recording executor,
 * and provides helpers to create and poll objects.
 */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { Condition, GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import type { DataPlaneNode } from '../../../src/dataplane/kinds/data-plane.ts'
import { type NovaExternalCompute, novaCells, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import type { Cluster } from '../../cluster.ts'
import { type ControllerOptions, type RunningControllers, startControllers } from './controllers.ts'
import { type Play, type RecordingExecutor, recordingExecutor } from './recording-executor.ts'

export interface Case {
  namespace: string
  controllers: RunningControllers
  executor: RecordingExecutor
  /** The result of attempts; they succeed unless a case replaces it. */
  play: Play
}

export type Cases = ReturnType<typeof useCases>

export function useCases(cluster: Cluster, options: ControllerOptions = {}, before?: () => Promise<void>) {
  const soon = { timeout: 30_000, interval: 50 }
  const current = { namespace: '', play: () => ({}) } as unknown as Case
  let count = 0

  beforeAll(async () => {
    await before?.()
    current.controllers = startControllers(cluster.client, options)
    current.executor = recordingExecutor(cluster.client, (run) => current.play(run))
  }, 60_000)
  afterAll(async () => {
    await current.controllers?.stop()
    await current.executor?.stop()
    expect(current.executor?.overlaps ?? []).toEqual([])
  })
  beforeEach(async () => {
    count += 1
    current.namespace = `case-${count}`
    current.play = () => ({})
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: current.namespace } })
  })

  const here = <T extends KubeObject>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace: current.namespace },
  })
  const create = (object: KubeObject): Promise<KubeObject> =>
    cluster.client.create(here(object), { fieldManager: 'person' })
  const get = (kind: GroupVersionKind, name: string): Promise<KubeObject | undefined> =>
    cluster.client.get({ ...kind, namespace: current.namespace, name })
  const patch = (kind: GroupVersionKind, name: string, change: object): Promise<KubeObject> =>
    cluster.client.patch({ ...kind, namespace: current.namespace, name }, change, {
      type: 'merge',
      fieldManager: 'person',
    })
  const conditionOf = async (kind: GroupVersionKind, name: string, type = 'Ready'): Promise<Condition | undefined> =>
    ((await get(kind, name)) as DataPlaneNode | undefined)?.status?.conditions?.find(
      (condition) => condition.type === type,
    )
  const until = (kind: GroupVersionKind, name: string, type: string, status: string): Promise<void> =>
    expect.poll(async () => (await conditionOf(kind, name, type))?.status, soon).toBe(status)
  const says = (kind: GroupVersionKind, name: string, type: string, words: string): Promise<void> =>
    expect.poll(async () => (await conditionOf(kind, name, type))?.message, soon).toContain(words)
  const compute = async (name: string): Promise<NovaExternalCompute | undefined> =>
    (await get(novaExternalComputes, name)) as NovaExternalCompute | undefined
  const secretText = async (name: string, key: string): Promise<string | undefined> => {
    const data = (await get({ apiVersion: 'v1', kind: 'Secret' }, name))?.['data'] as Record<string, string> | undefined
    return data?.[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString('utf8')
  }
  const ran = (): readonly string[] =>
    current.executor.recorded
      .filter((recorded) => recorded.namespace === current.namespace)
      .map(({ step, hosts }) => `${step} ${hosts.join('+')}`)

  async function secret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    await create({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: data } as KubeObject)
  }

  async function cell(name: string, { ready = true } = {}): Promise<void> {
    await secret(`${name}-bus`, { transport_url: `rabbit://user:pa$$@${name}.example:5672/?ssl=0` })
    await secret(`${name}-secret`, { ServicePassword: `password-of-${name}` })
    const made = await create({
      ...novaCells,
      metadata: { name },
      spec: {
        cellName: name.slice(name.lastIndexOf('-') + 1),
        cellDatabaseHostname: 'db',
        cellMessageBusSecretName: `${name}-bus`,
        conductorServiceTemplate: {},
        noVNCProxyServiceTemplate: {},
        keystoneAuthURL: 'http://keystone:5000',
        secret: `${name}-secret`,
        serviceAccount: 'nova',
      },
    })
    if (ready) await cellReady(made)
  }

  async function cellReady(made: KubeObject): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }]
    await cluster.client.update({ ...made, status: { conditions } }, { subresource: 'status' })
  }

  const helpers = { create, get, patch, until, says, compute, secretText, ran, secret, cell, cellReady, soon }
  return Object.assign(current, helpers)
}
