/**
 * Builds the Site of a file that has the right shape: defaults, checks, and what keeps it from being planned.
 *
 * Pure. Whether addresses make sense together is decided by the planner.
 */
import type { SiteFile } from '../api/site.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Locator } from '../yaml/locate.ts'
import { checkSite } from './check-site.ts'
import { buildSite } from './defaults.ts'
import { subnetTooLarge, tooManyClouds } from './findings.ts'
import type { Site } from './site.ts'

/** One cluster has addresses and VLANs for far fewer; many more exceed the memory of the planner. */
const MAX_CLOUDS = 10_000

export interface SiteReading extends Locator {
  /** Absent when the file does not have the shape of a Site, or when a plan of it would only repeat one problem. */
  readonly site?: Site
  readonly findings: readonly Finding[]
}

export function buildReading(file: SiteFile, locator: Locator, findings: readonly Finding[]): SiteReading {
  const { locate, locateKey } = locator
  const { clouds } = file.spec
  if (clouds.length > MAX_CLOUDS) {
    const where = locate(['spec', 'clouds'])
    const found = finding(tooManyClouds, { clouds: clouds.length, most: MAX_CLOUDS }, { where })
    return { findings: [...findings, found], locate, locateKey }
  }
  const site = buildSite(file)
  const all = [...findings, ...checkSite(file, site, locator)]
  const isPlannable = !hasEqualClouds(site) && !all.some(({ code }) => code === subnetTooLarge.code)
  return { ...(isPlannable && { site }), findings: all, locate, locateKey }
}

/** A plan would report every address of both. Two clouds in one namespace are reported by the plan (SL2502). */
function hasEqualClouds({ clouds }: Site): boolean {
  return new Set(clouds.map(({ name }) => name)).size < clouds.length
}
