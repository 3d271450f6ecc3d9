import { describe, expect, it } from 'vitest'
import { parts } from './parts.ts'
import { collectRoles, findMissingRights } from './permissions.ts'

const scope = { namespace: 'home' }
const resourcesOf = (rules: readonly { readonly resources: readonly string[] }[]): readonly string[] =>
  rules.flatMap(({ resources }) => resources)

describe('the roles of the operator', () => {
  it('have a reason for every rule, and never grant everything', () => {
    const rules = collectRoles(parts, scope).flatMap((role) => role.rules)
    for (const rule of rules) {
      expect(rule.reason).not.toBe('')
      expect(JSON.stringify(rule)).not.toContain('"*"')
    }
    expect(resourcesOf(rules)).not.toContain('roles')
  })

  it('grant in other namespaces only what has no namespace, when the operator is limited to some', () => {
    const roles = collectRoles(parts, { ...scope, namespaces: ['a', 'b'], machineNamespaces: ['metal', 'a'] })
    expect(roles.map(({ namespace, suffix }) => [namespace, suffix])).toEqual([
      [undefined, undefined],
      ['home', undefined],
      ['a', '-part'],
      ['b', '-part'],
      ['metal', '-machines'],
    ])
    const [cluster, , part, , machines] = roles.map(({ rules }) => new Set(resourcesOf(rules)))
    for (const resource of ['secrets', 'pods/exec', 'jobs', 'ipsets', 'events']) {
      expect(cluster?.has(resource)).toBe(false)
      expect(part?.has(resource)).toBe(true)
    }
    expect([...(machines ?? [])].toSorted()).toEqual(['baremetalhosts', 'secrets'])
  })
})

describe('findMissingRights', () => {
  const [{ rules } = { rules: [] }] = collectRoles(parts, scope)

  it('finds nothing missing in exactly the rights, and in all rights', () => {
    expect(findMissingRights(rules, rules)).toEqual([])
    expect(findMissingRights(rules, [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])).toEqual([])
  })

  it('names every right that is taken away alone', () => {
    const required = rules.map((rule) => ({
      ...rule,
      verbs: rule.verbs.slice(0, 1),
      resources: rule.resources.slice(0, 1),
    }))
    for (const [index, rule] of required.entries()) {
      const granted = required.filter((_, other) => other !== index)
      const covered = granted.some(
        (other) =>
          other.apiGroups.join() === rule.apiGroups.join() &&
          other.resources.join() === rule.resources.join() &&
          other.verbs.join() === rule.verbs.join() &&
          other.resourceNames === undefined,
      )
      expect(findMissingRights([rule], granted)).toHaveLength(covered ? 0 : 1)
    }
  })

  it('does not accept a right on another name', () => {
    const rule = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'], resourceNames: ['a'], reason: 'x' }
    expect(findMissingRights([rule], [{ ...rule, resourceNames: ['b'] }])).toEqual([
      { right: 'list deployments.apps', reason: 'x' },
    ])
  })
})
