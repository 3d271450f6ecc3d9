/** `stackloom config`: shows the configuration of the services on a node. */
import type { Command } from 'commander'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { configNotGenerated, noServiceOnNode } from '../../dataplane/findings/runs.ts'
import type { DataPlaneNode, DataPlaneRole } from '../../dataplane/kinds/data-plane.ts'
import type { ServiceObject } from '../../dataplane/kinds/service-object.ts'
import type { ServiceDefinition } from '../../dataplane/service-definitions/definition.ts'
import type { ExplainedOption } from '../../dataplane/services/explain-config.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type ClusterFlags, openCluster, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

interface Options extends ClusterFlags {
  readonly node: string
  readonly overrides?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  const explain = command
    .command('explain')
    .description('Show the effective configuration of a node, with the file and line of every value')
  withExamples(withClusterFlags(explain), [
    'stackloom config explain --node edpm-compute-0 -n openstack',
    'stackloom config explain --node edpm-compute-0 --overrides   # only changed options',
    'stackloom config explain --node edpm-compute-0 -o json',
  ])
    .requiredOption('--node <host>', 'name of the OpenStackDataPlaneNode')
    .option('--overrides', 'show only options that customServiceConfig or ansibleVars set')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => show(options, io)))
}

interface Explained {
  readonly service: string
  readonly options: readonly ExplainedOption[]
  /** Options that Ansible variables set in addition to the files. */
  readonly hidden: readonly Finding[]
}

interface NodeRef {
  readonly namespace: string
  readonly name: string
}

/** The effective Ansible variables of a node. */
async function readAnsibleVars(
  client: KubeClient,
  { namespace, name }: NodeRef,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { dataPlaneNodes } = await import('../../dataplane/kinds/data-plane.ts')
  const { dataPlaneRoles } = await import('../../dataplane/kinds/data-plane.ts')
  const { resolveNode } = await import('../../dataplane/rules/inheritance.ts')
  const node = (await client.get({ ...dataPlaneNodes, namespace, name }, { signal })) as DataPlaneNode | undefined
  if (!node) return {}
  const { role: roleName } = node.spec
  const ref = { ...dataPlaneRoles, namespace, name: roleName ?? '' }
  const role = roleName ? ((await client.get(ref, { signal })) as DataPlaneRole | undefined) : undefined
  return resolveNode(node, role).vars
}

async function show(options: Options, io: Io): Promise<ExitCode> {
  const connection = await openCluster(options, io)
  try {
    const { nodeServices } = await import('../../dataplane/service-definitions/all.ts')
    const node = { namespace: options.namespace ?? connection.namespace, name: options.node }
    const services: Explained[] = []
    const vars = await readAnsibleVars(connection.client, node, io.stop)
    for (const definition of nodeServices) {
      const explained = await explainService(connection.client, definition, { node, vars }, io.stop)
      if (explained) services.push(explained)
    }
    if (services.length === 0) {
      const kinds = nodeServices.map(({ annotation }) => annotation.kind.kind)
      throw failure(noServiceOnNode, { node: objectKey(node), kinds }, { exitCode: 1 })
    }
    const hidden = services.flatMap((explained) => explained.hidden)
    printFindings(hidden, io)
    const { output } = options
    const shown = options.overrides ? services.map(onlyOverrides) : services
    io.stdout(
      output === 'table'
        ? shown.map((explained) => formatExplained(explained, io)).join('\n')
        : await serialiseResult(
            {
              services: shown.map(({ service, options: explainedOptions }) => ({ service, options: explainedOptions })),
            },
            output,
            hidden,
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
  { node, vars }: { readonly node: NodeRef; readonly vars: Readonly<Record<string, unknown>> },
  signal: AbortSignal,
): Promise<Explained | undefined> {
  const { explainConfig } = await import('../../dataplane/services/explain-config.ts')
  const { checkAnsibleVars, findHiddenOptions } = await import('../../ini/ansible-vars.ts')
  const { parseIni } = await import('../../ini/parse.ts')
  const object = (await client.get({ ...definition.annotation.kind, ...node }, { signal })) as ServiceObject | undefined
  if (!object) return undefined
  const name = definition.configSecret(node.name)
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace: node.namespace, name }, { signal })
  if (!secret) {
    const why = object.status?.conditions?.[0]?.message ?? 'it is not reconciled yet'
    throw failure(configNotGenerated, { object: `${object.kind} ${objectKey(node)}`, why }, { exitCode: 1 })
  }
  const serviceVars = Object.fromEntries(
    Object.entries(vars).filter(([variable]) => variable.startsWith(definition.variablePrefix)),
  )
  const custom = parseIni(object.spec.customServiceConfig ?? '').assignments
  return {
    service: definition.name,
    options: explainConfig(decodeFiles(secret), findHiddenOptions(serviceVars)),
    hidden: checkAnsibleVars(serviceVars, custom),
  }
}

function decodeFiles(secret: KubeObject): Readonly<Record<string, string>> {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]))
}

function onlyOverrides({ service, options, hidden }: Explained): Explained {
  const isOverridden = ({ values }: ExplainedOption): boolean => values.some(({ from }) => !from.startsWith('01-'))
  return { service, options: options.filter(isOverridden), hidden }
}

function formatExplained({ service, options }: Explained, { columns, colour }: Io): string {
  const rows = options.flatMap(({ section, option, values, overridden }) =>
    values.map(({ value, from }) => {
      const previous = overridden.at(-1)
      const note = previous ? `  (${previous.from}: ${previous.value})` : ''
      return [`[${section}] ${option}`, from, `${value}${note}`]
    }),
  )
  if (rows.length === 0) return `${service}: no option is overridden\n`
  return `${service}\n${formatTable(['OPTION', 'FROM', 'VALUE'], rows, columns, colour.stdout)}`
}
