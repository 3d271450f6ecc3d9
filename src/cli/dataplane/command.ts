/** `stackloom dataplane`: converts the Role/Node API to the NodeSet API. */
import type { Command } from 'commander'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { formatGroupKind, indexSnapshot } from '../../api/snapshot.ts'
import type { ConvertedDataPlane } from '../../dataplane/convert/convert-data-plane.ts'
import type { ServiceObject } from '../../dataplane/kinds/service-object.ts'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import { type ClusterFlags, gatherSnapshot, withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, outputOption, serialise, serialiseObjects } from '../output/format.ts'

interface Options extends ClusterFlags {
  readonly file?: string
  readonly from?: string
  readonly nodeSets?: boolean
  readonly output: Format
}

export function define(command: Command, { io, act }: CommandContext): void {
  const convert = command
    .command('convert')
    .description('Convert Role/Node objects to NodeSets, Services and a Deployment, and print them')
  withExamples(withClusterFlags(convert), [
    'stackloom dataplane convert -n openstack > nodesets.yaml    # from the cluster',
    'stackloom dataplane convert -f roles-and-nodes.yaml',
    'stackloom dataplane convert --from must-gather/ -o json',
    'stackloom dataplane convert -n openstack --node-sets         # hosts and nodeSets for the site file',
  ])
    .option('-f, --file <file>', 'read objects from this file, or from stdin with -')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .option('--node-sets', 'print hosts and nodeSets for a cloud of the site file instead of objects')
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
    .action((options: Options) => act(() => run(options, io)))
}

async function run(options: Options, io: Io): Promise<ExitCode> {
  const { convertDataPlane } = await import('../../dataplane/convert/convert-data-plane.ts')
  const { nodeServices } = await import('../../dataplane/service-definitions/all.ts')
  const { dataPlaneRoles } = await import('../../dataplane/kinds/data-plane.ts')
  const { dataPlaneNodes } = await import('../../dataplane/kinds/data-plane.ts')
  const { dataPlaneServices } = await import('../../dataplane/kinds/data-plane.ts')
  const serviceKinds = nodeServices.map(({ annotation }) => annotation.kind)
  const kinds = [dataPlaneRoles, dataPlaneNodes, dataPlaneServices, ...serviceKinds]
  const { objects, findings } = await gather(options, kinds, io)
  const index = indexSnapshot({ objects, unread: [] })
  const namespaces = [...new Set(objects.map(({ metadata }) => metadata.namespace))]
  const converted = namespaces
    .filter((name) => options.namespace === undefined || name === undefined || name === options.namespace)
    .map((namespace) => {
      const all = (kind: GroupVersionKind): never[] =>
        index.all(formatGroupKind(kind)).filter(({ metadata }) => metadata.namespace === namespace) as never[]
      return convertDataPlane({
        roles: all(dataPlaneRoles),
        nodes: all(dataPlaneNodes),
        services: all(dataPlaneServices),
        serviceObjects: nodeServices.flatMap(({ annotation }): readonly ServiceObject[] => all(annotation.kind)),
      })
    })
  if (options.nodeSets) return printNodeSets(converted, findings, options.output, io)
  return print(converted, findings, options.output, io)
}

/** One cloud is a namespace: its fields, to be added to it in the site file. */
async function printNodeSets(
  converted: readonly ConvertedDataPlane[],
  read: readonly Finding[],
  output: Format,
  io: Io,
): Promise<ExitCode> {
  const { convertToSite } = await import('../../dataplane/convert/convert-to-site.ts')
  const clouds = converted.filter(({ objects }) => objects.length > 0).map(convertToSite)
  if (clouds.length > 1) {
    const reason = 'the objects are in several namespaces; name one with -n'
    throw failure(wrongUse, { reason, command: 'stackloom dataplane convert' })
  }
  const findings = [...read, ...clouds.flatMap((cloud) => cloud.findings)]
  printFindings(findings, io)
  const cloud = clouds[0]?.cloud ?? {}
  io.stdout(await serialise(output === 'json' ? { ...cloud, findings } : cloud, output))
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

async function print(
  converted: readonly ConvertedDataPlane[],
  read: readonly Finding[],
  output: Format,
  io: Io,
): Promise<ExitCode> {
  const findings = [...read, ...converted.flatMap((converted) => converted.findings)]
  printFindings(findings, io)
  const objects = converted.flatMap((converted) => converted.objects)
  if (output === 'json') io.stdout(await serialiseObjects(objects))
  else {
    const texts = await Promise.all(objects.map((object) => serialise(object, 'yaml')))
    io.stdout(texts.map((text) => `---\n${text}`).join(''))
  }
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

interface Gathered {
  readonly objects: readonly KubeObject[]
  readonly findings: readonly Finding[]
}

async function gather(options: Options, kinds: readonly GroupVersionKind[], io: Io): Promise<Gathered> {
  if (options.file !== undefined) return fromFile(options.file, io)
  const { snapshot, findings } = await gatherSnapshot(options, kinds, io)
  return { objects: snapshot.objects, findings }
}

async function fromFile(file: string, io: Io): Promise<Gathered> {
  const { readYamlStream } = await import('../../yaml/read.ts')
  const readings = readYamlStream(await readInput(file, io), file)
  const values = readings.flatMap(({ value }) => itemsOf(value))
  return { objects: values.filter(isObject), findings: readings.flatMap((reading) => reading.findings) }
}

/** The items of a List, as `kubectl get -o yaml` prints it. */
function itemsOf(value: unknown): readonly unknown[] {
  const { items } = (value ?? {}) as { readonly items?: readonly unknown[] }
  return Array.isArray(items) ? items : [value]
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'metadata' in value && 'apiVersion' in value
}
