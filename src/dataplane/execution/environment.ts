/**
 * The environment of a run, and the texts in its inputs that no log may show.
 *
 * Pure.
 */
import type { AnsibleRunSpec } from '../kinds/ansible-run.ts'
import type { ReportUnusable } from './mounted-files.ts'
import { type KeyRef, type RunInputs, sourceKey } from './run-inputs.ts'

type Variable = NonNullable<AnsibleRunSpec['env']>[number]

/** The common variables of all runs first; what the run itself says wins. */
export function resolveEnvironment(
  spec: AnsibleRunSpec,
  materials: RunInputs,
  unusable: ReportUnusable,
): Readonly<Record<string, string>> {
  const common = materials.found.get(sourceKey({ kind: 'ConfigMap', name: spec.envConfigMapName ?? '' }))
  const own = (spec.env ?? []).flatMap((variable) => {
    const value = resolveValue(variable, materials, (reason) => unusable(`variable ${variable.name}`, reason))
    return value === undefined ? [] : [[variable.name, value] as const]
  })
  return Object.fromEntries([...[...(common ?? [])].map(([name, text]) => [name, text.toString()]), ...own])
}

function resolveValue(
  { value = '', valueFrom }: Variable,
  { found }: RunInputs,
  refuse: (reason: string) => void,
): string | undefined {
  if (!valueFrom) return value
  const { secretKeyRef, configMapKeyRef } = valueFrom as Record<string, KeyRef | undefined>
  const ref = secretKeyRef ?? configMapKeyRef
  if (!ref) {
    refuse('only keys of Secrets and ConfigMaps can be read without a pod')
    return undefined
  }
  const source = sourceKey({ kind: secretKeyRef ? 'Secret' : 'ConfigMap', name: ref.name ?? '' })
  const bytes = found.get(source)?.get(ref.key ?? '')
  if (!bytes && !ref.optional) refuse(`${source} has no key ${ref.key}`)
  return bytes?.toString()
}

/**
 * What of the Secrets must not be shown: whole values and keys, and of files with many lines what looks like a
 * credential. Masking every line of an inventory would leave nothing to read.
 */
export function findSecrets({ found }: RunInputs): readonly string[] {
  const texts = [...found].flatMap(([key, content]) =>
    key.startsWith('Secret ') ? [...content.values()].map((bytes) => bytes.toString()) : [],
  )
  return texts.flatMap((text) => {
    const lines = text.split('\n')
    if (lines.length <= 2 || text.includes('-----BEGIN')) return [text.trim()]
    return lines.flatMap(findCredentials)
  })
}

const CREDENTIAL = /^\s*["']?\w*(?:password|passwd|secret|token|passphrase|key)\w*["']?\s*[:=]\s*["']?([^"'\s]+)/i
const URL_PASSWORD = /:\/\/[^:@/\s]*:([^@\s]+)@/g

function findCredentials(line: string): readonly string[] {
  const named = CREDENTIAL.exec(line)?.[1]
  const inUrls = [...line.matchAll(URL_PASSWORD)].map(([, password = '']) => password)
  return named === undefined ? inUrls : [named, ...inUrls]
}
