/** Gathers the answers for a starter file, from options and questions. */
import { failure } from '../../errors/failure.ts'
import { invalidAnswer } from '../../errors/new-file.ts'
import { parseAddress } from '../../net/address.ts'
import type { StarterAnswers } from '../../site/starter.ts'
import { createAnswers, type Prompter } from '../questions.ts'

export interface InitOptions {
  readonly name?: string
  readonly platform?: StarterAnswers['platform']
  readonly node?: readonly string[]
  readonly cloud?: readonly string[]
  readonly families?: string
  readonly isolation?: StarterAnswers['isolation']
  readonly dns?: readonly string[]
  readonly storageClass?: string
}

const DEFAULTS = {
  name: 'lab',
  nodes: 'worker-0=enp6s0,worker-1=enp6s0,worker-2=enp6s0',
  clouds: 'rhoso1=openstack',
  families: '4',
  dns: '192.168.122.1',
}

/** Takes answers from options; asks for the rest in a terminal, and uses defaults without one. */
export async function gatherAnswers(options: InitOptions, ask: Prompter | undefined): Promise<StarterAnswers> {
  const { text, choose } = createAnswers(ask)

  const name = await text(options.name, 'Name of the site', DEFAULTS.name)
  const platform = await choose(options.platform, 'Platform of the cluster', ['openshift', 'kubernetes'])
  const nodes = await text(options.node?.join(','), 'Nodes and their NICs (name=nic,…)', DEFAULTS.nodes)
  const clouds = await text(options.cloud?.join(','), 'Clouds and their namespaces (name=namespace,…)', DEFAULTS.clouds)
  const isolation = await choose(options.isolation, 'How are clouds isolated?', ['vlan-per-cloud', 'shared-vlan'])
  const families = await text(options.families, 'IP versions (4, 6 or 4,6)', DEFAULTS.families)
  const dns = await text(options.dns?.join(','), 'DNS servers for the clouds', DEFAULTS.dns)
  return {
    name,
    platform,
    nodes: splitList(nodes).map(parseNode),
    clouds: splitList(clouds).map(parseCloud),
    isolation,
    families: splitList(families).map(parseFamily),
    dns: splitList(dns).map(parseServer),
    storageClass: options.storageClass,
  }
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function parseNode(given: string): StarterAnswers['nodes'][number] {
  const [name, nic, ...more] = given.split('=')
  if (name && nic && more.length === 0) return { name, nic }
  throw invalid('--node', given, 'a node and its NIC, such as worker-0=enp6s0')
}

/** The namespace of a cloud is its name by default. */
function parseCloud(given: string): StarterAnswers['clouds'][number] {
  const [name, namespace = name, ...more] = given.split('=')
  if (name && namespace && more.length === 0) return { name, namespace }
  throw invalid('--cloud', given, 'a cloud and its namespace, such as rhoso1=openstack')
}

function parseFamily(given: string): 4 | 6 {
  if (given === '4' || given === '6') return given === '4' ? 4 : 6
  throw invalid('--families', given, '4, 6 or 4,6')
}

function parseServer(given: string): string {
  if (parseAddress(given)) return given
  throw invalid('--dns', given, 'an IP address')
}

function invalid(option: string, given: string, expected: string): Error {
  return failure(invalidAnswer, { option, given, expected })
}
