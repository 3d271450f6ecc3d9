/**
 * Merges configuration files in the order in which a service reads them, with the origin of every value.
 *
 * Pure. Only the service knows which options are multi-valued, so the few that are repeated in practice are listed here;
 * every value is kept with its origin in any case.
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
  /** Not case sensitive, except DEFAULT. */
  readonly section: string
  readonly key: string
  /** `multi` adds up over files and cannot be removed by a later one; otherwise the last value wins. */
  readonly kind: 'single' | 'multi'
  /** In the order of reading. For `single` the last one counts. */
  readonly origins: readonly [Origin, ...Origin[]]
}

/** Options that oslo.config declares as multi-valued in the services of a cloud. */
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

/** Every option of all files, in order of first occurrence. */
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

/** The values that the service uses: one, or all of them. */
export function effectiveValues({ kind, origins }: MergedOption): readonly Origin[] {
  return kind === 'multi' ? origins : origins.slice(-1)
}
