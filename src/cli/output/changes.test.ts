import { describe, expect, it } from 'vitest'
import type { DocumentChange, SiteChanges } from '../../deploy/site-changes.ts'
import type { FieldDifference } from '../../verify/field-differences.ts'
import { formatChanges } from './changes.ts'

function shown(fields: readonly FieldDifference[]): readonly string[] {
  const document: DocumentChange = {
    change: 'update',
    desired: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'y' } },
    fields,
    foreign: [],
    risk: 'safe',
    stage: 'nncp',
  }
  const changes: SiteChanges = {
    documents: [document],
    settings: [],
    leftovers: [],
    inventories: [],
    findings: [],
  }
  return formatChanges(changes, { columns: 80, colour: false, brief: false }).trimEnd().split('\n')
}

const address = (ip: string) => ({ ip, 'prefix-length': 24 })

describe('changes at 80 columns', () => {
  it('take one line per field if it fits', () => {
    expect(shown([{ path: 'spec.autoAssign', live: true, desired: false }])).toEqual([
      'shared: 1 to change',
      '  ~ ConfigMap y/x',
      '      spec.autoAssign: true -> false',
    ])
  })

  it('show only the removed and added items of a long list', () => {
    const path = 'spec.desiredState.interfaces[name=enp6s0.20].ipv4.address'
    const live = [address('172.17.0.5'), address('172.27.0.5')]
    const lines = shown([{ path, live, desired: [address('172.17.0.5'), address('172.37.0.5')] }])
    expect(lines.slice(2)).toEqual([
      `      ${path}:`,
      '        - {"ip":"172.27.0.5","prefix-length":24}',
      '        + {"ip":"172.37.0.5","prefix-length":24}',
    ])
  })

  it('are never wider, and count the fields that are left out', () => {
    const fields = Array.from({ length: 15 }, (_, index) => ({
      path: `spec.field${index}`,
      live: 'a'.repeat(200),
      desired: 'b'.repeat(200),
    }))
    const lines = shown(fields)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    expect(lines.at(-1)).toBe('      and 3 more: -o json has them all')
  })
})
