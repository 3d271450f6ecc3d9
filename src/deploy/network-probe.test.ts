import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { type KubeObject, objectIdentity } from '../api/object.ts'
import { systemClock } from '../clock/clock.ts'
import { renderProbe } from '../render/probe-pods.ts'
import { isProved } from '../verify/verify.ts'
import { type ProbeDeps, probeNetworks } from './network-probe.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const plan = testPlan({ nodes: 2, clouds })
const settings = { image: 'busybox', program: 'true' }

interface Stage {
  readonly world: ProbeDeps
  readonly there: ReadonlyMap<string, KubeObject>
  readonly asked: readonly (readonly string[])[]
}

/** A cluster that starts every pod at once, each with the next address of its span, except those that it is told to hold. */
function stage(
  options: { readonly holds?: string; readonly answer?: (word: string) => string; readonly abortAt?: number } = {},
): Stage {
  const there = new Map<string, KubeObject>()
  const asked: (readonly string[])[] = []
  const stop = new AbortController()
  const running = (object: KubeObject): KubeObject => {
    const { namespace, name, labels = {} } = object.metadata
    if (object.kind !== 'Pod' || name === options.holds)
      return {
        ...object,
        status: { phase: 'Pending', conditions: [{ status: 'False', message: 'no addresses left' }] },
      }
    const network = plan.clouds
      .find((cloud) => cloud.namespace === namespace)
      ?.networks.find((network) => network.name === labels['stackloom.dev/network'])
    const start = network?.subnets[0]?.spans.find(({ role }) => role === 'pods')?.start ?? ''
    const ip = name.endsWith('worker-1') ? start.replace(/30$/, '31') : start
    const status = JSON.stringify([{ name: `${namespace}/${network?.name}`, ips: [ip] }])
    const annotations = { ...object.metadata.annotations, 'k8s.v1.cni.cncf.io/network-status': status }
    return { ...object, metadata: { ...object.metadata, annotations }, status: { phase: 'Running' } }
  }
  const world: ProbeDeps = {
    client: {
      apply: async (object) => {
        there.set(objectIdentity(object), running(object))
        return object
      },
      list: async (_, { namespace } = {}) => ({
        items: [...there.values()].filter(({ kind, metadata }) => kind === 'Pod' && metadata.namespace === namespace),
        resourceVersion: 'x',
      }),
      delete: async ({ kind, namespace, name }) => there.delete(`${kind} ${namespace}/${name}`),
    },
    ask: async (_pod, command) => {
      asked.push(command)
      if (asked.length === options.abortAt) stop.abort()
      stop.signal.throwIfAborted()
      const words = command.slice(3)
      return words.map((word) => `${word} ${options.answer?.(word) ?? 'silent'}\n`).join('')
    },
    clock: systemClock,
    stop: stop.signal,
    say: () => undefined,
    patience: { startMs: 20, lookMs: 5 },
  }
  return { world, there, asked }
}

describe('the network probe', () => {
  it('has a pod on every network with addresses and on every node, and leaves nothing behind', async () => {
    const { world, there, asked } = stage()
    const { results, findings } = await probeNetworks(plan, settings, world)
    const networks = plan.clouds.flatMap((cloud) => cloud.networks.filter(({ name }) => name !== 'datacentre'))
    expect(new Set(results.map(({ seen }) => seen))).toEqual(new Set([`${networks.length} probes`]))
    expect(asked.length).toBeGreaterThanOrEqual(networks.length * 2)
    expect(asked.every((words) => words.slice(0, 3).join(' ') === 'sh /probe/probe.sh net1')).toBe(true)
    expect(findings).toEqual([])
    expect([...there.keys()]).toEqual([])
  })

  it('catches a cloud that answers to another one', async () => {
    const { world } = stage({
      answer: (word) => (word === 'dad,172.17.1.30' ? '02:00:00:00:00:09' : 'silent'),
    })
    const { results } = await probeNetworks(plan, settings, world)
    const crossings = results.flatMap(({ findings }) => findings.filter(({ code }) => code === 'SL9101'))
    expect(crossings.length).toBeGreaterThan(0)
  })

  it('names the pod that does not start, with its reason, and counts it as unproved', async () => {
    const { world, there } = stage({ holds: 'stackloom-probe-storage-worker-1' })
    const { results } = await probeNetworks(plan, settings, world)
    const said = results.flatMap(({ findings }) => findings.map(({ message }) => message))
    expect(said).toContain(
      'the probe of rhoso1/storage on worker-1 has no result: the pod is Pending: no addresses left',
    )
    expect(isProved(results)).toBe(false)
    expect(there.size).toBe(0)
  })

  it('removes everything after Ctrl-C, too', async () => {
    const { world, there } = stage({ abortAt: 3 })
    await expect(probeNetworks(plan, settings, world)).rejects.toThrow()
    expect(there.size).toBe(0)
  })

  it('tells what it could not remove, and how to', async () => {
    const { world } = stage()
    const stuck = {
      ...world,
      client: { ...world.client, delete: () => Promise.reject(new Error('gone away')) },
    }
    const { findings } = await probeNetworks(plan, settings, stuck)
    expect(findings.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'SL9109 probe pods are left in openstack2: gone away',
      'SL9109 probe pods are left in openstack: gone away',
    ])
  })
})

describe('the objects of a probe', () => {
  const [cloud] = plan.clouds
  const objects = cloud ? renderProbe(plan, cloud, settings) : []
  const pods = objects.filter(({ kind }) => kind === 'Pod')

  it('cannot be taken for a workload, and end by themselves', () => {
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(/^stackloom-probe/)
      expect(metadata.labels).toMatchObject({ 'stackloom.dev/probe': 'network' })
    }
    for (const pod of pods) expect(pod['spec']).toMatchObject({ restartPolicy: 'Never', activeDeadlineSeconds: 900 })
  })

  it('may send raw packets and nothing else', () => {
    expect(pods.length).toBeGreaterThan(0)
    for (const pod of pods)
      expect(pod['spec']).toMatchObject({
        containers: [
          {
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'], add: ['NET_RAW'] },
            },
          },
        ],
      })
  })
})
