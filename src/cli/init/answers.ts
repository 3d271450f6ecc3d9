/** Gathers the answers for a starter file, from options and questions. */
import { Failure, failure } from '../../errors/failure.ts'
import { invalidAnswer } from '../../errors/new-file.ts'
import { parseAddress } from '../../net/address.ts'
import { readSite } from '../../site/read.ts'
import { renderStarterSite, type StarterAnswers } from '../../site/starter.ts'
import { type AnswerCheck, createAnswers, type Prompter } from '../questions.ts'

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

/** Answers as they are typed. */
interface TypedAnswers {
  readonly name: string
  readonly nodes: string
  readonly clouds: string
  readonly families: string
  readonly dns: string
}

const DEFAULTS: TypedAnswers = {
  name: 'lab',
  nodes: 'worker-0=enp6s0,worker-1=enp6s0,worker-2=enp6s0',
  clouds: 'rhoso1=openstack',
  families: '4',
  dns: '192.168.122.1',
}

interface GatheredAnswers {
  readonly answers: StarterAnswers
  /** The defaults that were used because there is no terminal to ask on. */
  readonly assumed: readonly string[]
}

/** Takes answers from options; asks for the rest in a terminal, and uses defaults without one. */
export async function gatherAnswers(options: InitOptions, ask: Prompter | undefined): Promise<GatheredAnswers> {
  const { text, choose, assumed } = createAnswers(ask)
  const ofField =
    (field: keyof TypedAnswers): AnswerCheck =>
    (answer) =>
      findReason({ ...DEFAULTS, [field]: answer })

  const name = await text(options.name, 'Name of the site', DEFAULTS.name, ofField('name'))
  const platform = await choose(options.platform, 'Platform of the cluster', ['openshift', 'kubernetes'])
  const nodes = await text(
    options.node?.join(','),
    'Nodes and their NICs (name=nic,…)',
    DEFAULTS.nodes,
    ofField('nodes'),
  )
  const clouds = await text(
    options.cloud?.join(','),
    'Clouds (name,… or name=namespace,…)',
    DEFAULTS.clouds,
    ofField('clouds'),
  )
  const isolation = await choose(options.isolation, 'How are clouds isolated?', ['vlan-per-cloud', 'shared-vlan'])
  const families = await text(options.families, 'IP versions (4, 6 or 4,6)', DEFAULTS.families, ofField('families'))
  const dns = await text(options.dns?.join(','), 'DNS servers for the clouds', DEFAULTS.dns, ofField('dns'))
  const typed = parseTyped({ name, nodes, clouds, families, dns })
  return { answers: { ...typed, platform, isolation, storageClass: options.storageClass }, assumed: assumed() }
}

/** The file that the answers lead to is read as any other, so that a prompt refuses what a site file cannot have. */
function findReason(typed: TypedAnswers): string | undefined {
  try {
    const parsed = parseTyped(typed)
    const site = renderStarterSite({
      ...parsed,
      platform: 'openshift',
      isolation: 'vlan-per-cloud',
      storageClass: undefined,
    })
    return readSite(site, 'site.yaml').findings.find(({ severity }) => severity === 'error')?.message
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.findings[0]?.message
    throw thrown
  }
}

type ParsedAnswers = Omit<StarterAnswers, 'platform' | 'isolation' | 'storageClass'>

function parseTyped({ name, nodes, clouds, families, dns }: TypedAnswers): ParsedAnswers {
  return {
    name,
    nodes: splitList(nodes).map(parseNode),
    clouds: splitList(clouds).map(parseCloud),
    families: splitList(families).map(parseFamily),
    dns: splitList(dns).map(parseServer),
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
