import { describe, expect, it } from 'vitest'
import { dnsMasq } from '../../test/dns.ts'
import type { DnsMasq } from '../api/dnsmasq.ts'
import type { AdmissionRequest } from '../kube/admission.ts'
import { defaultDnsMasq, validateDnsMasq } from './dns-webhooks.ts'

const context = { signal: new AbortController().signal } as never
const request = (object: DnsMasq, oldObject?: DnsMasq): AdmissionRequest =>
  ({
    kind: { group: 'network.openstack.org', version: 'v1beta1', kind: 'DNSMasq' },
    operation: oldObject ? 'UPDATE' : 'CREATE',
    name: object.metadata.name,
    namespace: 'openstack',
    object,
    oldObject,
  }) as unknown as AdmissionRequest
const smuggled = dnsMasq('dns', 'openstack', {
  options: [{ key: 'server', values: ['1.1.1.1\nconf-file=/x'] }],
})

describe('the DNSMasq webhook', () => {
  it('refuses a directive in a value, with the field', async () => {
    const answer = await validateDnsMasq(request(smuggled), context)
    expect(answer).toMatchObject({ allowed: false, causes: [{ field: 'spec.options[0].values[0]' }] })
  })

  it('warns of a problem that the stored object already had', async () => {
    const edited = { ...smuggled, spec: { ...smuggled.spec, replicas: 2 } }
    expect(await validateDnsMasq(request(edited, smuggled), context)).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('line break')],
    })
  })

  it('defaults the image, and the local option where the served CRD has it', async () => {
    const bare = { ...dnsMasq('dns', 'openstack'), spec: {} }
    const local = { key: 'local', values: ['/openstack.svc/'] }
    const currentDefaults = defaultDnsMasq({ image: 'image', hasOption: async () => true })
    expect(await currentDefaults(request(bare), context)).toEqual({
      allowed: true,
      patch: [
        { op: 'add', path: '/spec/containerImage', value: 'image' },
        { op: 'add', path: '/spec/options', value: [local] },
      ],
    })
    const legacyDefaults = defaultDnsMasq({ image: 'image', hasOption: async () => false })
    expect(await legacyDefaults(request(dnsMasq('dns', 'openstack')), context)).toEqual({ allowed: true })
  })
})
