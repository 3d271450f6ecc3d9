import { describe, expect, it } from 'vitest'
import { healthy } from '../../test/doctor/healthy-cluster.ts'
import { NOW } from '../../test/doctor/objects.ts'
import { shortName } from '../../test/doctor/state.ts'
import { states } from '../../test/doctor/states.ts'
import { unusual } from '../../test/doctor/unusual.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { type Diagnosis, diagnose, type Report } from './diagnose.ts'
import { kindsToGather } from './kinds.ts'
import { rules } from './rules.ts'

const examine = (objects: Parameters<typeof shortName>[0][], plan?: (typeof states)[number]['plan']): Report =>
  diagnose({ snapshot: { objects, unread: [] }, now: NOW, ...(plan && { plan }) }, rules)

const objectOf = ({ where }: Diagnosis): string =>
  where && 'kind' in where ? shortName({ ...where, metadata: where }) : ''

describe('every rule', () => {
  it('has a unique id, a unique code and a state', () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
    expect(new Set(rules.map(({ problem }) => problem.code)).size).toBe(rules.length)
    const covered = new Set(states.map(({ rule }) => rule))
    expect(rules.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([])
  })

  it.each(states.map((state) => [state.rule, state.when, state] as const))('%s: %s', (_rule, _when, state) => {
    const { diagnoses, findings } = examine([...state.objects], state.plan)
    expect(findings).toEqual([])
    const mine = diagnoses.filter(({ rule }) => rule === state.rule)
    expect(mine.map(objectOf)).toContain(state.about)
    const [found] = mine.filter((diagnosis) => objectOf(diagnosis) === state.about)
    const words = [found?.message, found?.remedy, ...(found?.saw ?? [])].join('\n')
    for (const text of state.says) expect(words).toContain(text)
    for (const text of state.never ?? []) expect(words).not.toContain(text)
    // Nothing else is blamed: what is not the cause follows from one.
    const causes = diagnoses.filter(({ followsFrom }) => followsFrom === undefined).map(({ rule }) => rule)
    expect([...new Set(causes)].sort()).toEqual([state.rule, ...(state.beside ?? [])].sort())
  })
})

describe('a healthy cluster', () => {
  it('has no findings', () => {
    const { diagnoses, blind } = examine([...healthy()])
    expect(diagnoses.map((diagnose) => `${diagnose.rule} ${objectOf(diagnose)}: ${diagnose.message}`)).toEqual([])
    expect(blind).toEqual([])
  })

  it.each(unusual.map(({ when, objects }) => [when, objects] as const))('has none when %s', (_, objects) => {
    const { diagnoses } = examine([...objects])
    expect(diagnoses.map((diagnose) => `${diagnose.rule} ${objectOf(diagnose)}: ${diagnose.message}`)).toEqual([])
  })

  it('has none when it is empty', () => {
    expect(examine([]).diagnoses).toEqual([])
  })
})

/** What the API server checks. */
const isName = (field: string): boolean => ['apiVersion', 'kind', 'name', 'namespace'].includes(field)

/** What the author of an object chooses. */
function chosenTexts(value: unknown, field = ''): readonly string[] {
  if (typeof value === 'string') return isName(field) ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => chosenTexts(child, key))
}

function replaceText(value: unknown, text: string, by: string, field = ''): unknown {
  if (value === text) return isName(field) ? value : by
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((child) => replaceText(child, text, by, field))
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, replaceText(child, text, by, key)]))
}

describe('a command of a remedy', () => {
  it('runs nothing of a text that the author of an object chose', () => {
    const attack = '$(touch attacked)'
    const printed = states.flatMap(({ objects, plan, rule }) => {
      const remedies = (cluster: typeof objects): readonly string[] =>
        examine([...cluster], plan).diagnoses.flatMap((diagnosis) =>
          diagnosis.rule === rule ? [diagnosis.remedy] : [],
        )
      const before = remedies(objects).join('\n')
      const texts = [...new Set(objects.flatMap((object) => chosenTexts(object)))].filter((text) => text.length > 1)
      return texts
        .filter((text) => before.includes(text))
        .flatMap((text) => remedies(replaceText(objects, text, `${text}${attack}`) as typeof objects))
        .flatMap((remedy) => remedy.split(/; |\. /))
        .filter((part) => part.includes('kubectl') && part.includes(attack))
    })
    // Otherwise nothing was tried.
    expect(printed.length).toBeGreaterThan(0)
    const isQuoted = (command: string): boolean => command.slice(0, command.indexOf(attack)).split("'").length % 2 === 0
    expect(printed.filter((command) => !isQuoted(command))).toEqual([])
  })
})

describe('a kind that could not be read', () => {
  const kinds = new Map(
    [...kindsToGather(rules), { apiVersion: 'v1', kind: 'Secret' }].map((groupVersionKind) => [
      formatGroupKind(groupVersionKind),
      groupVersionKind,
    ]),
  )

  it.each([...kinds])('is unknown, not missing: %s', (groupKind, kind) => {
    const objects = healthy().filter((object) => formatGroupKind(object) !== groupKind)
    for (const cause of ['forbidden', 'not-dumped', 'failed'] as const) {
      const snapshot = { objects, unread: [{ ...kind, reason: cause, cause }] }
      const { diagnoses } = diagnose({ snapshot, now: NOW }, rules)
      expect(diagnoses.map((diagnose) => `${diagnose.rule} ${objectOf(diagnose)}: ${diagnose.message}`)).toEqual([])
    }
  })

  it('is reported with the rules that need it', () => {
    const pools = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' }
    const objects = healthy().filter(({ kind }) => kind !== 'IPAddressPool')
    const snapshot = { objects, unread: [{ ...pools, reason: 'forbidden', cause: 'forbidden' as const }] }
    const { blind } = diagnose({ snapshot, now: NOW }, rules)
    expect(blind).toContainEqual({ rule: 'metallb/pending-no-pools', unknown: ['metallb.io/IPAddressPool'] })
    expect(blind.map(({ rule }) => rule)).not.toContain('nmstate/policy-failed')
  })
})
