/**
 * Measures the way of a host into a real cloud: from its node object to a hypervisor that is up, against the same playbooks
 * by hand with `ansible-playbook`, and ten hosts at once against one.
 */
import { phase0Playbooks } from '../src/dataplane/runs/playbooks.ts'
import { judgeMachine, readMachineFacts } from '../src/sandbox/hosts/requirements.ts'
import { findRootFileSystem, openstackRoot } from '../src/sandbox/hosts/root-file-system.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { type DataPlaneNodes, startNodes } from '../test/real/dataplane/nodes.ts'
import type { TestCloud } from '../test/real/hosts/cloud.ts'
import { createHost, hostVariables, namespace, startCloudForHosts } from '../test/real/hosts/hosts-in-cells.ts'
import { play } from '../test/real/hosts/playbooks.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import type { Figure } from '../tools/figure.ts'

const MANY = 10
const ONE = 'compute-one'
const BY_HAND = 'compute-by-hand'
const many = Array.from({ length: MANY }, (_, index) => `compute-${index}`)

interface Environment {
  readonly cluster: Cluster
  readonly nodes: DataPlaneNodes
  readonly cloud: TestCloud
}

type Unavailable = { readonly unavailable: string }

/** Starts a cloud and nodes for one measurement, and stops them. */
async function withCloud(
  hosts: readonly string[],
  measure: (environment: Environment) => Promise<number>,
): Promise<number | Unavailable> {
  const [unfit] = judgeMachine(await readMachineFacts(process.env))
  if (unfit) return { unavailable: unfit.message }
  const root = await findRootFileSystem(openstackRoot, sandboxContext().paths)
  if (root === undefined) return { unavailable: 'the root file system is not built: `make test SUITE=hosts` builds it' }
  const { cluster, stop: stopCluster } = await startCluster({ crds: 'own-2023' })
  try {
    const { nodes, stop: stopNodes } = await startNodes(hosts, root)
    try {
      const { cloud, stop } = await startCloudForHosts(cluster, nodes, ['cell1'])
      try {
        return await measure({ cluster, nodes, cloud })
      } finally {
        await stop()
      }
    } finally {
      await stopNodes()
    }
  } finally {
    await stopCluster()
  }
}

async function deploy({ cluster, nodes, cloud }: Environment, hosts: readonly string[]): Promise<number> {
  const began = performance.now()
  for (const host of hosts) await createHost(cluster.client, nodes, host, 'cell1')
  await waitForHypervisors(cloud, hosts)
  return seconds(began)
}

let one = Number.NaN

async function measureByHand(environment: Environment): Promise<number> {
  const { cluster, nodes, cloud } = environment
  one = await deploy(environment, [ONE])
  const nova = await readFiles(cluster, nodes, `${ONE}-config-data`)
  const agent = await readFiles(cluster, nodes, `${ONE}-ovn-metadata-config-data`)
  const began = performance.now()
  const vars = { ...hostVariables, stackloom_ca: '/var/lib/openstack/config/ca.pem' }
  const steps = [
    { playbooks: phase0Playbooks, files: { 'ca.pem': cloud.authority } },
    { playbooks: ['ovn-metadata'], files: agent },
    { playbooks: ['libvirt', 'nova'], files: nova },
  ]
  for (const step of steps) {
    const { reason, message } = await play(nodes, { ...step, hosts: [BY_HAND], vars })
    if (reason !== 'Completed') throw new Error(message)
  }
  await waitForHypervisors(cloud, [BY_HAND])
  return one / seconds(began)
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000
}

/** The configuration files of the first host, for the one by hand. */
async function readFiles(
  { client }: Cluster,
  nodes: DataPlaneNodes,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name })
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>
  return Object.fromEntries(
    Object.entries(data).map(([file, text]) => {
      const plain = Buffer.from(text, 'base64').toString().replaceAll(ONE, BY_HAND)
      return [file, plain.replaceAll(nodes.node(ONE).address, nodes.node(BY_HAND).address)]
    }),
  )
}

interface Hypervisors {
  readonly hypervisors: readonly { readonly hypervisor_hostname: string; readonly state: string }[]
}

async function waitForHypervisors(cloud: TestCloud, hosts: readonly string[]): Promise<void> {
  for (;;) {
    const { hypervisors } = await cloud.ask<Hypervisors>('compute', '/os-hypervisors')
    const up = hypervisors.filter(({ state }) => state === 'up').map((found) => found.hypervisor_hostname)
    if (hosts.every((host) => up.includes(host))) return
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

export const figures: readonly Figure[] = [
  {
    name: 'hosts-deploy.by-hand',
    unit: 'x',
    target: { op: '<=', value: 1.2 },
    measure: () => withCloud([ONE, BY_HAND], measureByHand),
  },
  {
    name: 'hosts-deploy.ten',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: () =>
      withCloud([ONE, ...many], async (environment) => {
        one = await deploy(environment, [ONE])
        return (await deploy(environment, many)) / one
      }),
  },
  { name: 'hosts-deploy.one', unit: 's', measure: async () => one },
]
