/** Renders a report as one self-contained HTML page. */
import { readData } from '../../data/data.ts'
import { type CheckResult, isProved } from '../verify.ts'
import {
  countVerdicts,
  formatSummary,
  groupByCloud,
  groupFindings,
  type Report,
  type ReportGroup,
  type ReportProblem,
  type ReportTable,
} from './report.ts'

const SIGN = { passed: '✓ passed', failed: '✗ failed', unknown: '? unknown', empty: '– nothing' } as const

export function htmlReport(report: Report): string {
  const { site, time, source, results, tables = [], picture } = report
  const proved = isProved(results)
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(`Site ${site}: ${formatSummary(results)}`)}</title>`,
    `<style>\n${readData('report.css')}</style></head>`,
    '<body>',
    `<h1>Site ${escapeHtml(site)}: <span class="${proved ? 'passed' : 'failed'}">${proved ? 'proved' : 'not proved'}</span></h1>`,
    `<p class="tally">${renderTally(results)}</p>`,
    `<p class="soft">${escapeHtml(source)}, <time datetime="${escapeHtml(time)}">${escapeHtml(formatTime(time))}</time></p>`,
    renderContents(report),
    ...tables.map(renderTable),
    ...(picture === undefined ? [] : [`<h2>Topology</h2>\n<figure>${picture.svg}</figure>`]),
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

function renderTable({ title, header, rows }: ReportTable): string {
  const cells = (tag: 'th' | 'td', row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}${cellClass(cell)}>${escapeHtml(cell)}</${tag}>`).join('')}</tr>`
  return [
    `<h2>${escapeHtml(title)}</h2>`,
    `<table class="facts"><thead>${cells('th', header)}</thead><tbody>`,
    ...rows.map((row) => cells('td', row)),
    '</tbody></table>',
  ].join('\n')
}

/** A cell that begins with a sign has its colour. */
function cellClass(cell: string): string {
  if (cell.startsWith('✗')) return ' class="failed"'
  return cell.startsWith('✓') ? ' class="passed"' : ''
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
