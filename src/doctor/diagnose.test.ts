import { describe, expect, it } from 'vitest'
import { NOW, object } from '../../test/doctor/objects.ts'
import { states } from '../../test/doctor/states.ts'
import type { KubeObject } from '../api/object.ts'
import { problem, type Severity } from '../errors/finding.ts'
import { type Diagnosis, diagnose } from './diagnose.ts'
import { type Likelihood, type Rule, rule } from './rule.ts'
import { rules } from './rules.ts'

const a = object('v1/Pod', 'x/a')
const b = object('v1/Pod', 'x/b')
const c = object('v1/Pod', 'x/c')

interface Words {
  readonly about: KubeObject
  readonly dependsOn?: readonly KubeObject[]
  readonly severity?: Severity
  readonly likelihood?: Likelihood
}

function played(id: string, { about, dependsOn = [], severity = 'error', likelihood = 'proven' }: Words): Rule {
  const told = () => 'something to say'
  return rule({
    id,
    problem: problem({
      code: id,
      severity,
      message: told,
      remedy: told,
    }),
    looksAt: ['Pod'],
    likelihood,
    link: 'https://example.com',
    match: () => [{ about, facts: {}, dependsOn: dependsOn }],
  })
}

const judged = (...all: readonly Rule[]): readonly Diagnosis[] =>
  diagnose({ snapshot: { objects: [a, b, c], unread: [] }, now: NOW }, all).diagnoses
const causes = (all: readonly Diagnosis[]): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(all.map(({ rule: id, followsFrom }) => [id, followsFrom?.code]))

describe('diagnoses', () => {
  it('are ordered by severity, likelihood and rule order', () => {
    const all = judged(
      played('likely', { about: a, likelihood: 'likely' }),
      played('warning', { about: a, severity: 'warning' }),
      played('ground', { about: a }),
      played('above', { about: a }),
    )
    expect(all.map(({ rule: id }) => id)).toEqual(['ground', 'above', 'likely', 'warning'])
  })

  it('follow from the root cause', () => {
    const all = judged(
      played('A', { about: a }),
      played('B', { about: b, dependsOn: [a] }),
      played('C', { about: c, dependsOn: [b] }),
    )
    expect(causes(all)).toEqual({ A: undefined, B: 'A', C: 'A' })
  })

  it('have the best-ranked finding as the cause of a cycle', () => {
    const all = judged(
      played('A', { about: a, dependsOn: [b], likelihood: 'likely' }),
      played('B', { about: b, dependsOn: [a] }),
      played('C', { about: c, dependsOn: [a] }),
    )
    expect(causes(all)).toEqual({ A: 'B', B: undefined, C: 'B' })
  })

  it('with severity error do not follow from a warning', () => {
    const all = judged(played('A', { about: a, severity: 'warning' }), played('B', { about: b, dependsOn: [a] }))
    expect(causes(all)).toEqual({ A: undefined, B: undefined })
  })

  it('always follow from an existing root cause', () => {
    for (const { objects, plan } of states) {
      const examination = { snapshot: { objects, unread: [] }, now: NOW, ...(plan && { plan }) }
      const { diagnoses } = diagnose(examination, rules)
      const roots = new Set(diagnoses.filter(({ followsFrom }) => !followsFrom).map(({ code }) => code))
      for (const { followsFrom } of diagnoses) if (followsFrom) expect(roots).toContain(followsFrom.code)
    }
  })

  it('include a finding for a rule that throws', () => {
    const broken: Rule = {
      ...played('broken', { about: a }),
      evaluate: () => {
        throw new TypeError('pools is not iterable')
      },
    }
    const report = diagnose({ snapshot: { objects: [a], unread: [] }, now: NOW }, [broken, played('A', { about: a })])
    expect(report.diagnoses.map(({ rule: id }) => id)).toEqual(['A'])
    expect(report.findings).toMatchObject([{ code: 'SL9500', message: expect.stringContaining('broken') }])
  })
})
