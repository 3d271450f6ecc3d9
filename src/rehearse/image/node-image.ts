/** Builds the image of a node once, from Debian packages and the real programs, into the user's cache. */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { readData } from '../../data/data.ts'
import { failure } from '../../errors/failure.ts'
import type { Exec, Program } from '../../exec/process.ts'
import { ensureFolder, publishFolder } from '../../sandbox/build/cache-folder.ts'
import { readDebianSources, runBuildStep } from '../../sandbox/build/debian-root.ts'
import { type BuildContext, ensurePrograms } from '../../sandbox/build/ensure-programs.ts'
import { openEnclosure } from '../enclosure.ts'
import { partFailed } from '../findings.ts'
import { DISK_SIZE, type ImageRecipe, imageKey, nodeImageArgs } from './image-recipe.ts'
import { ensureNmstatectl } from './nmstatectl.ts'
import { markUsed, removeUnused } from './unused-folders.ts'

export interface NodeImage {
  readonly key: string
  readonly folder: string
  readonly kernel: string
  readonly initrd: string
  readonly disk: string
}

const PLUGINS = ['cni-bridge', 'cni-host-local', 'cni-macvlan', 'cni-static', 'multus', 'whereabouts'] as const
const PROGRAMS = [...PLUGINS, 'metallb-speaker'] as const

export async function ensureNodeImage(context: BuildContext): Promise<NodeImage> {
  const nmstatectl = await ensureNmstatectl(context)
  const plugins = await ensurePrograms(PROGRAMS, context)
  const programs = { nmstatectl, ...plugins }
  const recipe: ImageRecipe = {
    ...(await readDebianSources()),
    agent: readData('rehearse/agent.sh'),
    customize: readData('rehearse/customize-image.sh'),
    // The folders in the cache are named after the content of the programs.
    programs: Object.fromEntries(
      Object.entries(programs).map(([name, file]) => [name, path.relative(context.paths.cache, file)]),
    ),
  }
  const key = imageKey(recipe)
  const folder = path.join(context.paths.cache, 'rehearse', `image-${key}`)
  const { notify, signal } = context
  const waiting = 'waiting for another process that builds the node image'
  await ensureFolder(folder, { what: 'the node image', waiting, notify, signal }, async () => {
    await publishFolder(folder, (temporary) => build(recipe, programs, temporary, context))
    await removeUnused(folder)
  })
  await markUsed(folder)
  const file = (name: string): string => path.join(folder, name)
  return { key, folder, kernel: file('vmlinuz'), initrd: file('initrd'), disk: file('disk.qcow2') }
}

async function build(
  recipe: ImageRecipe,
  programs: Readonly<Record<(typeof PROGRAMS)[number] | 'nmstatectl', string>>,
  out: string,
  { notify, signal }: BuildContext,
): Promise<void> {
  const work = path.join(out, 'work')
  const folders = {
    files: path.join(work, 'files'),
    customize: path.join(work, 'customize-image.sh'),
    root: path.join(work, 'root'),
    out,
  }
  await mkdir(path.join(folders.files, 'cni'), { recursive: true })
  await writeFile(folders.customize, recipe.customize)
  await writeFile(path.join(folders.files, 'agent.sh'), recipe.agent)
  await copyFile(programs.nmstatectl, path.join(folders.files, 'nmstatectl'))
  await copyFile(programs['metallb-speaker'], path.join(folders.files, 'speaker'))
  for (const name of PLUGINS) {
    await copyFile(programs[name], path.join(folders.files, 'cni', name.replace('cni-', '')))
  }
  notify({
    kind: 'announcement',
    text: `Building the image of a node from Debian ${recipe.suite} packages. This is done once and takes some minutes.`,
  })
  const step = (exec: Exec, text: string, program: Program): Promise<void> =>
    runBuildStep({
      exec,
      program,
      text,
      folder: path.dirname(out),
      notify,
      signal,
      onFailure: (reason) => failure(partFailed, { part: 'the node image', reason }),
    })
  // mmdebstrap mounts file systems in the root folder: they end with the enclosure.
  const enclosure = await openEnclosure({ network: 'host' })
  try {
    const env = { TMPDIR: work }
    const raw = path.join(work, 'disk.raw')
    const { exec } = enclosure
    await step(exec, 'node image', { file: 'mmdebstrap', args: nodeImageArgs(recipe, folders), env })
    await step(exec, 'node image: creating the disk', {
      file: 'mke2fs',
      args: ['-q', '-t', 'ext4', '-d', folders.root, raw, DISK_SIZE],
    })
    await step(exec, 'node image: converting the disk', {
      file: 'qemu-img',
      args: ['convert', '-f', 'raw', '-O', 'qcow2', raw, path.join(out, 'disk.qcow2')],
    })
  } finally {
    await enclosure.close()
    await rm(work, { recursive: true, force: true })
  }
}
