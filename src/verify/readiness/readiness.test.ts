import { describe, expect, it } from 'vitest'
import { context } from '../../../test/readiness.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { objectReadiness } from './readiness.ts'

describe('existence comes first', () => {
  const wanted = { apiVersion: 'v1', kind: 'Service', namespace: 'openstack', name: 'dns' }

  it('waits for what is not there yet', () => {
    expect(objectReadiness(wanted, context([]))).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/dns to exist',
    })
  })

  it('does not take a kind that could not be read for one that has no objects', () => {
    const around = indexSnapshot({
      objects: [],
      unread: [{ apiVersion: 'v1', kind: 'Service', reason: 'forbidden' }],
    })
    expect(objectReadiness(wanted, { ...context([]), around })).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/dns, which cannot be read: forbidden',
    })
  })
})
