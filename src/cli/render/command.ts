/** Defines `stackloom render`: prints every object of every cloud, or writes them as a GitOps tree. */
import path from 'node:path'
import { type Command, Option } from 'commander'
import type { KubeObject } from '../../api/object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { unknownName } from '../../plan/findings/lock.ts'
import type { GitopsTool } from '../../render/gitops/tree.ts'
import type { RenderedDocument } from '../../render/render.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import {
  failOnErrors,
  type Planning,
  type PlanningOptions,
  planFromFiles,
  saveLock,
  withPlanningOptions,
} from '../planning.ts'
import { repeatable } from '../repeatable.ts'

const gitopsTools: readonly GitopsTool[] = ['argocd', 'flux']

interface Options extends PlanningOptions {
  readonly out?: string
  readonly overwrite?: boolean
  readonly gitops?: GitopsTool | 'none'
  readonly repository?: string
  readonly cloud?: readonly string[]
  readonly output: 'yaml' | 'json' | 'name'
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withPlanningOptions(command), [
    'stackloom render                            # prints everything of site.yaml',
    'stackloom render --cloud rhoso2 | kubectl diff --server-side -f -',
    'stackloom render --out tree --gitops argocd # writes a tree to commit, with sync waves',
    'stackloom render --out tree --gitops argocd --repository https://git.example.com/clouds.git',
    'stackloom render --locked --out tree        # in a pipeline: fails instead of deciding; the tree knows its tool',
  ])
    .option('--out <dir>', 'write a tree of files to this folder instead')
    .option('--overwrite', 'overwrite files of the tree that were edited by hand')
    .addOption(
      new Option('--gitops <tool>', 'annotate and order for this tool; a tree remembers it (none: no tool)').choices([
        ...gitopsTools,
        'none',
      ]),
    )
    .option(
      '--repository <url>',
      'argocd: write Applications that sync the tree from the root of this repository; a tree remembers it',
    )
    .option('--crd <source>', 'render for other CRDs: a release, or a file or folder with CRDs')
    .addOption(
      new Option('--cloud <cloud>', 'render only the documents of this cloud; may be repeated')
        .argParser(repeatable)
        .conflicts('out'),
    )
    .addOption(
      new Option('-o, --output <format>', 'format of the output').choices(['yaml', 'json', 'name']).default('yaml'),
    )
    .action((options: Options) => act(() => render(options, io)))
}

async function render(given: Options, io: Io): Promise<ExitCode> {
  if (given.crd === 'live') {
    throw failure(wrongUse, { reason: '--crd live needs a cluster: plan with it first', command: 'stackloom render' })
  }
  const options = await addRemembered(given, io)
  if (options.repository !== undefined && (options.gitops !== 'argocd' || options.out === undefined)) {
    const reason = '--repository needs --out and --gitops argocd'
    throw failure(wrongUse, { reason, command: 'stackloom render' })
  }
  const planning = await planFromFiles(options, io)
  failOnErrors(planning)
  printFindings(planning.findings, io)
  rejectUnknownClouds(planning, options.cloud ?? [])
  const { renderDocuments } = await import('../../render/render.ts')
  const documents = renderDocuments(planning.plan)
  // The lock comes first: documents must not exist without the decisions that they result from.
  if (!options.locked) await saveLock(planning, io)
  if (options.out === undefined) io.stdout(await formatStream(documents, options))
  else await writeOut(planning, documents, options, io)
  return 0
}

/** A pipeline that forgets the options of a tree would otherwise remove its sync waves and Applications. */
async function addRemembered(given: Options, io: Io): Promise<Options> {
  if (given.out === undefined) return given
  const { readRemembered } = await import('./write-tree.ts')
  const { gitops, repository } = await readRemembered(path.resolve(io.cwd, given.out))
  const tool = gitopsTools.find((name) => name === gitops)
  if (tool === undefined || (given.gitops ?? tool) !== tool) return given
  return { ...given, gitops: tool, ...(repository !== undefined && { repository: given.repository ?? repository }) }
}

function rejectUnknownClouds({ plan }: Planning, names: readonly string[]): void {
  const known = plan.clouds.map((cloud) => cloud.name)
  const name = names.find((given) => !known.includes(given))
  if (name === undefined) return
  throw failure(unknownName, { option: '--cloud', name, nearest: closestMatch(name, known) })
}

async function formatStream(
  documents: readonly RenderedDocument[],
  { gitops, cloud, output }: Options,
): Promise<string> {
  const { sortByLayer } = await import('../../render/gitops/layers.ts')
  const { annotateForTool } = await import('../../render/gitops/tree.ts')
  const selected = documents.filter((document) => cloud === undefined || cloud.includes(document.cloud ?? ''))
  const objects = sortByLayer(annotateForTool(selected, toTool(gitops))).map(({ object }) => object)
  if (output === 'json') {
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2)}\n`
  }
  if (output === 'name') {
    return objects.map((object) => `${formatKubectlName(object)}\n`).join('')
  }
  const { writeYamlStream } = await import('../../yaml/write.ts')
  return writeYamlStream(objects)
}

/** `ipaddresspool.metallb.io/openstack-storage`: what kubectl prints with `-o name` and accepts as an argument. */
function formatKubectlName({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : ''
  return `${kind.toLowerCase()}${group}/${metadata.name}`
}

function toTool(given: Options['gitops']): GitopsTool | undefined {
  return given === 'none' ? undefined : given
}

async function writeOut(
  { plan }: Planning,
  documents: readonly RenderedDocument[],
  { out = '.', gitops, repository, overwrite = false }: Options,
  io: Io,
): Promise<void> {
  const { gitopsTree } = await import('../../render/gitops/tree.ts')
  const { writeTree } = await import('./write-tree.ts')
  const tool = toTool(gitops)
  const tree = gitopsTree(plan, documents, tool, repository)
  // From here on a signal waits: the tree changes as a whole.
  io.stop.throwIfAborted()
  const remembered = { ...(tool && { gitops: tool }), ...(repository !== undefined && { repository }) }
  const { written, removed, findings } = await writeTree(path.resolve(io.cwd, out), tree, { overwrite, remembered })
  printFindings(findings, io)
  const changed = written.length + removed.length
  const what = changed === 0 ? 'nothing changed' : `${written.length} written, ${removed.length} removed`
  io.stderr(`${out}: ${tree.size} files, ${what}\n`)
}
