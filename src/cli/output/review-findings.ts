/** Loads the texts of the codes, which only these formats need, and formats findings for code review. */
import type { Finding } from '../../errors/finding.ts'
import { catalogue } from '../explain/catalogue.ts'
import { programVersion } from '../program-version.ts'
import { formatCodeScanning } from './code-scanning.ts'
import type { CodeScanningFormat } from './code-scanning-formats.ts'

export function formatForReview(findings: readonly Finding[], format: CodeScanningFormat): string {
  return formatCodeScanning(findings, format, {
    version: programVersion(),
    describeCode: (code) => catalogue.get(code),
  })
}
