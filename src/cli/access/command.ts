/** `stackloom access`: clouds.yaml and CA of a cloud that runs, and where its dashboard is. Prints no password. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import type { Access } from '../../deploy/access.ts'
import { cloudNotFound } from '../../deploy/findings/access.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { Connection } from '../../kube/connect.ts'
import { openCluster } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { addContext } from './context.ts'
import { type WrittenAccess, writeAccess } from './files.ts'

interface Options {
  readonly cloud: string
  readonly file: string
  readonly out: string
  readonly kubeconfig?: string
  readonly useContext?: string
  /** True without a name. */
  readonly context?: string | true
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom access --cloud rhoso1            # clouds.yaml and the CA, here',
    'stackloom access --cloud rhoso1 --out ~/.config/openstack',
    'stackloom access --cloud rhoso1 --context  # a kubeconfig context rhoso1 with its namespace',
  ])
    .requiredOption('--cloud <name>', 'the cloud to get into')
    .option('-f, --file <file>', 'the site file, for a cloud that no inventory lists', 'site.yaml')
    .option('--out <dir>', 'where clouds.yaml and the CA go; other clouds in that file stay', '.')
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG, ~/.kube/config, the pod)')
    .option('--use-context <name>', 'context of the kubeconfig to use (default: its current one)')
    .option('--context [name]', "add a context with the cloud's namespace (default: the cloud's name)")
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => run(options, io)))
}

async function run(options: Options, io: Io): Promise<ExitCode> {
  const { cloud, kubeconfig, useContext } = options
  const flags = { ...(kubeconfig && { kubeconfig }), ...(useContext && { context: useContext }) }
  const connection = await openCluster(flags, io)
  try {
    const namespace = await namespaceOf(connection, options, io)
    const access = await look(connection, cloud, namespace)
    if (hasErrors(access.findings)) throw new Failure(access.findings, 1)
    io.stderr(formatFindings(access.findings, io.colour.stderr))
    const written = await writeAccess(cloud, access, options.out, io)
    const context =
      options.context &&
      (await addContext(options.context === true ? cloud : options.context, namespace, { connection, flags }, io))
    const shown = {
      cloud,
      namespace,
      ...written,
      ...told(cloud, namespace, access, written),
      ...(context && { context }),
    }
    io.stdout(options.output === 'table' ? lines(shown) : await serialise(shown, options.output))
    return 0
  } finally {
    await connection.close()
  }
}

async function look({ client }: Connection, cloud: string, namespace: string): Promise<Access> {
  const { readAccess, accessObjectRefs } = await import('../../deploy/access.ts')
  const { indexSnapshot } = await import('../../api/snapshot.ts')
  // By name, one by one: whoever may use a cloud may not list all its Secrets.
  const found = await Promise.all(accessObjectRefs(namespace).map((ref) => client.get(ref)))
  return readAccess(cloud, namespace, indexSnapshot({ objects: found.filter((one) => one !== undefined), unread: [] }))
}

async function namespaceOf({ client }: Connection, { cloud, file }: Options, io: Io): Promise<string> {
  const { readInventory } = await import('../../deploy/inventory.ts')
  const recorded = (await readInventory(client, cloud))?.namespace
  if (recorded !== undefined) return recorded
  if (file === '-' || existsSync(path.resolve(io.cwd, file))) {
    const { readSite } = await import('../../site/read.ts')
    const { readInput } = await import('../files.ts')
    const { site } = readSite(await readInput(file, io), file)
    const found = site?.clouds.find(({ name }) => name === cloud)
    if (found) return found.namespace
  }
  throw failure(cloudNotFound, { cloud, file })
}

/** What a person types next. */
function told(cloud: string, namespace: string, { authUrl, dashboard }: Access, { clouds }: WrittenAccess) {
  return {
    ...(authUrl !== undefined && { authUrl }),
    ...(dashboard !== undefined && { dashboard }),
    client: `OS_CLIENT_CONFIG_FILE=${clouds} openstack --os-cloud ${cloud} endpoint list`,
    pod: `kubectl -n ${namespace} exec -it openstackclient -- openstack endpoint list`,
  }
}

function lines(shown: Readonly<Record<string, string>>): string {
  const words: Readonly<Record<string, string>> = {
    clouds: 'clouds.yaml',
    ca: 'CA',
    authUrl: 'keystone',
    pod: 'in the cluster',
  }
  const rows = Object.entries(shown).map(([key, value]) => [words[key] ?? key, value] as const)
  const width = Math.max(...rows.map(([key]) => key.length))
  return rows.map(([key, value]) => `${key.padEnd(width)}  ${value}\n`).join('')
}
