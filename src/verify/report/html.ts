/** The report as one HTML page, without anything from elsewhere: it can be mailed, and read in ten years. */
import type { Finding } from '../../errors/finding.ts'
import { type CheckResult, isProved } from '../verify.ts'
import { groupsOf, type Report, type ReportGroup, summaryOf } from './report.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #888; --good: #1a7f37; --bad: #cf222e; --open: #9a6700 }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #ff7b72; --open: #d29922 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: 0 }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }
.when, .promise { color: var(--soft) }
.passed { color: var(--good) } .failed { color: var(--bad) } .unknown { color: var(--open) }
table { border-collapse: collapse; width: 100% }
th { text-align: left; font-weight: 600 }
th, td { padding: .4rem .8rem .4rem 0; border-top: 1px solid var(--line); vertical-align: top }
td:first-child { white-space: nowrap; font-weight: 600 }
ul { margin: .4rem 0 0; padding-left: 1.2rem }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
@media print { body { max-width: none; margin: 0 } tr { break-inside: avoid } }
`

const SIGN = { passed: '✓ passed', failed: '✗ failed', unknown: '? unknown', empty: '– nothing' } as const

export function htmlReport(report: Report): string {
  const { site, time, source, results } = report
  const title = `Site ${site}: ${summaryOf(results)}`
  const mood = isProved(results) ? 'passed' : 'failed'
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(title)}</title>`,
    `<style>${STYLE}</style></head>`,
    '<body>',
    `<h1>Site ${text(site)}: <span class="${mood}">${summaryOf(results)}</span></h1>`,
    `<p class="when">${text(source)}, <time datetime="${text(time)}">${text(time)}</time></p>`,
    ...groupsOf(report).map(group),
    '</body></html>\n',
  ].join('\n')
}

function group({ name, results }: ReportGroup): string {
  return [
    `<h2>${text(name)} <small class="when">${summaryOf(results)}</small></h2>`,
    '<table><thead><tr><th>Verdict</th><th>Check</th><th>Looked at</th></tr></thead><tbody>',
    ...results.map(row),
    '</tbody></table>',
  ].join('\n')
}

function row({ title, verdict, seen, promise, findings }: CheckResult): string {
  const list = findings.length === 0 ? '' : `<ul>${findings.map(item).join('')}</ul>`
  return [
    `<tr><td class="${verdict}">${SIGN[verdict]}</td>`,
    `<td>${text(title)}<div class="promise">${text(promise)}</div>${list}</td>`,
    `<td>${text(seen)}</td></tr>`,
  ].join('')
}

function item({ code, severity, message, remedy }: Finding): string {
  return `<li><strong>${severity} ${code}</strong> ${text(message)}<br>To do: <code>${text(remedy)}</code></li>`
}

function text(words: string): string {
  return words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
