/** Names the formats for code review, apart from their code, which is loaded only when one is used. */

/** They have findings only: what the command prints otherwise is left out. */
export const codeScanningFormats = ['sarif', 'github'] as const
export type CodeScanningFormat = (typeof codeScanningFormats)[number]

export function isCodeScanningFormat(format: string): format is CodeScanningFormat {
  return (codeScanningFormats as readonly string[]).includes(format)
}
