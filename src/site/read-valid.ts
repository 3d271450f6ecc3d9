/** Reads a site file of the right shape, as `read.ts` does but in less time: without zod, which says what is wrong. Pure. */
import { fitSchema, MISFIT, readSchema } from '../api/fit-schema.ts'
import { findPlaceholders } from '../api/placeholders.ts'
import { findReservedKeys } from '../api/reserved-keys.ts'
import type { SiteFile } from '../api/site.ts'
import { readYaml } from '../yaml/read.ts'
import { buildReading, type SiteReading } from './site-reading.ts'

/** Undefined where the shape may be wrong. */
export function readValidSite(input: string | Uint8Array, file: string): SiteReading | undefined {
  const reading = readYaml(input, file)
  const { value, findings } = reading
  if (findings.length > 0 || findReservedKeys(value).length > 0 || findPlaceholders(value).length > 0) return undefined
  const fitted = fitSchema(readSchema('site'), value)
  return fitted === MISFIT ? undefined : buildReading(fitted as SiteFile, reading, [])
}
