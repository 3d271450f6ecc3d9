/** The entry for `spec.accept` that a finding offers accepts this finding. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { brokenExample } from '../../../test/console-documents.ts'
import { planText } from '../../../test/site.ts'
import type { Finding } from '../../errors/finding.ts'
import { emptyLock } from '../../plan/lock.ts'
import { applyAcceptances, parseAcceptances } from '../../site/accept.ts'
import type { FindingLine, FindingsDocument } from '../documents/findings.ts'
import type { OverviewDocument } from '../documents/overview.ts'
import { buildFindings, findCommands } from './findings-list.ts'

const folder = 'test/samples/plan-lints'

function findingsOf(file: string): readonly FindingLine[] {
  const text = readFileSync(path.join(folder, file), 'utf8')
  const { plan, lock } = planText(text)
  const locate = () => ({ file: 'site.yaml', line: 1, column: 1 })
  const before = emptyLock(plan.site)
  return buildFindings({
    planned: { plan, before, lock, file: 'site.yaml', lockFile: undefined, locate, lines: text.split('\n') },
    cloudName: (namespace) => namespace,
    title: (code) => code,
    fileOptions: [],
    clusterOptions: [],
    now: 0,
  }).findings
}

function expectAccepted(line: FindingLine): void {
  const entries = parseAcceptances(parse(line.accept ?? '') as Parameters<typeof parseAcceptances>[0])
  const [judged] = applyAcceptances([line as Finding], entries)
  expect(judged?.message, `${line.accept} for ${line.message} at ${line.place}`).toContain('(accepted: ')
}

describe('the entry to accept', () => {
  it.each(readdirSync(folder).sort())('of %s accepts it', (file) => {
    const offered = findingsOf(file).filter(({ accept }) => accept !== undefined)
    expect(offered.map(({ code }) => code)).toContain(file.slice(0, 6))
    for (const line of offered) expectAccepted(line)
  })

  it('of a check of the cluster accepts it', () => {
    const { findings } = brokenExample().documents.findings as FindingsDocument
    const offered = findings.filter(({ source, accept }) => source === 'verify' && accept !== undefined)
    expect(offered.length).toBeGreaterThan(2)
    for (const line of offered) expectAccepted(line)
  })
})

describe('the commands of a finding', () => {
  it.each([
    ['run `stackloom up`, then look at `spec.vips`', ['stackloom up']],
    [
      '`kubectl -n a get pods -l x=y,z=1`; `kubectl -n a describe pod b`',
      ['kubectl -n a get pods -l x=y,z=1', 'kubectl -n a describe pod b'],
    ],
    ["`kubectl -n a patch service b -p '{}'`; free resources, add a node", ["kubectl -n a patch service b -p '{}'"]],
    ['install them: `apt-get install qemu-system-x86`', ['apt-get install qemu-system-x86']],
    ['choose a private range', []],
    ['correct the fields named here; `kubectl explain` shows what the cluster expects', []],
  ] as const)('of "%s" can be copied', (remedy, commands) => {
    expect(findCommands(remedy)).toEqual(commands)
  })
})

describe('the cloud of a finding', () => {
  const { documents } = brokenExample()
  const { findings } = documents.findings as FindingsDocument
  const overview = documents.overview as OverviewDocument

  it('is a cloud, also for a pool in the namespace of MetalLB, or none', () => {
    expect(findings.some(({ place, cloud }) => place?.includes('metallb-system/openstack') && cloud)).toBe(true)
    expect(findings.flatMap(({ cloud }) => cloud ?? []).filter((cloud) => !/^rhoso[12]$/.test(cloud))).toEqual([])
  })

  it('counts each finding once in the overview, those without a cloud for what the clouds share', () => {
    const errors = findings.filter(({ severity, accepted }) => severity === 'error' && !accepted).length
    expect(overview.findings.error).toBe(errors)
    expect(overview.clouds.reduce((sum, line) => sum + line.findings.error, 0)).toBe(errors)
  })
})
