/** Defines `stackloom access`: writes clouds.yaml and CA of a running cloud and shows its URLs. Prints no password. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Command } from 'commander'
import type { Access } from '../../deploy/access.ts'
import { cloudNotFound, contextTaken, noKubeconfig } from '../../deploy/findings/access.ts'
import { type ExitCode, Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { Connection } from '../../kube/connect.ts'
import { type ClusterFlags, openCluster, withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { readInput, writeOutput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { once } from '../repeatable.ts'
import { siteFileOption } from '../site-file.ts'

interface Options extends ClusterFlags {
  readonly cloud: string
  readonly file: string
  readonly out: string
  /** True without a name. */
  readonly addContext?: string | true
  readonly output: Format
}

/** Mode of files that hold a password. */
const PRIVATE = { replace: true, mode: 0o600 } as const

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withConnectionFlags(command), [
    'stackloom access --cloud rhoso1            # writes clouds.yaml and the CA to this folder',
    'stackloom access --cloud rhoso1 --out ~/.config/openstack',
    'stackloom access --cloud rhoso1 --add-context   # a kubeconfig context rhoso1 with its namespace',
  ])
    .requiredOption('--cloud <cloud>', 'access this cloud', once)
    .addOption(siteFileOption('site file, for a cloud that no inventory lists'))
    .option('--out <dir>', 'write clouds.yaml and the CA to this folder; other clouds in the file stay', '.')
    .option('--add-context [name]', "add a context with the cloud's namespace (default: the cloud's name)")
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: Options) => act(() => run(options, io)))
}

async function run(options: Options, io: Io): Promise<ExitCode> {
  const { cloud, output } = options
  const connection = await openCluster(options, io)
  try {
    const namespace = await findNamespace(connection, options, io)
    const access = await read(connection, cloud, namespace)
    if (hasErrors(access.findings)) throw new Failure(access.findings, 1)
    printFindings(access.findings, io)
    const written = await writeAccess(cloud, access, options.out, io)
    const name = options.addContext === true ? cloud : options.addContext
    const context = name && (await addContext(name, namespace, { connection, flags: options }, io))
    const { authUrl, dashboard } = access
    const result = {
      cloud,
      namespace,
      ...written,
      ...(authUrl !== undefined && { authUrl }),
      ...(dashboard !== undefined && { dashboard }),
      client: `OS_CLIENT_CONFIG_FILE=${written.clouds} openstack --os-cloud ${cloud} endpoint list`,
      pod: `kubectl -n ${namespace} exec -it openstackclient -- openstack endpoint list`,
      ...(context && { context }),
    }
    io.stdout(output === 'table' ? formatRows(result) : await serialiseResult(result, output, access.findings))
    return 0
  } finally {
    await connection.close()
  }
}

async function read({ client }: Connection, cloud: string, namespace: string): Promise<Access> {
  const { readAccess, accessObjectRefs } = await import('../../deploy/access.ts')
  const { indexSnapshot } = await import('../../api/snapshot.ts')
  // By name, one by one: users of a cloud may not have the right to list its Secrets.
  const found = await Promise.all(accessObjectRefs(namespace).map((ref) => client.get(ref)))
  const objects = found.filter((object) => object !== undefined)
  return readAccess(cloud, namespace, indexSnapshot({ objects, unread: [] }))
}

async function findNamespace({ client }: Connection, { cloud, file }: Options, io: Io): Promise<string> {
  const { readInventory } = await import('../../deploy/inventory.ts')
  const recorded = (await readInventory(client, cloud))?.namespace
  if (recorded !== undefined) return recorded
  if (file === '-' || existsSync(path.resolve(io.cwd, file))) {
    const { readSite } = await import('../../site/read.ts')
    const { site } = readSite(await readInput(file, io), file)
    const found = site?.clouds.find(({ name }) => name === cloud)
    if (found) return found.namespace
  }
  throw failure(cloudNotFound, { cloud, file })
}

const labels: Readonly<Record<string, string>> = {
  clouds: 'clouds.yaml',
  ca: 'CA',
  authUrl: 'keystone',
  pod: 'in the cluster',
}

function formatRows(result: Readonly<Record<string, string>>): string {
  const rows = Object.entries(result).map(([key, value]) => [labels[key] ?? key, value] as const)
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}\n`).join('')
}

interface WrittenAccess {
  readonly clouds: string
  readonly ca?: string
}

async function writeAccess(cloud: string, { entry, ca }: Access, out: string, io: Io): Promise<WrittenAccess> {
  const folder = path.resolve(io.cwd, out)
  await mkdir(folder, { recursive: true })
  const clouds = path.join(folder, 'clouds.yaml')
  if (ca === undefined) {
    await writeOutput(clouds, await addCloud(clouds, cloud, { ...entry }, io), io, PRIVATE)
    return { clouds }
  }
  const caFile = path.join(folder, `${cloud}-ca.pem`)
  const text = await addCloud(clouds, cloud, { ...entry, cacert: caFile }, io)
  await writeOutput(caFile, ca, io, PRIVATE)
  await writeOutput(clouds, text, io, PRIVATE)
  return { clouds, ca: caFile }
}

/** Other clouds of the file stay, with their comments. */
async function addCloud(file: string, cloud: string, entry: object, io: Io): Promise<string> {
  const { writeYaml } = await import('../../yaml/write.ts')
  if (!existsSync(file)) return writeYaml({ clouds: { [cloud]: entry } })
  const { editYaml } = await import('../../yaml/edit.ts')
  const { readYaml } = await import('../../yaml/read.ts')
  const text = Buffer.from(await readInput(file, io)).toString('utf8')
  const { findings } = readYaml(text, file)
  if (hasErrors(findings)) throw new Failure(findings, 2)
  return editYaml(text, [{ path: ['clouds', cloud], value: entry }])
}

/** Adds a context to the kubeconfig that the command uses; the current context stays. */
async function addContext(
  name: string,
  namespace: string,
  { connection, flags }: { readonly connection: Connection; readonly flags: ClusterFlags },
  io: Io,
): Promise<string> {
  const { kubeconfigFiles } = await import('../../kube/cluster-access.ts')
  const { readKubeconfig } = await import('../../kube/kubeconfig.ts')
  const { addKubeconfigContext } = await import('../../deploy/access.ts')
  const { contexts } = await readKubeconfig(kubeconfigFiles({ kubeconfig: flags.kubeconfig, env: io.env }), false)
  const used = contexts.get(connection.context ?? '')
  if (!used) throw failure(noKubeconfig, {})
  const { cluster = '', user } = used.entry
  const context = { name, cluster, ...(user !== undefined && { user }), namespace }
  const { file } = contexts.get(name) ?? used
  const text = Buffer.from(await readInput(file, io)).toString('utf8')
  const result = addKubeconfigContext(text, context)
  if (result.kind === 'taken') throw failure(contextTaken, { context: name, file }, { exitCode: 1 })
  if (result.kind === 'added') await writeOutput(used.file, result.text, io, PRIVATE)
  return name
}
