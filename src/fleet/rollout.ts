/** Orders the updates of a fleet: canaries first, then the others as listed; says how long a pause still lasts. Pure. */
import type { FleetSite } from '../api/fleet.ts'

/** The versions of one cloud, as `update -o json` prints them. */
export interface CloudVersions {
  readonly cloud: string
  readonly deployed?: string
  readonly target?: string
  readonly available?: string
  readonly wanted?: string
  /** When the cloud's version last changed a condition. */
  readonly since?: string
}

export interface RolloutStep {
  readonly site: FleetSite
  readonly isCanary: boolean
  readonly versions: CloudVersions
  readonly state: 'updated' | 'under-way' | 'open'
}

export interface SiteVersions {
  readonly site: FleetSite
  readonly clouds: readonly CloudVersions[]
}

export function planRollout(sites: readonly SiteVersions[], canaries: ReadonlySet<string>): readonly RolloutStep[] {
  const steps = sites.flatMap(({ site, clouds }) =>
    clouds.map((versions) => ({
      site,
      isCanary: canaries.has(site.name),
      versions,
      state: updateState(versions),
    })),
  )
  return [...steps.filter(({ isCanary }) => isCanary), ...steps.filter(({ isCanary }) => !isCanary)]
}

/** Without a canary in the file the first site is it: one site always goes ahead. */
export function canaryNames(sites: readonly FleetSite[]): ReadonlySet<string> {
  const marked = sites.filter(({ canary }) => canary)
  return new Set((marked.length > 0 ? marked : sites.slice(0, 1)).map(({ name }) => name))
}

function updateState({ deployed, target, wanted }: CloudVersions): RolloutStep['state'] {
  if (wanted === target && wanted === deployed) return 'updated'
  return wanted === target ? 'under-way' : 'open'
}

/**
 * Milliseconds until the canaries have run the new version for the whole pause. A cloud that does not say since when it
 * has its version counts from `now`.
 */
export function remainingPause(sinceTimes: readonly (string | undefined)[], pauseMs: number, now: number): number {
  const times = sinceTimes.map((time) => Date.parse(time ?? ''))
  const latest = Math.max(...times.map((time) => (Number.isNaN(time) ? now : Math.min(time, now))))
  return sinceTimes.length === 0 ? 0 : Math.max(0, latest + pauseMs - now)
}
