/** Measures `stackloom hosts` on fifty clouds with 250 hosts each, against a plain list and get of what it reads. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { KubeObject } from '../src/api/object.ts'
import { mapConcurrently } from '../src/async/map-concurrently.ts'
import { gatherLiveHosts } from '../src/cli/hosts/gather-hosts.ts'
import { hashSecret } from '../src/hosts/content-hash.ts'
import { NODE_SET_LABEL } from '../src/hosts/data-plane.ts'
import { hostKinds, referencedContents } from '../src/hosts/hosts-input.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { takeSnapshot } from '../src/kube/snapshot.ts'
import { startCluster } from '../test/cluster.ts'
import { neverAborted } from '../test/never-aborted.ts'
import type { Figure } from '../tools/figure.ts'
import { ratio, runNode } from '../tools/measure.ts'

const CLOUDS = 50
const HOSTS = 250
const API = 'dataplane.openstack.org/v1beta1'
const services = [
  'bootstrap',
  'configure-network',
  'install-os',
  'ovn',
  'neutron-metadata',
  'libvirt',
  'nova',
  'telemetry',
]

function secret(namespace: string, service: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${service}-config`, namespace },
    type: 'Opaque',
    data: { 'service.conf': Buffer.from(service).toString('base64') },
  }
}

/** One node set, its services and Secrets, a full deployment and one with a limit. */
function cloudObjects(namespace: string): readonly KubeObject[] {
  const hosts = Array.from({ length: HOSTS }, (_, index) => `compute-${index}`)
  const secretHashes = Object.fromEntries(
    services.map((service) => [`${service}-config`, hashSecret(secret(namespace, service))]),
  )
  const deployment = (name: string, hash: string, spec = {}): KubeObject => ({
    apiVersion: API,
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name, namespace },
    spec: { nodeSets: ['computes'], ...spec },
    status: { deployed: true, nodeSetHashes: { computes: hash }, secretHashes },
  })
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...services.flatMap((name) => [
      secret(namespace, name),
      {
        apiVersion: API,
        kind: 'OpenStackDataPlaneService',
        metadata: { name, namespace },
        spec: { dataSources: [{ secretRef: { name: `${name}-config` } }] },
      },
    ]),
    {
      apiVersion: API,
      kind: 'OpenStackDataPlaneNodeSet',
      metadata: { name: 'computes', namespace },
      spec: {
        preProvisioned: true,
        services,
        nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh' },
        nodes: Object.fromEntries(hosts.map((name) => [name, { hostName: name }])),
      },
      status: { configHash: 'b', deployedConfigHash: 'b' },
    },
    deployment('first', 'a'),
    deployment('second', 'b', { ansibleLimit: hosts.slice(0, HOSTS - 4).join(',') }),
  ]
}

async function furnish(client: KubeClient): Promise<void> {
  const clouds = Array.from({ length: CLOUDS }, (_, index) => `cloud${index}`)
  await mapConcurrently(clouds, 8, async (namespace) => {
    for (const object of cloudObjects(namespace)) {
      const created = await client.create(object)
      const { status } = object
      if (status) await client.update({ ...created, ...object, metadata: created.metadata }, { subresource: 'status' })
    }
  })
}

export const figures: readonly Figure[] = [
  {
    name: 'hosts.live',
    unit: 'x',
    target: { op: '<=', value: 2 },
    measure: async () => {
      const { cluster, stop } = await startCluster({ crds: '18.0-fr6' })
      try {
        const { client } = cluster
        await furnish(client)
        const signal = neverAborted()
        const list = async (): Promise<void> => {
          const { snapshot } = await takeSnapshot(client, hostKinds, { signal })
          await mapConcurrently(referencedContents(snapshot), 16, (ref) => client.get({ ...ref, apiVersion: 'v1' }))
          await client.list({ apiVersion: 'v1', kind: 'Secret' }, { labelSelector: NODE_SET_LABEL, signal })
        }
        return await ratio({
          ours: async () => {
            const { states } = await gatherLiveHosts(client, signal)
            const behind = states.filter(({ verdict }) => verdict === 'behind').length
            if (states.length !== CLOUDS * HOSTS || behind !== CLOUDS * 4) throw new Error(`${behind} hosts are behind`)
          },
          theirs: list,
          rounds: 7,
          warmUp: 2,
        })
      } finally {
        await stop()
      }
    },
  },
  {
    // 1 x: the second 24 clouds take as much memory as the first.
    name: 'hosts.memory-growth',
    unit: 'x',
    target: { op: '<=', value: 1.3 },
    measure: async () => {
      const [few, half, all] = [await measurePeak(2), await measurePeak(CLOUDS / 2 + 1), await measurePeak(CLOUDS)]
      return (all - few) / (2 * (half - few))
    },
  },
]

/** Memory of `hosts` on a dump of so many clouds, in MiB. */
async function measurePeak(clouds: number): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  try {
    for (let index = 0; index < clouds; index += 1) {
      const items = cloudObjects(`cloud${index}`)
      writeFileSync(path.join(folder, `${index}.json`), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    }
    const { stdout, peakMiB } = await runNode(['bin/stackloom', 'hosts', '--from', folder, '-o', 'json'])
    const { hosts } = JSON.parse(stdout) as { readonly hosts: readonly unknown[] }
    if (hosts.length !== clouds * HOSTS) throw new Error(`${hosts.length} hosts`)
    return peakMiB
  } finally {
    rmSync(folder, { recursive: true })
  }
}
