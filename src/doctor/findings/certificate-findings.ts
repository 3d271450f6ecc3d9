/** SL9624, SL9645 and SL9646: certificates of cert-manager and of Routes, and application credentials of Keystone. */
import { problem } from '../../errors/finding.ts'

export const certificateNotReady = problem<{ reason: string; describe: string }>({
  code: 'SL9624',
  severity: 'error',
  message: ({ reason }) => `it is not issued: ${reason}`,
  remedy: ({ describe }) => `\`${describe}\`; then \`kubectl get certificaterequests,orders\` in the same namespace`,
})

interface EndFacts {
  /** In words: "in 3 days", "2 days ago". */
  end: string
  date: string
  /** What should have renewed it, and what that needs; undefined where a user brings the certificate. */
  renewal: { by: string; needs: string } | undefined
  describe: string
}

/** The same remedy for both: only the time that is left differs. */
const remedy = ({ renewal, describe }: EndFacts): string =>
  renewal === undefined
    ? 'replace the certificate; then run `stackloom certificates` for hosts and Secrets that have older copies'
    : `\`${describe}\`; check that ${renewal.needs}; then \`stackloom hosts deploy --behind\` for hosts with the old copy`

const formatRenewal = ({ renewal }: EndFacts): string =>
  renewal === undefined ? '' : ` and ${renewal.by} has not renewed it`

export const certificateEnding = problem<EndFacts>({
  code: 'SL9645',
  severity: 'warning',
  message: (facts) => `it ends ${facts.end} (${facts.date})${formatRenewal(facts)}`,
  remedy,
})

export const certificateCritical = problem<EndFacts>({
  code: 'SL9646',
  severity: 'error',
  message: (facts) =>
    `it ${facts.end.endsWith('ago') ? 'ended' : 'ends'} ${facts.end} (${facts.date})${formatRenewal(facts)}`,
  remedy,
})
