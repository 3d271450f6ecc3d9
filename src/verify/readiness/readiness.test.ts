import { describe, expect, it } from 'vitest'
import { context } from '../../../test/readiness.ts'
import { indexSnapshot } from '../../api/snapshot.ts'
import { objectReadiness } from './readiness.ts'

describe('the readiness of an object', () => {
  const wanted = { apiVersion: 'v1', kind: 'Service', namespace: 'openstack', name: 'dns' }

  it('is progressing while the object does not exist', () => {
    expect(objectReadiness(wanted, context([]))).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/dns to exist',
    })
  })

  it('is progressing when its kind could not be read', () => {
    const around = indexSnapshot({ objects: [], unread: [{ apiVersion: 'v1', kind: 'Service', reason: 'forbidden' }] })
    expect(objectReadiness(wanted, { ...context([]), around })).toEqual({
      kind: 'progressing',
      waits: 'Service openstack/dns, which cannot be read: forbidden',
    })
  })
})
