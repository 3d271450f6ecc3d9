/** Implements the commands of `stackloom images`. */
import type { KubeObject } from '../../api/object.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import { unreadableFile } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { type Finding, finding, hasErrors } from '../../errors/finding.ts'
import {
  type CatalogPackage,
  collectImages,
  collectPackages,
  imageKinds,
  redHatCatalog,
  type SiteImage,
} from '../../images/collect-images.ts'
import { imageMissing, invalidMirror, noImages, registryNoAnswer } from '../../images/findings.ts'
import { formatImage, type Mirror, mirrorImage, parseMirror } from '../../images/image-reference.ts'
import { renderHostVariables, renderImageSet } from '../../images/mirror-settings.ts'
import { type ClusterFlags, gatherSnapshot } from '../cluster.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import { printFindings } from '../output/findings.ts'
import { type Format, serialise, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { planFromFiles } from '../planning.ts'
import { SITE_FILE } from '../site-file.ts'
import { openRegistry, parseAuthFile, type RegistryAnswer } from './ask-registry.ts'

export interface ImageFlags extends ClusterFlags {
  readonly file: string
  readonly from?: string
  readonly offline?: boolean
  /** `4.18`: its catalog of Red Hat has the packages of catalogs that are only named. */
  readonly openshift?: string
  readonly output: Format
}

export interface MirrorFlags extends ImageFlags {
  readonly mirror: string
}

export interface CheckFlags extends MirrorFlags {
  readonly authfile?: string
  readonly certificateAuthority?: string
  readonly plainHttp?: boolean
}

interface Gathered {
  readonly packages: readonly CatalogPackage[]
  readonly images: readonly SiteImage[]
  readonly findings: readonly Finding[]
  /** Whether every kind could be read. */
  readonly isComplete: boolean
}

async function gather(options: ImageFlags, io: Io): Promise<Gathered> {
  const rendered = await renderedObjects(options, io)
  const live = options.offline ? undefined : await gatherSnapshot(options, imageKinds, io)
  const objects = [...rendered, ...(live?.snapshot.objects ?? [])]
  const { images, findings } = collectImages(objects)
  const packages = collectPackages(objects, options.openshift && redHatCatalog(options.openshift))
  const unread = live?.snapshot.unread.filter(({ cause }) => cause !== 'not-served' && cause !== 'not-dumped') ?? []
  const nothing = images.length + packages.length === 0 ? [finding(noImages, {})] : []
  const all = [...(unread.length > 0 ? (live?.findings ?? []) : []), ...findings, ...nothing]
  printFindings(all, io)
  return { packages, images, findings: all, isComplete: unread.length === 0 }
}

/** A site file that is not there counts only where it was named, or where there is nothing else. */
async function renderedObjects({ file, offline }: ImageFlags, io: Io): Promise<readonly KubeObject[]> {
  const { existsSync } = await import('node:fs')
  const { default: path } = await import('node:path')
  if (file === SITE_FILE && !offline && !existsSync(path.resolve(io.cwd, file))) return []
  const { plan } = await planFromFiles({ file }, io)
  const { renderDocuments } = await import('../../render/render.ts')
  const kinds = new Set(imageKinds.map(({ kind }) => kind))
  return renderDocuments(plan)
    .map(({ object }) => object)
    .filter(({ kind }) => kinds.has(kind))
}

const toJson = ({ image, usedBy, inCatalog }: SiteImage): object => ({ image: formatImage(image), usedBy, inCatalog })

export async function listImages(options: ImageFlags, io: Io): Promise<ExitCode> {
  const gathered = await gather(options, io)
  const { images, findings } = gathered
  const { output } = options
  if (output === 'json' || output === 'yaml') {
    io.stdout(await serialiseResult({ images: images.map(toJson) }, output, findings))
  } else if (output === 'name') {
    io.stdout(images.map(({ image }) => `${formatImage(image)}\n`).join(''))
  } else if (images.length > 0) {
    const rows = images.map(({ image, usedBy }) => [formatImage(image), describeUsers(usedBy)])
    io.stdout(formatTable(['IMAGE', 'USED BY'], rows, io.columns, io.colour.stdout))
  }
  return exitCode(gathered)
}

function describeUsers([first = '-', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`
}

export async function printImageSet(options: ImageFlags, io: Io): Promise<ExitCode> {
  const gathered = await gather(options, io)
  if (hasErrors(gathered.findings)) return 1
  io.stdout(await serialise(renderImageSet(gathered.images, gathered.packages), options.output))
  return exitCode(gathered)
}

export async function printHostSettings(options: MirrorFlags, io: Io): Promise<ExitCode> {
  const mirror = requireMirror(options)
  const gathered = await gather(options, io)
  io.stdout(await serialise(renderHostVariables(gathered.images, mirror), options.output))
  return exitCode(gathered)
}

function exitCode({ findings, isComplete }: Gathered): ExitCode {
  if (hasErrors(findings)) return 1
  return isComplete ? 0 : 3
}

function requireMirror({ mirror }: MirrorFlags): Mirror {
  const parsed = parseMirror(mirror)
  if (!parsed) throw failure(invalidMirror, { mirror })
  return parsed
}

/** Registries limit requests of one client. */
const AT_ONCE = 8

export async function checkMirror(options: CheckFlags, io: Io): Promise<ExitCode> {
  const mirror = requireMirror(options)
  const { authfile, certificateAuthority, plainHttp, output } = options
  const read = async (file: string): Promise<string> => Buffer.from(await readInput(file, io)).toString('utf8')
  const auths = authfile === undefined ? new Map<string, string>() : readAuths(await read(authfile), authfile)
  const ca = certificateAuthority === undefined ? undefined : await read(certificateAuthority)
  const gathered = await gather(options, io)
  const registry = openRegistry({
    auths,
    stop: io.stop,
    ...(ca !== undefined && { ca }),
    ...(plainHttp !== undefined && { plainHttp }),
  })
  try {
    const checked = await mapConcurrently(gathered.images, AT_ONCE, async (image) => {
      const mirrored = mirrorImage(mirror, image.image)
      return { image, mirrored: formatImage(mirrored), answer: await registry.ask(mirrored) }
    })
    const found = checked.flatMap(judgeAnswer)
    printFindings(found, io)
    const rows = checked.map(({ mirrored, answer }) => [answer.kind, mirrored])
    const images = checked.map(({ image, mirrored, answer }) => ({ ...toJson(image), mirrored, answer: answer.kind }))
    const table = rows.length === 0 ? '' : formatTable(['MIRROR', 'IMAGE'], rows, io.columns, io.colour.stdout)
    io.stdout(output === 'table' ? table : await serialiseResult({ images }, output, [...gathered.findings, ...found]))
    return exitCode({
      ...gathered,
      findings: [...gathered.findings, ...found],
      isComplete: gathered.isComplete && found.length === 0,
    })
  } finally {
    await registry.close()
  }
}

function readAuths(text: string, file: string): ReadonlyMap<string, string> {
  try {
    return parseAuthFile(text)
  } catch (thrown) {
    // The error of the parser may have a part of the file, which has passwords.
    throw failure(
      unreadableFile,
      { file, reason: 'it is not JSON' },
      { cause: thrown instanceof Error ? thrown.name : '' },
    )
  }
}

interface CheckedImage {
  readonly image: SiteImage
  readonly mirrored: string
  readonly answer: RegistryAnswer
}

function judgeAnswer({ image, mirrored, answer }: CheckedImage): readonly Finding[] {
  const name = formatImage(image.image)
  if (answer.kind === 'missing')
    return [finding(imageMissing, { image: name, mirrored, usedBy: describeUsers(image.usedBy) })]
  return answer.kind === 'unknown' ? [finding(registryNoAnswer, { image: mirrored, reason: answer.reason })] : []
}
