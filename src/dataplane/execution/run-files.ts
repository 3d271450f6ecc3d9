/**
 * Builds the files and the environment of a run: what ansible-runner finds in a container, for a machine without
 * containers.
 *
 * Pure. Paths are those of the container without the leading slash; what only a pod can provide is a finding.
 */
import path from 'node:path'
import { type Finding, finding } from '../../errors/finding.ts'
import { findAssignedCredential, findUrlPasswords } from '../../ini/credentials.ts'
import { writeYaml } from '../../yaml/write.ts'
import { runInputUnusable } from '../findings/runs.ts'
import { type AnsibleRole, type AnsibleRun, type AnsibleRunSpec, limitedHosts } from '../kinds/ansible-run.ts'
import { formatUnsafeJson } from '../rules/unsafe-values.ts'
import { STEP_ANNOTATION } from '../runs/attempts.ts'
import {
  type Content,
  INVENTORY_FOLDER,
  type KeyRef,
  type RunInputs,
  sourceKey,
  type VolumeSource,
  volumeSource,
} from './run-inputs.ts'

export interface RunFiles {
  /** Content by path: `runner/inventory/hosts`. */
  readonly files: ReadonlyMap<string, Buffer>
  readonly env: Readonly<Record<string, string>>
  /** What ansible-runner plays: a file of `runner/project`, or a name in a collection. */
  readonly playbook: string
  /** Texts that no log may show. */
  readonly secrets: readonly string[]
  readonly findings: readonly Finding[]
  /** The findings that do not concern an executor with pods. */
  readonly needsPod: readonly Finding[]
}

const INLINE_PLAYBOOK = 'playbook.yaml'
const SSH_KEY = 'runner/env/ssh_key'

/** `needsPod`: only an executor without pods cannot use it. */
type ReportUnusable = (what: string, reason: string, needsPod?: 'needs-pod') => void

export function buildRunFiles(run: AnsibleRun, inputs: RunInputs): RunFiles {
  const { spec } = run
  const findings: Finding[] = []
  const needsPod: Finding[] = []
  const unusable: ReportUnusable = (what, reason, pod) => {
    const found = finding(runInputUnusable, { what, reason })
    findings.push(found)
    if (pod) needsPod.push(found)
  }
  const files = new Map(mountedFiles(spec, inputs, unusable))
  const put = (file: string, text: string): void => void files.set(file, Buffer.from(text))

  const play = playText(spec)
  const playbook = playbookName(spec)
  if (play !== undefined) put(`runner/project/${INLINE_PLAYBOOK}`, play)
  if (spec.inventory !== undefined) put('runner/inventory/inventory.yaml', spec.inventory)
  const cmdline = [files.get('runner/env/cmdline')?.toString(), spec.cmdLine, limitOption(run)].filter(Boolean)
  if (cmdline.length > 0) put('runner/env/cmdline', cmdline.join(' '))
  checkRun(run, playbook, files, unusable)
  const key = files.get(SSH_KEY)
  // OpenSSH refuses a key whose last line has no newline, with a message about libcrypto.
  if (key && key.at(-1) !== 0x0a) files.set(SSH_KEY, Buffer.concat([key, Buffer.from('\n')]))
  const env = resolveEnvironment(spec, inputs, unusable)
  return { files, env, playbook, secrets: findSecrets(inputs), findings, needsPod }
}

function checkRun(
  run: AnsibleRun,
  playbook: string,
  files: ReadonlyMap<string, Buffer>,
  unusable: ReportUnusable,
): void {
  const { args, initContainers } = run.spec
  if (playbook === '') unusable('the run', 'it has no play, no role and no playbook')
  if (escapesFolder(playbook)) unusable(`playbook ${playbook}`, 'it is outside of the project folder')
  if (inventoryTexts(files).length === 0) unusable('the run', 'it has no inventory')
  for (const host of limitedHosts(run) ?? []) {
    if (!/^[\w.-]+$/.test(host)) unusable(`host ${JSON.stringify(host)}`, 'this is not a host name')
  }
  if (args) unusable('args', 'a custom command needs a container; run it as a Job', 'needs-pod')
  if (initContainers?.length) unusable('initContainers', 'they need a pod; run it as a Job', 'needs-pod')
}

/** Host names are checked, so that none can be read as another option. */
export function limitOption(run: AnsibleRun): string | undefined {
  const hosts = limitedHosts(run)
  return hosts && hosts.length > 0 ? `--limit ${hosts.join(',')}` : undefined
}

/**
 * The extra variables of a run, with `added` ones. In a run of our controllers they are values of other objects, such as
 * images: only text. In a run that a person wrote they may contain expressions, as its play may.
 */
export function formatExtraVars({ spec, metadata }: AnsibleRun, added: AnsibleRunSpec['extraVars'] = {}): string {
  const variables = { ...spec.extraVars, ...added }
  return metadata.annotations?.[STEP_ANNOTATION] === undefined ? JSON.stringify(variables) : formatUnsafeJson(variables)
}

export function inventoryTexts(files: ReadonlyMap<string, Buffer>): readonly string[] {
  const folder = `${INVENTORY_FOLDER.slice(1)}/`
  return [...files].flatMap(([file, content]) => (file.startsWith(folder) ? [content.toString()] : []))
}

export function playbookName(spec: AnsibleRunSpec): string {
  return playText(spec) === undefined ? (spec.playbook ?? '') : INLINE_PLAYBOOK
}

/** `play` wins over `roles`, which wins over `playbook`. */
export function playText({ play, roles }: AnsibleRunSpec): string | undefined {
  if (play !== undefined && play !== '') return play
  return roles && writeYaml([playFromRole(roles)])
}

function playFromRole({ tasks = [], ...play }: AnsibleRunSpec['roles'] & object): unknown {
  const defaults: AnsibleRole = {
    name: 'Run Standalone Role',
    hosts: 'all',
    strategy: 'linear',
    any_errors_fatal: true,
    become: false,
    gather_facts: false,
  }
  const tasksWithVars = tasks.map(({ vars, ...task }) => ({
    ...task,
    ...(vars && { vars: Object.fromEntries(vars.map(parseVariable)) }),
  }))
  return { ...defaults, ...play, tasks: tasksWithVars }
}

function parseVariable(text: string): readonly [string, string] {
  const [name = '', ...value] = text.split(':')
  return [name.trim(), value.join(':').trim()]
}

type ExtraMount = NonNullable<AnsibleRunSpec['extraMounts']>[number]
type Entries = readonly (readonly [string, Buffer])[]

/** The files of all volumes, as a pod would see them below its mount paths. */
function mountedFiles(spec: AnsibleRunSpec, inputs: RunInputs, unusable: ReportUnusable): Entries {
  return (spec.extraMounts ?? []).flatMap(({ volumes, mounts }) =>
    mounts.flatMap((mount) => {
      const refuse: Refuse = (reason, needsPod) => {
        unusable(`mount of ${mount.name}`, reason, needsPod)
        return []
      }
      const volume = volumes.find(({ name }) => name === mount.name)
      if (!volume) return refuse('there is no volume of this name')
      if (!isSafePath(mount)) return refuse('its path is not absolute, or leaves its folder')
      return mountEntries(volume, mount, inputs, refuse)
    }),
  )
}

type Refuse = (reason: string, needsPod?: 'needs-pod') => Entries

function isSafePath({ mountPath, subPath = '' }: ExtraMount['mounts'][number]): boolean {
  return mountPath.startsWith('/') && !escapesFolder(mountPath.slice(1)) && !escapesFolder(subPath)
}

function escapesFolder(file: string): boolean {
  return path.posix.isAbsolute(file) || file.split('/').includes('..')
}

function mountEntries(
  volume: ExtraMount['volumes'][number],
  { mountPath, subPath, subPathExpr }: ExtraMount['mounts'][number],
  { found }: RunInputs,
  refuse: Refuse,
): Entries {
  if ('emptyDir' in volume) return []
  const source = volumeSource(volume, mountPath)
  if (!source || subPathExpr) return refuse('only Secrets and ConfigMaps can be mounted without a pod', 'needs-pod')
  const content = source.oneOf.map((candidate) => found.get(sourceKey(candidate))).find((bytes) => bytes !== undefined)
  if (!content) return []
  const refuseKey = (key: string): Entries => refuse(`${source.oneOf.map(sourceKey).join(' or ')} has no key ${key}`)
  const missing = missingItem(content, source.from)
  if (missing !== undefined) return refuseKey(missing)
  const base = mountPath.slice(1)
  const entries = volumeFiles(content, source.from)
  if (subPath === undefined) return entries.map(([file, bytes]) => [path.posix.join(base, file), bytes])
  const selected = entries.flatMap(([file, bytes]): Entries => {
    if (file === subPath) return [[base, bytes]]
    return file.startsWith(`${subPath}/`) ? [[path.posix.join(base, file.slice(subPath.length + 1)), bytes]] : []
  })
  return selected.length > 0 || source.from.optional ? selected : refuseKey(subPath)
}

function missingItem(content: Content, { items = [], optional = false }: VolumeSource): string | undefined {
  return optional ? undefined : items.find(({ key }) => !content.has(key))?.key
}

/** All keys under their own names, or the listed items under the given paths. */
function volumeFiles(content: Content, { items }: VolumeSource): Entries {
  const entries = items
    ? items.flatMap(({ key, path: file }): Entries => {
        const bytes = content.get(key)
        return bytes ? [[file, bytes]] : []
      })
    : [...content]
  return entries.filter(([file]) => !escapesFolder(file))
}

/** The common variables of all runs; those of the run itself win. */
function resolveEnvironment(
  spec: AnsibleRunSpec,
  inputs: RunInputs,
  unusable: ReportUnusable,
): Readonly<Record<string, string>> {
  const common = inputs.found.get(sourceKey({ kind: 'ConfigMap', name: spec.envConfigMapName ?? '' })) ?? []
  const variables = (spec.env ?? []).flatMap((variable) => {
    const refuse = (reason: string, needsPod?: 'needs-pod'): void =>
      unusable(`variable ${variable.name}`, reason, needsPod)
    const value = resolveValue(variable, inputs, refuse)
    return value === undefined ? [] : [[variable.name, value] as const]
  })
  return Object.fromEntries([...[...common].map(([name, text]) => [name, text.toString()]), ...variables])
}

function resolveValue(
  { value = '', valueFrom }: NonNullable<AnsibleRunSpec['env']>[number],
  { found }: RunInputs,
  refuse: (reason: string, needsPod?: 'needs-pod') => void,
): string | undefined {
  if (!valueFrom) return value
  const { secretKeyRef, configMapKeyRef } = valueFrom as Record<string, KeyRef | undefined>
  const ref = secretKeyRef ?? configMapKeyRef
  if (!ref) {
    refuse('only keys of Secrets and ConfigMaps can be read without a pod', 'needs-pod')
    return undefined
  }
  const source = sourceKey({ kind: secretKeyRef ? 'Secret' : 'ConfigMap', name: ref.name ?? '' })
  const bytes = found.get(source)?.get(ref.key ?? '')
  if (!bytes && !ref.optional) refuse(`${source} has no key ${ref.key}`)
  return bytes?.toString()
}

/**
 * Texts of Secrets to redact: whole values and keys, and of longer files only what looks like a credential. Redacting
 * every line of an inventory would leave nothing to read.
 */
function findSecrets({ found }: RunInputs): readonly string[] {
  const texts = [...found].flatMap(([key, content]) =>
    key.startsWith('Secret ') ? [...content.values()].map((bytes) => bytes.toString()) : [],
  )
  return texts.flatMap((text) => {
    const lines = text.split('\n')
    if (lines.length <= 2 || text.includes('-----BEGIN')) return [text.trim()]
    return lines.flatMap(findCredentials)
  })
}

function findCredentials(line: string): readonly string[] {
  const named = findAssignedCredential(line)
  const inUrls = findUrlPasswords(line).flatMap(({ start, end }) => line.slice(start, end) || [])
  return named === undefined ? inUrls : [named, ...inUrls]
}
