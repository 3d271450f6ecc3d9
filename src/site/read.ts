/**
 * Reads a site file: from its text to the Site with defaults, the findings, and the location of every value.
 *
 * Pure. Whether addresses make sense together is decided by the planner.
 */
import { checkShape } from '../api/shape.ts'
import { siteSchema } from '../api/site.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { Locator } from '../yaml/locate.ts'
import { readYaml } from '../yaml/read.ts'
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

export function readSite(input: string | Uint8Array, file: string): SiteReading {
  const reading = readYaml(input, file)
  const { locate, locateKey } = reading
  const { value, findings } = checkShape(siteSchema, reading, 'a Site')
  if (!value) return { findings, locate, locateKey }
  const { clouds } = value.spec
  if (clouds.length > MAX_CLOUDS) {
    const where = locate(['spec', 'clouds'])
    const found = finding(tooManyClouds, { clouds: clouds.length, most: MAX_CLOUDS }, { where })
    return { findings: [...findings, found], locate, locateKey }
  }
  const site = buildSite(value)
  const all = [...findings, ...checkSite(value, site, reading)]
  const isPlannable = !hasEqualClouds(site) && !all.some(({ code }) => code === subnetTooLarge.code)
  return { ...(isPlannable && { site }), findings: all, locate, locateKey }
}

/** A plan would report every address of both. Two clouds in one namespace are reported by the plan (SL2502). */
function hasEqualClouds({ clouds }: Site): boolean {
  return new Set(clouds.map(({ name }) => name)).size < clouds.length
}
