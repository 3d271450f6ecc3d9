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
const ROUNDS = 2
/** Loads what all hosts share (files, images of programs) and counts for nothing. */
const FIRST = 'compute-first'
const name = (words: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `compute-${words}-${index}`)
const single = name('single', ROUNDS)
const byHand = name('by-hand', ROUNDS)
const many = name('many', MANY)

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

/** Hosts by the operator and hosts by hand take turns: the machine is not the same a minute later. */
async function compareWithPlaybooks(environment: Environment): Promise<number> {
  await deploy(environment, [FIRST])
  let operator = 0
  let playbooks = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    operator += await deploy(environment, single.slice(round, round + 1))
    playbooks += await deployByHand(environment, byHand[round] ?? '')
  }
  one = operator / ROUNDS
  return operator / playbooks
}

async function deployByHand({ cluster, nodes, cloud }: Environment, host: string): Promise<number> {
  const nova = await readFiles(cluster, nodes, `${FIRST}-config-data`, host)
  const agent = await readFiles(cluster, nodes, `${FIRST}-ovn-metadata-config-data`, host)
  const began = performance.now()
  const vars = { ...hostVariables, stackloom_ca: '/var/lib/openstack/config/ca.pem' }
  const steps = [
    { playbooks: phase0Playbooks, files: { 'ca.pem': cloud.authority } },
    { playbooks: ['ovn-metadata'], files: agent },
    { playbooks: ['libvirt', 'nova'], files: nova },
  ]
  for (const step of steps) {
    const { reason, message } = await play(nodes, { ...step, hosts: [host], vars })
    if (reason !== 'Completed') throw new Error(message)
  }
  await waitForHypervisors(cloud, [host])
  return seconds(began)
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000
}

/** The configuration files of the first host, for one by hand. */
async function readFiles(
  { client }: Cluster,
  nodes: DataPlaneNodes,
  name: string,
  host: string,
): Promise<Readonly<Record<string, string>>> {
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name })
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>
  return Object.fromEntries(
    Object.entries(data).map(([file, text]) => {
      const plain = Buffer.from(text, 'base64').toString().replaceAll(FIRST, host)
      return [file, plain.replaceAll(nodes.node(FIRST).address, nodes.node(host).address)]
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
    measure: () => withCloud([FIRST, ...single, ...byHand], compareWithPlaybooks),
  },
  {
    name: 'hosts-deploy.ten',
    unit: 'x',
    target: { op: '<=', value: 3 },
    measure: () =>
      withCloud([FIRST, ...single.slice(0, 1), ...many], async (environment) => {
        await deploy(environment, [FIRST])
        one = await deploy(environment, single.slice(0, 1))
        return (await deploy(environment, many)) / one
      }),
  },
  { name: 'hosts-deploy.one', unit: 's', measure: async () => one },
]
