import { describe, expect, it } from 'vitest'
import { judge, object } from '../../../test/readiness.ts'

describe('kinds without a status', () => {
  const pool = (addresses: readonly string[]) =>
    object({
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      spec: { addresses },
    })

  it('are ready when the live object has the applied fields', () => {
    const desired = pool(['172.17.0.80-172.17.0.90'])
    expect(judge(desired, [], { desired }).kind).toBe('ready')
    expect(judge(pool(['172.17.0.80-172.17.0.99']), [], { desired })).toEqual({
      kind: 'progressing',
      waits: 'IPAddressPool metallb-system/it to have spec.addresses[0] as applied',
    })
  })
})
