/** Reads a site file: from its text to the Site with defaults, the findings, and the location of every value. Pure. */
import { checkShape } from '../api/shape.ts'
import { siteSchema } from '../api/site.ts'
import { readYaml } from '../yaml/read.ts'
import { buildReading, type SiteReading } from './site-reading.ts'

export function readSite(input: string | Uint8Array, file: string): SiteReading {
  const reading = readYaml(input, file)
  const { value, findings } = checkShape(siteSchema, reading, 'a Site')
  if (value) return buildReading(value, reading, findings)
  return { findings, locate: reading.locate, locateKey: reading.locateKey }
}
