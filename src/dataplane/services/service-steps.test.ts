import { describe, expect, it } from 'vitest'
import type { NovaExternalCompute } from '../kinds/nova.ts'
import { novaExternalComputes } from '../kinds/nova.ts'
import { novaService } from '../service-definitions/nova.ts'
import { buildServiceConfig } from './service-steps.ts'

const facts = {
  transportUrl: 'rabbit://a:b@c',
  keystoneAuthUrl: 'http://keystone:5000',
  serviceUser: 'nova',
  servicePassword: 'p',
  host: 'edpm-compute-0',
}

function compute(spec: NovaExternalCompute['spec']): NovaExternalCompute {
  return { ...novaExternalComputes, metadata: { name: 'edpm-compute-0', namespace: 'openstack' }, spec }
}

describe('the configuration of a service that no webhook has checked', () => {
  it('is written for a cell', () => {
    expect(buildServiceConfig(novaService, compute({ cellName: 'nova-cell1' }), facts)).toMatchObject({ kind: 'files' })
  })

  it.each<[string, NovaExternalCompute['spec'], string]>([
    ['a cell that has no computes', { cellName: 'nova-cell0' }, 'SL7101'],
    ['a cell that cannot exist', { cellName: "{{ lookup('pipe', 'id') }}" }, 'SL7101'],
    ['another message bus', { customServiceConfig: '[DEFAULT]\ntransport_url = rabbit://x\n' }, 'SL70'],
  ])('is refused with %s', (_, spec, code) => {
    const config = buildServiceConfig(novaService, compute({ cellName: 'nova-cell1', ...spec }), facts)
    expect(config).toMatchObject({ kind: 'refused', findings: [{ code: expect.stringContaining(code) }] })
  })
})
