/** Opens, for each question of docs/reference/operation.md, the places of the console that its row names. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { brokenExample, deployedExample } from '../../../test/console-documents.ts'
import { NOW } from '../../../test/doctor/objects.ts'
import { states } from '../../../test/doctor/states.ts'
import { diagnose } from '../../doctor/diagnose.ts'
import { rules } from '../../doctor/rules.ts'
import type { RunEvent } from '../../run/events.ts'
import type { AddressesDocument } from '../documents/addresses.ts'
import type { HostsDocument } from '../documents/hosts.ts'
import type { OverviewDocument } from '../documents/overview.ts'
import { documentNames } from '../routes.ts'
import { buildFindings } from './findings-list.ts'
import { buildRun, foldRun } from './runs.ts'

const page = (name: string): string => readFileSync(`docs/${name}`, 'utf8')
const rows = page('reference/operation.md')
  .split('\n')
  .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| question'))
  .map((line) => {
    const [question = '', commands = '', doctor = '', metric = '', places = ''] = line.split('|').slice(1, -1)
    return { question: question.trim(), commands, doctor, metric, places: places.trim() }
  })
const inCode = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)
const codesOf = (text: string): readonly string[] => [...new Set(text.match(/SL\d{4}/g))]

describe.each(rows.map((row) => [row.question, row] as const))('the question "%s"', (_, row) => {
  it('names commands, metrics and views that exist', () => {
    for (const command of inCode(row.commands).filter((word) => !word.startsWith('--'))) {
      const words = command.split(' ').filter((word) => !word.startsWith('--'))
      const help = page(`reference/commands/${words[0]}.md`)
      expect(help).toContain(`# stackloom ${words.join(' ')}\n`)
      for (const option of command.split(' ').filter((word) => word.startsWith('--'))) expect(help).toContain(option)
    }
    for (const metric of inCode(row.metric)) expect(page('guide/operator.md')).toContain(`\`${metric.split('{')[0]}\``)
    const views = row.places.split(', ').filter((place) => /^[A-Z]/.test(place))
    for (const view of views) expect([...documentNames, 'run']).toContain(view.toLowerCase())
  })

  it.each(codesOf(row.doctor))('shows %s in Findings, with place and remedy', (code) => {
    const rule = rules.find(({ problem }) => problem.code === code)
    const state = states.find((candidate) => candidate.rule === rule?.id)
    if (!state) throw new Error(`no state has ${code}`)
    const { objects, plan } = state
    const report = diagnose({ snapshot: { objects, unread: [] }, now: NOW, ...(plan && { plan }) }, rules)
    const input = {
      cloudName: (namespace: string) => namespace,
      title: (found: string) => `Title of ${found}`,
      fileOptions: [],
      clusterOptions: [],
      now: NOW,
      examination: { checks: [], report, time: new Date(NOW).toISOString() },
    }
    const line = buildFindings(input).findings.find((finding) => finding.code === code)
    expect(line).toMatchObject({ source: 'doctor', remedy: expect.any(String), place: expect.any(String) })
  })
})

describe('the other places', () => {
  it('Hosts says which host lacks what, which failed and why, and which certificates end', () => {
    const { nodeSets, certificates } = brokenExample().documents.hosts as HostsDocument
    const groups = nodeSets.flatMap((nodeSet) => nodeSet.groups)
    expect(groups).toContainEqual(expect.objectContaining({ verdict: 'failed', reason: expect.stringMatching(/./) }))
    expect(groups.flatMap(({ cells }) => cells.map(({ state }) => state))).toContain('failed')
    expect(certificates).toContainEqual(expect.objectContaining({ verdict: 'soon', daysLeft: 10 }))
  })

  it('Overview has the certificate that ends first', () => {
    const { clouds } = deployedExample().documents.overview as OverviewDocument
    expect(clouds.find(({ name }) => name === 'rhoso1')?.soonestCertificate).toMatchObject({ daysLeft: 10 })
  })

  it('Addresses says whether one more cloud fits', () => {
    expect((deployedExample().documents.addresses as AddressesDocument).oneMore).toMatchObject({ fits: true })
  })

  it('Run shows the removal of a host by stage, and what it waits for', () => {
    const stage = (name: string, ...after: readonly string[]) => ({
      id: `rhoso1/${name}`,
      stage: name,
      cloud: 'rhoso1',
      after,
    })
    const base = { run: 'r', time: new Date(NOW).toISOString(), cloud: 'rhoso1', stage: 'drain' }
    const stages = [stage('drain'), stage('stop', 'rhoso1/drain')]
    const events: readonly RunEvent[] = [
      { ...base, kind: 'run-started', what: 'hosts remove compute-3.example -n openstack --drain', stages },
      { ...base, kind: 'stage-started' },
      { ...base, kind: 'waiting', reason: 'web moves to compute-1' },
    ]
    const run = { id: 'r', source: 'recorded' as const, view: foldRun(events), events: events.length, isAlive: true }
    const shown = buildRun(run, [], NOW)
    expect(shown.run.state).toBe('running')
    expect(shown.command).toBe('stackloom hosts remove compute-3.example -n openstack --drain')
    expect(shown.stages.find(({ name }) => name === 'drain')).toMatchObject({ reason: 'web moves to compute-1' })
  })
})
