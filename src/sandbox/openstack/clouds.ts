/** Runs the clouds of a sandbox by namespace, and records what runs, for other processes of this machine. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { writeFileAtomically } from '../../files/write-file.ts'
import { formatAddress, parseAddress, plus } from '../../net/address.ts'
import type { Authority } from '../../pki/authority.ts'
import { type Cloud, type CloudState, runCloud } from './cloud.ts'
import type { CloudDefinition } from './cloud-definition.ts'
import type { ComputeRequest } from './compute-host.ts'
import type { ComputeStatus } from './compute-hosts.ts'
import type { DaemonStatus } from './supervise-daemons.ts'

/** What `sandbox status` shows of a cloud. */
export interface CloudRecord {
  readonly namespace: string
  readonly cloud: string
  readonly state: CloudState
  /** Services that run; all of them answer in the state `running` unless it says otherwise. */
  readonly services: readonly string[]
  readonly simulated: readonly string[]
  readonly programs: readonly DaemonStatus[]
  readonly computes: readonly ComputeStatus[]
  /** Process ids of this machine that have the namespaces of the hosts. */
  readonly hosts: Readonly<Record<string, number>>
  readonly logs: string
}

export interface OpenStackClouds {
  /** Starts the cloud unless it runs as defined, and returns its state. */
  readonly ensure: (definition: CloudDefinition, authority: Authority) => Promise<CloudState>
  /** Runs exactly these hosts as compute hosts of the cloud, if it has services. */
  readonly setComputes: (namespace: string, nodeSet: string, hosts: readonly ComputeNode[]) => void
  /** Ends the cloud and deletes its data. */
  readonly remove: (namespace: string) => Promise<void>
  /** Ends all clouds and keeps their data. */
  readonly stop: () => Promise<void>
}

/** A node of a deployed node set. */
export interface ComputeNode {
  readonly name: string
  readonly cell: string
  /** By network, where the node set fixes it. */
  readonly addresses: Readonly<Record<string, string>>
}

export interface CloudsOptions {
  /** The root file system of hosts. */
  readonly root: string
  /** A folder per cloud and `clouds.json`. */
  readonly folder: string
}

export function createClouds({ root, folder }: CloudsOptions): OpenStackClouds {
  const clouds = new Map<string, Cloud>()
  const nodes = new Map<string, Map<string, readonly ComputeNode[]>>()
  const updateComputes = (namespace: string): void => {
    const all = [...(nodes.get(namespace)?.values() ?? [])].flat()
    const cloud = clouds.get(namespace)
    cloud?.setComputes(addressComputes(all, cloud.definition))
  }
  let writing: Promise<void> = Promise.resolve()
  const record = (): void => {
    writing = writing.then(async () => {
      const sorted = [...clouds].toSorted(([a], [b]) => (a < b ? -1 : 1))
      const records = sorted.map(([, cloud]) => describe(cloud, folder))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFileAtomically(recordFile(folder), `${JSON.stringify(records, null, 2)}\n`, { mode: 0o600 })
    })
    writing.catch(() => undefined)
  }
  const stopCloud = async (namespace: string): Promise<void> => {
    await clouds.get(namespace)?.stop()
    clouds.delete(namespace)
    record()
  }
  // What a killed sandbox has left is not true any more.
  record()
  return {
    ensure: async (definition, authority) => {
      const { namespace } = definition
      const running = clouds.get(namespace)
      if (running && JSON.stringify(running.definition) === JSON.stringify(definition)) return running.state()
      if (running) await stopCloud(namespace)
      const cloudFolder = path.join(folder, namespace)
      await mkdir(cloudFolder, { recursive: true, mode: 0o700 })
      const cloud = runCloud({ definition, root, folder: cloudFolder, authority, onChange: record })
      clouds.set(namespace, cloud)
      updateComputes(namespace)
      record()
      return cloud.state()
    },
    setComputes: (namespace, nodeSet, hosts) => {
      const sets = nodes.get(namespace) ?? new Map<string, readonly ComputeNode[]>()
      nodes.set(namespace, sets.set(nodeSet, hosts))
      updateComputes(namespace)
    },
    remove: async (namespace) => {
      nodes.delete(namespace)
      await stopCloud(namespace)
      await rm(path.join(folder, namespace), { recursive: true, force: true })
    },
    stop: async () => {
      await Promise.all([...clouds.keys()].map(stopCloud))
      await writing.catch(() => undefined)
    },
  }
}

/** Hosts without a fixed address get those below the client's, from the end of each subnet. */
function addressComputes(nodes: readonly ComputeNode[], { networks }: CloudDefinition): readonly ComputeRequest[] {
  return nodes.map(({ name, cell, addresses }, index) => ({
    name,
    cell,
    addresses: Object.fromEntries(
      networks.map((network) => {
        const last = parseAddress(network.clientAddress)
        const next = last && plus(last, -1 - index)
        return [network.name, addresses[network.name] ?? (next ? formatAddress(next) : network.clientAddress)]
      }),
    ),
  }))
}

function describe(cloud: Cloud, folder: string): CloudRecord {
  const { namespace, cloud: name, services, simulated } = cloud.definition
  return {
    namespace,
    cloud: name,
    state: cloud.state(),
    services,
    simulated,
    programs: cloud.programs(),
    computes: cloud.computes(),
    hosts: cloud.hosts(),
    logs: path.join(folder, namespace, 'logs'),
  }
}

function recordFile(folder: string): string {
  return path.join(folder, 'clouds.json')
}

/** Empty before the first cloud. */
export async function readClouds(folder: string): Promise<readonly CloudRecord[]> {
  const text = await readFile(recordFile(folder), 'utf8').catch(() => '[]')
  const records = JSON.parse(text) as readonly (Omit<CloudRecord, 'computes'> & Partial<CloudRecord>)[]
  // A sandbox that an earlier version started records no compute hosts.
  return records.map((record) => ({ computes: [], ...record }))
}
