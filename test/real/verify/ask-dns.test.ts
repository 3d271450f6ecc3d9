/** What `verify --ask-dns` hears, from the real dnsmasq as a cloud's pod runs it. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { askDns } from '../../../src/cli/verify/ask-dns.ts'
import { missingPrograms } from '../dns/ask.ts'
import { type ServedHosts, servedHosts } from '../dns/served.ts'

const refusal = missingPrograms()
let served: ServedHosts | undefined

beforeEach((context) => {
  if (refusal !== undefined) context.skip(refusal)
})
afterEach(async () => {
  await served?.stop()
  served = undefined
})

it('askDns returns addresses of both families, and none for an unknown name', async () => {
  const a = '172.17.0.80 keystone-internal.openstack.svc\nfd00:17::80 keystone-internal.openstack.svc\n'
  served = await servedHosts({ sources: { a } })
  const { answers, unreachable } = await askDns({
    server: `${served.server.address}:5353`,
    names: ['keystone-internal.openstack.svc', 'nova-internal.openstack.svc'],
    timeoutMs: 5_000,
    stop: new AbortController().signal,
  })
  expect(unreachable).toBeUndefined()
  expect(Object.fromEntries(answers)).toEqual({
    'keystone-internal.openstack.svc': ['172.17.0.80', 'fd00:17::80'],
    'nova-internal.openstack.svc': [],
  })
}, 120_000)
