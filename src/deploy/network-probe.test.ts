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

interface Fixture {
  readonly deps: ProbeDeps
  readonly objects: Map<string, KubeObject>
  readonly asked: readonly (readonly string[])[]
}

/** A cluster that starts every pod immediately with the next address of its span, except the one named by `pending`. */
function fixture(
  options: { readonly pending?: string; readonly answer?: (word: string) => string; readonly abortAt?: number } = {},
): Fixture {
  const objects = new Map<string, KubeObject>()
  const asked: (readonly string[])[] = []
  const stop = new AbortController()
  const running = (object: KubeObject): KubeObject => {
    const { namespace, name, labels = {} } = object.metadata
    if (object.kind !== 'Pod' || name === options.pending)
      return {
        ...object,
        status: { phase: 'Pending', conditions: [{ status: 'False', message: 'no addresses left' }] },
      }
    const network = plan.clouds
      .find((cloud) => cloud.namespace === namespace)
      ?.networks.find((network) => network.name === labels['stackloom.dev/network'])
    const start = network?.subnets[0]?.spans.find(({ role }) => role === 'pods')?.start ?? ''
    const ip = name.endsWith('worker-1') ? start.replace(/30$/, '31') : start
    const status = JSON.stringify([{ name: `${namespace}/${network?.name}`, ...(ip !== '' && { ips: [ip] }) }])
    const annotations = { ...object.metadata.annotations, 'k8s.v1.cni.cncf.io/network-status': status }
    return { ...object, metadata: { ...object.metadata, annotations }, status: { phase: 'Running' } }
  }
  const deps: ProbeDeps = {
    client: {
      get: async ({ kind, namespace, name }) => objects.get(`${kind} ${namespace}/${name}`),
      apply: async (object) => {
        objects.set(objectIdentity(object), running(object))
        return object
      },
      list: async (_, { namespace } = {}) => ({
        items: [...objects.values()].filter(({ kind, metadata }) => kind === 'Pod' && metadata.namespace === namespace),
        resourceVersion: 'x',
      }),
      delete: async ({ kind, namespace, name }) => objects.delete(`${kind} ${namespace}/${name}`),
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
    timing: { startMs: 20, pollMs: 5, repeatMs: 1 },
  }
  return { deps, objects, asked }
}

describe('probeNetworks', () => {
  it('neither overwrites nor removes an object of another owner that has the name of a probe', async () => {
    const { deps, objects } = fixture()
    const [probe] = plan.clouds.flatMap((cloud) => renderProbe(plan, cloud, settings))
    const { labels: _, ...metadata } = (probe as KubeObject).metadata
    const foreign = { ...(probe as KubeObject), metadata }
    objects.set(objectIdentity(foreign), foreign)
    await expect(probeNetworks(plan, settings, deps)).rejects.toThrow('SL1030')
    expect([...objects.values()]).toEqual([foreign])
  })

  it('probes from every network and node, and removes all its pods', async () => {
    const { deps, objects, asked } = fixture()
    const { results, findings } = await probeNetworks(plan, settings, deps)
    const networks = plan.clouds.flatMap((cloud) => cloud.networks.filter(({ name }) => name !== 'datacentre'))
    // The first cloud has one more on each node: on the bridge over the whole NIC.
    expect(new Set(results.map(({ seen }) => seen))).toEqual(
      new Set([`${networks.length + 2} probes`, `${networks.length} probes`]),
    )
    expect(asked.filter((words) => words.slice(3).every((word) => word.startsWith('tag,')))).toHaveLength(2)
    expect(asked.length).toBeGreaterThanOrEqual(networks.length * 2)
    expect(asked.every((words) => words.slice(0, 3).join(' ') === 'sh /probe/probe.sh net1')).toBe(true)
    expect(findings).toEqual([])
    expect([...objects.keys()]).toEqual([])
  })

  it('reports a cloud that answers to another cloud', async () => {
    const { deps } = fixture({
      answer: (word) => (word === 'dad,172.17.1.30' ? '02:00:00:00:00:09' : 'silent'),
    })
    const { results } = await probeNetworks(plan, settings, deps)
    const crossings = results.flatMap(({ findings }) => findings.filter(({ code }) => code === 'SL9101'))
    expect(crossings.length).toBeGreaterThan(0)
  })

  it('reports the pod that does not start with its reason, and proves nothing', async () => {
    const { deps, objects } = fixture({ pending: 'stackloom-probe-storage-worker-1' })
    const { results } = await probeNetworks(plan, settings, deps)
    const messages = results.flatMap(({ findings }) => findings.map(({ message }) => message))
    expect(messages).toContain(
      'the probe of rhoso1/storage on worker-1 has no result: the pod is Pending: no addresses left',
    )
    expect(isProved(results)).toBe(false)
    expect(objects.size).toBe(0)
  })

  it('removes all pods after Ctrl-C', async () => {
    const { deps, objects } = fixture({ abortAt: 3 })
    await expect(probeNetworks(plan, settings, deps)).rejects.toThrow()
    expect(objects.size).toBe(0)
  })

  it('reports pods that could not be removed', async () => {
    const { deps } = fixture()
    const stuck = {
      ...deps,
      client: { ...deps.client, delete: () => Promise.reject(new Error('gone away')) },
    }
    const { findings } = await probeNetworks(plan, settings, stuck)
    expect(findings.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'SL9109 probe pods are left in openstack2: gone away',
      'SL9109 probe pods are left in openstack: gone away',
    ])
  })
})

describe('renderProbe', () => {
  const [cloud] = plan.clouds
  const objects = cloud ? renderProbe(plan, cloud, settings) : []
  const pods = objects.filter(({ kind }) => kind === 'Pod')

  it('marks its objects as probes, and its pods end by themselves', () => {
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(/^stackloom-probe/)
      expect(metadata.labels).toMatchObject({ 'stackloom.dev/probe': 'network' })
    }
    for (const pod of pods) expect(pod['spec']).toMatchObject({ restartPolicy: 'Never', activeDeadlineSeconds: 900 })
  })

  it('gives its pods no capability except raw packets, and VLAN interfaces on bridges', () => {
    expect(pods.length).toBeGreaterThan(0)
    for (const pod of pods) {
      const add = pod.metadata.name.includes('datacentre') ? ['NET_RAW', 'NET_ADMIN'] : ['NET_RAW']
      expect(pod['spec']).toMatchObject({
        containers: [
          {
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'], add },
            },
          },
        ],
      })
    }
  })

  it('asks Multus for a default route to the next node, in each family, and for two interfaces on a bridge', () => {
    const dual = testPlan({ nodes: 2, clouds, families: [4, 6] })
    const [cloud] = dual.clouds
    const networksOf = (name: string): unknown => {
      const found = (cloud ? renderProbe(dual, cloud, settings) : []).find(({ metadata }) => metadata.name === name)
      return JSON.parse(found?.metadata.annotations?.['k8s.v1.cni.cncf.io/networks'] ?? '[]')
    }
    const namespace = 'openstack'
    expect(networksOf('stackloom-probe-internalapi-worker-1')).toEqual([
      { name: 'internalapi', namespace, interface: 'net1', 'default-route': ['172.17.0.10', 'fd00:11:1::a'] },
    ])
    expect(networksOf('stackloom-probe-datacentre-worker-1')).toEqual([
      { name: 'datacentre', namespace, interface: 'net1' },
      { name: 'datacentre', namespace, interface: 'net2' },
    ])
  })

  it('has no such route or pod where the site leaves the way open, and no route to the own node of a macvlan', () => {
    const rendered = (options: Parameters<typeof testPlan>[0]): string => {
      const open = testPlan({ clouds, ...options })
      return JSON.stringify(open.clouds.flatMap((cloud) => renderProbe(open, cloud, settings)))
    }
    const isolation = { forwarding: 'allow', taggedFrames: 'allow' }
    expect(rendered({ nodes: 2, cluster: { isolation } })).not.toMatch(/default-route|datacentre/)
    expect(rendered({ nodes: 1 })).not.toContain('default-route')
  })
})
