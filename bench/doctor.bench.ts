/**
 * Measures the doctor: on a cluster with fifty clouds against listing its kinds, and on a dump of 100,000 objects against
 * parsing it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { KubeObject } from '../src/api/object.ts'
import { gatherFromCluster, gatherFromDump } from '../src/cli/doctor/gather-evidence.ts'
import { diagnose } from '../src/doctor/diagnose.ts'
import { kindsToGather } from '../src/doctor/kinds.ts'
import { rules } from '../src/doctor/rules.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { renderDocuments } from '../src/render/render.ts'
import { startCluster } from '../test/cluster.ts'
import { neverAborted } from '../test/never-aborted.ts'
import { sandboxPlan } from '../test/plan.ts'
import { prepareCluster } from '../test/real/deploy/deployment-fixture.ts'
import type { Figure } from '../tools/figure.ts'
import { ratio } from '../tools/measure.ts'

const CLOUDS = 50
const OBJECTS = 100_000

const plan = () =>
  sandboxPlan({
    nodes: 3,
    clouds: Array.from({ length: CLOUDS }, (_, at) => ({ name: `cloud${at}`, namespace: `cloud${at}` })),
  })

/** The rendered objects of fifty clouds and their Services with addresses. */
async function furnishClouds(client: KubeClient): Promise<void> {
  const site = plan()
  await prepareCluster(
    client,
    site.from.cluster.nodes.map(({ name }) => name),
  )
  const documents = renderDocuments(site).map(({ object }) => object)
  const isNamespace = ({ kind }: KubeObject): boolean => kind === 'Namespace'
  await inTurn(documents.filter(isNamespace), (one) => client.apply(one, { fieldManager: 'bench' }))
  await inTurn(
    documents.filter((document) => !isNamespace(document) && !document.kind.startsWith('ValidatingAdmission')),
    (one) => client.apply(one, { fieldManager: 'bench' }),
  )
  const services = site.clouds.flatMap((cloud) =>
    cloud.networks.flatMap(({ pool, vips }) =>
      vips.map(({ slot, address }) => ({
        namespace: cloud.namespace,
        name: slot.replaceAll('.', '-'),
        address,
        pool: pool ?? '',
      })),
    ),
  )
  await inTurn(services, async ({ namespace, name, address, pool }) => {
    const ref = { apiVersion: 'v1', kind: 'Service', namespace, name }
    const annotations = {
      'metallb.io/address-pool': pool,
      'metallb.io/loadBalancerIPs': address,
      'metallb.io/allow-shared-ip': pool,
    }
    const spec = { type: 'LoadBalancer', ports: [{ port: 443 }] }
    await client.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name, annotations },
      spec,
    })
    const status = { loadBalancer: { ingress: [{ ip: address }] } }
    await client.patch(ref, { status }, { type: 'merge', subresource: 'status' })
  })
}

/** Eight at a time. */
async function inTurn<T>(things: readonly T[], work: (thing: T) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < things.length; at = next++) await work(things[at] as T)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

async function overCluster(): Promise<number> {
  const { cluster, stop } = await startCluster({ crds: 'today' })
  try {
    const { client } = cluster
    await furnishClouds(client)
    const kinds = kindsToGather(rules)
    const look = {
      namespaces: [],
      ask: () => Promise.reject(new Error('no pod to run the command')),
      stop: neverAborted(),
    }
    return await ratio({
      ours: async () => {
        const { snapshot } = await gatherFromCluster(client, rules, look)
        if (diagnose({ snapshot, now: Date.now() }, rules).judged !== rules.length) throw new Error('a rule was blind')
      },
      theirs: () => inTurn(kinds, async (kind) => ((await client.resource(kind)) ? client.list(kind) : undefined)),
      rounds: 7,
      warmUp: 2,
    })
  } finally {
    await stop()
  }
}

/** A realistic mix of objects: mostly pods outside the clouds. */
function dumped(): readonly KubeObject[] {
  const own = renderDocuments(plan()).map(({ object }) => object)
  const pod = (at: number): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${at}`,
      namespace: `cloud${at % CLOUDS}`,
      labels: { app: `app-${at % 200}`, 'pod-template-hash': `${at}` },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `app-${at}`, uid: `uid-${at}` }],
    },
    spec: {
      containers: [{ name: 'main', image: 'registry.example.com/a/b:v1', env: [{ name: 'A', value: 'b' }] }],
      nodeName: `worker-${at % 3}`,
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      containerStatuses: [{ name: 'main', ready: true, restartCount: 0, state: { running: {} } }],
    },
  })
  return [...own, ...Array.from({ length: OBJECTS - own.length }, (_, at) => pod(at))]
}

async function overDump(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  try {
    const all = dumped()
    for (let at = 0; at < all.length; at += 1_000)
      writeFileSync(
        path.join(folder, `${at}.json`),
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: all.slice(at, at + 1_000) }),
      )
    const files = readdirSync(folder).map((name) => path.join(folder, name))
    return await ratio({
      ours: async () => {
        const { snapshot } = await gatherFromDump(folder, rules, neverAborted())
        diagnose({ snapshot, now: Date.now() }, rules)
      },
      theirs: () => {
        for (const file of files) JSON.parse(readFileSync(file, 'utf8'))
      },
      rounds: 5,
      warmUp: 1,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const figures: readonly Figure[] = [
  { name: 'doctor.fifty-clouds', unit: 'x', target: { op: '<=', value: 3 }, measure: overCluster },
  { name: 'doctor.dump', unit: 'x', target: { op: '<=', value: 3 }, measure: overDump },
]
