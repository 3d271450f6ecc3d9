/** Reads what an import needs: files, a live cluster or a folder of dumps. */
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { SiteFileCloud } from '../../api/site.ts'
import { wrongUse } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import type { Imported, ImportSource } from '../../site/import/imported-site.ts'
import { decodeText } from '../../yaml/decode.ts'
import { gatherSnapshot } from '../cluster.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import type { ImportOptions } from './command.ts'

export async function importFrom(files: readonly string[], options: ImportOptions, io: Io): Promise<Imported> {
  const { into } = options
  if (into === undefined) return importSources(files, options, io, [])
  const { text, findings } = decodeText(await readInput(into, io), into)
  if (hasErrors(findings)) return { findings }
  const { addClouds, listClouds } = await import('../../site/import/imported-site.ts')
  const imported = await importSources(files, options, io, listClouds({ file: into, text }))
  return imported.text === undefined ? imported : addClouds({ file: into, text }, imported)
}

async function importSources(
  files: readonly string[],
  options: ImportOptions,
  io: Io,
  existing: readonly SiteFileCloud[],
): Promise<Imported> {
  const name = options.name ?? 'imported'
  if (options.source === 'cluster') return fromCluster(name, options, io)
  const { sources, findings } = await readSources(files, options, io)
  if (hasErrors(findings)) return { findings }
  const imported = await importTexts(sources, options, name, existing)
  return { ...imported, findings: [...findings, ...imported.findings] }
}

interface ReadSources {
  readonly sources: readonly ImportSource[]
  readonly findings: readonly Finding[]
}

/** For values files a folder may be given: it stands for every values file below it. */
async function readSources(files: readonly string[], options: ImportOptions, io: Io): Promise<ReadSources> {
  const read = await Promise.all(
    files.map(async (file): Promise<ReadSources> => {
      const isFolder = options.source === 'architecture' && file !== '-' && (await isDirectory(file, io))
      if (!isFolder) return readSource(file, io)
      const { selectValuesFiles } = await import('../../site/import/architecture-values.ts')
      const below = (await readdir(path.resolve(io.cwd, file), { recursive: true }))
        .filter((name) => isYaml(name))
        .sort()
      const all = await Promise.all(below.map((name) => readSource(path.join(file, name), io)))
      const readable = all.flatMap(({ sources }) => sources)
      return selectValuesFiles(file, readable)
    }),
  )
  return { sources: read.flatMap(({ sources }) => sources), findings: read.flatMap(({ findings }) => findings) }
}

async function readSource(file: string, io: Io): Promise<ReadSources> {
  const { text, findings } = decodeText(await readInput(file, io), file)
  return { sources: [{ file, text }], findings }
}

async function isDirectory(file: string, io: Io): Promise<boolean> {
  const found = await stat(path.resolve(io.cwd, file)).catch(() => undefined)
  return found?.isDirectory() === true
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/.test(name)
}

async function importTexts(
  sources: readonly ImportSource[],
  options: ImportOptions,
  name: string,
  existing: readonly SiteFileCloud[],
): Promise<Imported> {
  if (options.source === 'install-yamls') {
    const { importInstallYamls } = await import('../../site/import/install-yamls.ts')
    const nodes = options.node?.map((given) => parsePair('--node', given))
    return importInstallYamls(sources, {
      name,
      existing,
      ...(nodes && {
        nodes: nodes.map(([node, nic]) => ({ name: node, ...(nic !== undefined && { nic }) })),
      }),
    })
  }
  const { importArchitecture } = await import('../../site/import/architecture.ts')
  const clouds = options.cloud?.map((given) => {
    const [cloud, namespace = cloud] = parsePair('--cloud', given)
    return { name: cloud, namespace }
  })
  return importArchitecture(sources, { name, ...(clouds && { clouds }) })
}

async function fromCluster(name: string, options: ImportOptions, io: Io): Promise<Imported> {
  const { clusterKinds, importCluster } = await import('../../site/import/cluster.ts')
  const { kubeconfig, context, namespace, from } = options
  const flags = {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(from !== undefined && { from: path.resolve(io.cwd, from) }),
  }
  const { snapshot, findings } = await gatherSnapshot(flags, clusterKinds, io)
  const namespaces = namespace === undefined ? {} : { namespaces: [namespace] }
  const imported = importCluster(snapshot, { name, ...namespaces })
  return { ...imported, findings: [...findings, ...imported.findings] }
}

/** `name` or `name=value`. */
function parsePair(option: string, given: string): readonly [string, string | undefined] {
  const [name, value, ...more] = given.split('=')
  if (name && value !== '' && more.length === 0) return [name, value]
  const reason = `${option} ${given}: expected NAME or NAME=VALUE`
  throw failure(wrongUse, { reason, command: 'stackloom import' })
}
