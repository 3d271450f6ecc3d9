/** Renders a report as one self-contained HTML page. */
import { type CheckResult, isProved } from '../verify.ts'
import {
  countVerdicts,
  formatSummary,
  groupByCloud,
  groupFindings,
  type Report,
  type ReportGroup,
  type ReportProblem,
} from './report.ts'

const STYLE = `
:root { color-scheme: light dark; --line: #8883; --soft: #646464; --panel: #8881;
  --good: #1a7f37; --bad: #cf222e; --open: #9a6700 }
@media (prefers-color-scheme: dark) { :root { --soft: #a0a0a0; --good: #3fb950; --bad: #ff7b72; --open: #d29922 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem }
p { margin: .3rem 0 }
.soft, .empty { color: var(--soft) }
.passed { color: var(--good) } .failed { color: var(--bad) } .unknown { color: var(--open) }
.tally span + span::before { content: "·"; color: var(--soft); padding: 0 .5em }
nav { margin-top: 1rem; padding: .7rem 1rem; background: var(--panel); border-radius: .4rem }
nav ul { margin: .2rem 0 0 }
a { color: inherit }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th { text-align: left; font-weight: 600 }
th, td { padding: .45rem .8rem .45rem 0; border-top: 1px solid var(--line); vertical-align: top }
th:first-child, td:first-child { width: 6.5rem; white-space: nowrap; font-weight: 600 }
th:last-child, td:last-child { width: 11rem; padding-right: 0 }
td:last-child { color: var(--soft) }
tr:target td { background: var(--panel) }
ul { margin: .5rem 0 .2rem; padding-left: 1.1rem }
li + li { margin-top: .5rem }
li p { margin: 0 }
.todo { padding-left: .8rem; border-left: 3px solid var(--line); margin: .2rem 0 }
code { font: .87em ui-monospace, monospace; background: var(--panel); padding: .1em .3em; border-radius: .2em }
@media (max-width: 44rem) {
  body { margin: 1rem auto }
  thead { display: none }
  tr { display: grid; grid-template-columns: 1fr auto; border-top: 1px solid var(--line); padding: .5rem 0 }
  td { border: 0; padding: 0 }
  td:nth-child(2) { order: 3; grid-column: 1 / -1 }
  td:last-child { width: auto; text-align: right }
}
@media print { body { max-width: none; margin: 0 } tr { break-inside: avoid } }
`

const SIGN = { passed: '✓ passed', failed: '✗ failed', unknown: '? unknown', empty: '– nothing' } as const

export function htmlReport(report: Report): string {
  const { site, time, source, results } = report
  const proved = isProved(results)
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(`Site ${site}: ${formatSummary(results)}`)}</title>`,
    `<style>${STYLE}</style></head>`,
    '<body>',
    `<h1>Site ${escapeHtml(site)}: <span class="${proved ? 'passed' : 'failed'}">${proved ? 'proved' : 'not proved'}</span></h1>`,
    `<p class="tally">${renderTally(results)}</p>`,
    `<p class="soft">${escapeHtml(source)}, <time datetime="${escapeHtml(time)}">${escapeHtml(formatTime(time))}</time></p>`,
    renderContents(report),
    ...groupByCloud(report).map(renderGroup),
    '</body></html>\n',
  ].join('\n')
}

function renderTally(results: readonly CheckResult[]): string {
  return countVerdicts(results)
    .map(({ verdict, text }) => `<span class="${verdict}">${text}</span>`)
    .join('')
}

/** Lists checks that are not proved at the top of the page. */
function renderContents(report: Report): string {
  const open = report.results.filter(({ verdict }) => verdict === 'failed' || verdict === 'unknown')
  if (open.length === 0) return ''
  const items = open.map((checkResult) => {
    const prefix = checkResult.cloud === undefined ? '' : `${escapeHtml(checkResult.cloud)}: `
    return `<li><a href="#${anchor(checkResult)}">${prefix}${escapeHtml(checkResult.title)}</a> <span class="${checkResult.verdict}">${checkResult.verdict}</span></li>`
  })
  return `<nav><strong>Not proved</strong><ul>${items.join('')}</ul></nav>`
}

function anchor({ id, cloud }: CheckResult): string {
  return escapeHtml(cloud === undefined ? id : `${cloud}.${id}`)
}

function renderGroup({ name, results }: ReportGroup): string {
  return [
    `<h2>${escapeHtml(name)}</h2>`,
    `<p class="tally">${renderTally(results)}</p>`,
    '<table><thead><tr><th>Verdict</th><th>Check</th><th>Checked</th></tr></thead><tbody>',
    ...results.map(renderRow),
    '</tbody></table>',
  ].join('\n')
}

function renderRow(result: CheckResult): string {
  const { title, verdict, seen, promise, findings } = result
  const list = findings.length === 0 ? '' : `<ul>${groupFindings(findings).map(renderProblem).join('')}</ul>`
  return [
    `<tr id="${anchor(result)}"><td class="${verdict}">${SIGN[verdict]}</td>`,
    `<td>${escapeHtml(title)}<div class="soft">${escapeHtml(promise)}</div>${list}</td>`,
    `<td>${escapeHtml(seen)}</td></tr>`,
  ].join('')
}

function renderProblem({ code, severity, messages, remedy }: ReportProblem): string {
  const paragraphs = messages.map((message) => `<p>${escapeHtml(message)}</p>`).join('')
  return `<li><strong>${severity} ${code}</strong>${paragraphs}<p class="todo">To do: ${renderCode(remedy)}</p></li>`
}

/** Renders text in backticks as code. */
function renderCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

/** `2026-11-16 04:10 UTC` of an ISO time. */
function formatTime(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, '$1 $2 UTC')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
