/** `stackloom render`: every object of every cloud, as a stream or as a GitOps tree. */
import path from 'node:path'
import { type Command, Option } from 'commander'
import { closestMatch } from '../../errors/closest-match.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import { unknownName } from '../../plan/findings/lock.ts'
import type { GitopsTool } from '../../render/gitops/tree.ts'
import type { RenderedDocument } from '../../render/render.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { formatFindings } from '../output/findings.ts'
import { type Planning, type PlanningOptions, planFromFiles, saveLock, withPlanningOptions } from '../planning.ts'

interface Options extends PlanningOptions {
  readonly out?: string
  readonly gitops?: GitopsTool
  readonly crds?: string
  readonly cloud?: string
  readonly output: 'yaml' | 'json' | 'name'
}

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withPlanningOptions(command), [
    'stackloom render                            # the stream of everything in site.yaml',
    'stackloom render --cloud rhoso2 | kubectl diff --server-side -f -',
    'stackloom render --out tree --gitops argocd # a tree to commit, with sync waves',
    'stackloom render --locked --out tree        # in a pipeline: nothing is decided anew',
  ])
    .option('--out <dir>', 'write a tree of files there instead')
    .addOption(new Option('--gitops <tool>', 'annotate and order for a tool').choices(['argocd', 'flux']))
    .addOption(new Option('--crds <set>', "the form of the control plane's API").choices(['today', '2023']))
    .addOption(new Option('--cloud <name>', 'only the documents of one cloud').conflicts('out'))
    .addOption(
      new Option('-o, --output <format>', 'form of the stream').choices(['yaml', 'json', 'name']).default('yaml'),
    )
    .action((options: Options) => act(() => render(options, io)))
}

async function render(options: Options, io: Io): Promise<ExitCode> {
  const { crds, ...rest } = options
  const planning = await planFromFiles({ ...rest, ...(crds !== undefined && { crd: crds }) }, io)
  io.stderr(formatFindings(planning.findings, io.colour.stderr))
  if (hasErrors(planning.findings)) return 1
  refuseUnknownCloud(planning, options.cloud)
  const { renderDocuments } = await import('../../render/render.ts')
  const documents = renderDocuments(planning.plan)
  // The lock first: documents without the decisions that they were made from would be lost ones.
  if (!options.locked) await saveLock(planning, io)
  if (options.out === undefined) io.stdout(await stream(documents, options))
  else await writeOut(planning, documents, options, io)
  return 0
}

function refuseUnknownCloud({ plan }: Planning, name: string | undefined): void {
  const known = plan.clouds.map((cloud) => cloud.name)
  if (name === undefined || known.includes(name)) return
  throw failure(unknownName, { option: '--cloud', name, nearest: closestMatch(name, known) })
}

async function stream(documents: readonly RenderedDocument[], { gitops, cloud, output }: Options): Promise<string> {
  const { sortByLayer } = await import('../../render/gitops/layers.ts')
  const { annotateForTool } = await import('../../render/gitops/tree.ts')
  const wanted = documents.filter((document) => cloud === undefined || document.cloud === cloud)
  const objects = sortByLayer(annotateForTool(wanted, gitops)).map(({ object }) => object)
  if (output === 'json') {
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2)}\n`
  }
  if (output === 'name') {
    const { objectIdentity } = await import('../../api/object.ts')
    return objects.map((object) => `${objectIdentity(object)}\n`).join('')
  }
  const { writeYamlStream } = await import('../../yaml/write.ts')
  return writeYamlStream(objects)
}

async function writeOut(
  { plan }: Planning,
  documents: readonly RenderedDocument[],
  { out = '.', gitops }: Options,
  io: Io,
): Promise<void> {
  const { gitopsTree } = await import('../../render/gitops/tree.ts')
  const { writeTree } = await import('./write-tree.ts')
  const tree = gitopsTree(plan, documents, gitops)
  const { written, removed, findings } = await writeTree(path.resolve(io.cwd, out), tree)
  io.stderr(formatFindings(findings, io.colour.stderr))
  const changed = written.length + removed.length
  const what = changed === 0 ? 'nothing changed' : `${written.length} written, ${removed.length} removed`
  io.stderr(`${out}: ${tree.size} files, ${what}\n`)
}
