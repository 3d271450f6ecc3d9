/** `stackloom config`: what the services on a node are configured with. */
import type { Command } from 'commander'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { configNotGenerated, noServiceOnNode } from '../../dataplane/findings/runs.ts'
import type { DataPlaneNode } from '../../dataplane/kinds/node.ts'
import type { DataPlaneRole } from '../../dataplane/kinds/role.ts'
import type { ServiceObject } from '../../dataplane/kinds/service-object.ts'
import type { ServiceDefinition } from '../../dataplane/service-definitions/definition.ts'
import type { ExplainedOption } from '../../dataplane/services/explain-config.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type ClusterFlags, openCluster, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

interface Options extends ClusterFlags {
  readonly node: string
  readonly overrides?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  const explain = command
    .command('explain')
    .description('The configuration that holds on a node, with the file and line of every value')
  withExamples(withClusterFlags(explain), [
    'stackloom config explain --node edpm-compute-0 -n openstack',
    'stackloom config explain --node edpm-compute-0 --overrides   # only what a person changed',
    'stackloom config explain --node edpm-compute-0 -o json',
  ])
    .requiredOption('--node <node>', 'the OpenStackDataPlaneNode')
    .option('--overrides', 'only options that customServiceConfig or ansibleVars set')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => show(options, io)))
}

interface Explained {
  readonly service: string
  readonly options: readonly ExplainedOption[]
  /** What Ansible variables set behind the back of the files. */
  readonly hidden: readonly Finding[]
}

interface Place {
  readonly namespace: string
  readonly name: string
}

/** The Ansible variables that hold for a node. */
async function variablesOf(
  client: KubeClient,
  place: Place,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { dataPlaneNodes } = await import('../../dataplane/kinds/node.ts')
  const { dataPlaneRoles } = await import('../../dataplane/kinds/role.ts')
  const { resolveNode } = await import('../../dataplane/rules/inheritance.ts')
  const node = (await client.get({ ...dataPlaneNodes, ...place }, { signal })) as DataPlaneNode | undefined
  if (!node) return {}
  const { role: name } = node.spec
  const ref = { ...dataPlaneRoles, namespace: place.namespace, name: name ?? '' }
  const role = name ? ((await client.get(ref, { signal })) as DataPlaneRole | undefined) : undefined
  return resolveNode(node, role).vars
}

async function show(options: Options, io: Io): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  try {
    const { nodeServices } = await import('../../dataplane/service-definitions/all.ts')
    const place = { namespace: options.namespace ?? connection.namespace, name: options.node }
    const found: Explained[] = []
    const vars = await variablesOf(connection.client, place, io.stop)
    for (const definition of nodeServices) {
      const one = await explainService(connection.client, definition, { place, vars }, io.stop)
      if (one) found.push(one)
    }
    if (found.length === 0) {
      const kinds = nodeServices.map(({ annotation }) => annotation.kind.kind)
      throw failure(noServiceOnNode, { node: objectKey(place), kinds }, { exitCode: 1 })
    }
    const wanted = options.overrides ? found.map(onlyOverrides) : found
    io.stderr(
      formatFindings(
        found.flatMap(({ hidden }) => hidden),
        io.colour.stderr,
      ),
    )
    const { output } = options
    io.stdout(
      output === 'table'
        ? wanted.map((explained) => words(explained, io.columns)).join('\n')
        : await serialise(
            wanted.map(({ service, options: all }) => ({ service, options: all })),
            output,
          ),
    )
    return 0
  } finally {
    await connection.close()
  }
}

async function explainService(
  client: KubeClient,
  definition: ServiceDefinition,
  { place, vars }: { readonly place: Place; readonly vars: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): Promise<Explained | undefined> {
  const { explainConfig } = await import('../../dataplane/services/explain-config.ts')
  const { checkAnsibleVars, findHiddenOptions } = await import('../../ini/ansible-vars.ts')
  const { parseIni } = await import('../../ini/parse.ts')
  const object = (await client.get({ ...definition.annotation.kind, ...place }, { signal })) as
    | ServiceObject
    | undefined
  if (!object) return undefined
  const name = definition.configSecret(place.name)
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace: place.namespace, name }, { signal })
  if (!secret) {
    const why = object.status?.conditions?.[0]?.message ?? 'no controller has looked at it yet'
    throw failure(configNotGenerated, { object: `${object.kind} ${objectKey(place)}`, why }, { exitCode: 1 })
  }
  const own = Object.fromEntries(
    Object.entries(vars).filter(([variable]) => variable.startsWith(definition.variablePrefix)),
  )
  const custom = parseIni(object.spec.customServiceConfig ?? '').assignments
  return {
    service: definition.name,
    options: explainConfig(filesOf(secret), findHiddenOptions(own)),
    hidden: checkAnsibleVars(own, custom),
  }
}

function filesOf(secret: KubeObject): Readonly<Record<string, string>> {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]))
}

function onlyOverrides({ service, options, hidden }: Explained): Explained {
  const byPerson = ({ values }: ExplainedOption): boolean => values.some(({ from }) => !from.startsWith('01-'))
  return { service, options: options.filter(byPerson), hidden }
}

function words({ service, options }: Explained, columns: number): string {
  const rows = options.flatMap(({ section, option, values, overridden }) =>
    values.map(({ value, from }) => {
      const before = overridden.at(-1)
      const was = before ? `  (${before.from} said ${before.value})` : ''
      return [`[${section}] ${option}`, from, `${value}${was}`]
    }),
  )
  if (rows.length === 0) return `${service}: nothing is overridden\n`
  return `${service}\n${formatTable(['OPTION', 'FROM', 'VALUE'], rows, columns)}`
}
