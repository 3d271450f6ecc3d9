/**
 * Several configuration files read in order, as a service does: what each option ends up with, and who said so.
 *
 * Pure. Which options are multi-valued is known to the service alone, so the few that people really repeat are a
 * table here; every value is kept with its origin in any case.
 */
import { type Assignment, normalizeSection } from './parse.ts'

export interface NamedAssignments {
  readonly file: string
  readonly assignments: readonly Assignment[]
}

export interface Origin {
  readonly file: string
  readonly line: number
  readonly value: string
}

export interface MergedOption {
  /** Compared without case, DEFAULT excepted. */
  readonly section: string
  readonly key: string
  /** `multi` adds up over files and cannot be taken away by a later one; otherwise the last value wins. */
  readonly kind: 'single' | 'multi'
  /** In the order of reading. For `single` the last one counts, the others are overridden. */
  readonly origins: readonly [Origin, ...Origin[]]
}

/** What oslo.config declares as multi-valued in the services that a cloud's files configure. */
export const multiValuedOptions: ReadonlySet<string> = new Set([
  'federation.trusted_dashboard',
  'filter_scheduler.available_filters',
  'glance_store.filesystem_store_datadirs',
  'oslo_messaging_notifications.driver',
  'oslo_policy.policy_dirs',
  'pci.alias',
  'pci.device_spec',
  'pci.passthrough_whitelist',
  'secretstore.enabled_secretstore_plugins',
  'service_providers.service_provider',
])

export function optionKey(section: string, key: string): string {
  return `${normalizeSection(section)}.${key}`
}

/** Every option of all files, in order of first appearance. */
export function mergeIni(files: readonly NamedAssignments[]): readonly MergedOption[] {
  const merged = new Map<string, { section: string; key: string; origins: [Origin, ...Origin[]] }>()
  for (const { file, assignments } of files) {
    for (const { section, key, value, line } of assignments) {
      const id = optionKey(section, key)
      const known = merged.get(id)
      const origin: Origin = { file, line, value }
      if (known) known.origins.push(origin)
      else merged.set(id, { section: normalizeSection(section), key, origins: [origin] })
    }
  }
  return [...merged].map(([id, option]) => ({ ...option, kind: multiValuedOptions.has(id) ? 'multi' : 'single' }))
}

/** What the service uses: one value, or all of them. */
export function effectiveValues({ kind, origins }: MergedOption): readonly Origin[] {
  return kind === 'multi' ? origins : origins.slice(-1)
}
