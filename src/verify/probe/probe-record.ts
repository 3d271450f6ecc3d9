/**
 * Defines what is kept of the last probe of a site, and what it says about each network. Pure: the commands read and write it.
 */
import type { Finding } from '../../errors/finding.ts'
import type { CheckResult, Verdict } from '../verify.ts'

export interface ProbeRecord {
  readonly site: string
  /** ISO time. */
  readonly time: string
  readonly results: readonly CheckResult[]
}

export interface NetworkProbe {
  readonly verdict: 'passed' | 'failed' | 'unknown'
  readonly text: string
}

/** Undefined for a text that is no record. */
export function parseProbeRecord(text: string): ProbeRecord | undefined {
  try {
    const record = JSON.parse(text) as Partial<ProbeRecord> | null
    const isRecord =
      typeof record?.site === 'string' && typeof record.time === 'string' && Array.isArray(record.results)
    return isRecord ? (record as ProbeRecord) : undefined
  } catch {
    return undefined
  }
}

/** What the last probe says about one network: findings name it as `cloud/network`. Undefined if its cloud was not probed. */
export function judgeNetwork(
  { results }: Pick<ProbeRecord, 'results'>,
  cloud: string,
  network: string,
): NetworkProbe | undefined {
  const cloudResults = results.filter((result) => result.cloud === cloud)
  if (cloudResults.length === 0) return undefined
  const about = cloudResults.flatMap((result) =>
    result.findings.filter((found) => isAbout(found, `${cloud}/${network}`)).map((found) => ({ result, found })),
  )
  const failed = about.find(({ result, found }) => result.verdict === 'failed' && found.severity === 'error')
  if (failed) return { verdict: 'failed', text: failed.found.message }
  const open = about.find(({ found }) => found.severity === 'error')
  if (open) return { verdict: 'unknown', text: open.found.message }
  const everywhere: readonly Verdict[] = ['passed', 'failed']
  // A cloud without any result of its probes has not been tested, and no finding names its networks.
  if (!cloudResults.some(({ verdict }) => everywhere.includes(verdict)))
    return { verdict: 'unknown', text: cloudResults[0]?.findings[0]?.message ?? 'no probe of the cloud has run' }
  return { verdict: 'passed', text: `${cloud}/${network}: reach, VIPs and isolation as planned` }
}

function isAbout({ owners = [], message }: Finding, network: string): boolean {
  return [...owners, message].some((text) => text.split(/[\s,:()]+/).includes(network))
}
