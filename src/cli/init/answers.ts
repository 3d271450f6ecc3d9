/** From options and questions to the answers that a starter file is made of. */
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

const STANDARD = {
  name: 'lab',
  nodes: 'worker-0=enp6s0,worker-1=enp6s0,worker-2=enp6s0',
  clouds: 'rhoso1=openstack',
  families: '4',
  dns: '192.168.122.1',
}

/** Options are answers already given; the rest is asked, or is the usual when there is nobody to ask. */
export async function gatherAnswers(options: InitOptions, ask: Prompter | undefined): Promise<StarterAnswers> {
  const { text, choose } = createAnswers(ask)

  const name = await text(options.name, 'Name of the site', STANDARD.name)
  const platform = await choose(options.platform, 'Platform of the cluster', ['openshift', 'kubernetes'])
  const nodes = await text(options.node?.join(','), 'Nodes and their NICs (name=nic,…)', STANDARD.nodes)
  const clouds = await text(options.cloud?.join(','), 'Clouds and their namespaces (name=namespace,…)', STANDARD.clouds)
  const isolation = await choose(options.isolation, 'How are clouds kept apart?', ['vlan-per-cloud', 'shared-vlan'])
  const families = await text(options.families, 'IP versions (4, 6 or 4,6)', STANDARD.families)
  const dns = await text(options.dns?.join(','), 'DNS servers that the clouds ask', STANDARD.dns)
  return {
    name,
    platform,
    nodes: words(nodes).map(nodeOf),
    clouds: words(clouds).map(cloudOf),
    isolation,
    families: words(families).map(familyOf),
    dns: words(dns).map(serverOf),
    storageClass: options.storageClass,
  }
}

function words(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

function nodeOf(given: string): StarterAnswers['nodes'][number] {
  const [name, nic, ...more] = given.split('=')
  if (name && nic && more.length === 0) return { name, nic }
  throw wrong('--node', given, 'a node and its NIC, such as worker-0=enp6s0')
}

/** The namespace of a cloud is its name, unless it says otherwise. */
function cloudOf(given: string): StarterAnswers['clouds'][number] {
  const [name, namespace = name, ...more] = given.split('=')
  if (name && namespace && more.length === 0) return { name, namespace }
  throw wrong('--cloud', given, 'a cloud and its namespace, such as rhoso1=openstack')
}

function familyOf(given: string): 4 | 6 {
  if (given === '4' || given === '6') return given === '4' ? 4 : 6
  throw wrong('--families', given, '4, 6 or 4,6')
}

function serverOf(given: string): string {
  if (parseAddress(given)) return given
  throw wrong('--dns', given, 'an IP address')
}

function wrong(option: string, given: string, expected: string): Error {
  return failure(invalidAnswer, { option, given, expected })
}
