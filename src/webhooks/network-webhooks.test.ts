import { describe, expect, it } from 'vitest'
import { ipSet, netConfig, threeNetworks } from '../../test/ipam.ts'
import type { IpSet, IpSetSpec } from '../api/ipset.ts'
import type { NetConfig, NetConfigSpec } from '../api/netconfig.ts'
import type { KubeObject } from '../api/object.ts'
import type { AdmissionRequest, AdmissionResponse } from '../kube/admission.ts'
import { type NetworkView, networkHandlers, networkWebhooks } from './network-webhooks.ts'
import { webhookConfigurations } from './webhook-configuration.ts'

interface Setting {
  readonly netConfigs?: readonly NetConfig[]
  /** What the cache has, where it is behind. */
  readonly cached?: readonly NetConfig[]
  readonly ipSets?: readonly IpSet[]
  readonly holder?: string
  readonly allocators?: Awaited<ReturnType<NetworkView['otherAllocators']>>
}

const config = netConfig(threeNetworks)

function review(
  path: string,
  request: { object?: KubeObject; oldObject?: KubeObject; operation: AdmissionRequest['operation'] },
  { netConfigs = [config], cached = netConfigs, ipSets = [], holder, allocators = [] }: Setting = {},
): Promise<AdmissionResponse> {
  const view: NetworkView = {
    cachedNetConfigs: () => cached,
    netConfigs: async () => netConfigs,
    ipSets: async () => ipSets,
    findHolder: () => holder,
    otherAllocators: async () => allocators,
    hasServiceNetwork: async () => true,
  }
  const handler = networkHandlers(view, ['openstack.org/ipset', 'IPSet'])[`/${path}`]
  if (!handler) throw new Error(`no webhook at ${path}`)
  const { object, oldObject } = request
  const name = (object ?? oldObject)?.metadata.name ?? ''
  const kind = { group: 'network.openstack.org', version: 'v1beta1', kind: (object ?? oldObject)?.kind ?? '' }
  const resource = { group: kind.group, version: kind.version, resource: '' }
  const full = { uid: '1', kind, resource, name, namespace: 'ns', ...request }
  return Promise.resolve(handler(full, { signal: new AbortController().signal }))
}

const NETCONFIG = 'validate-network-openstack-org-v1beta1-netconfig'
const IPSET = 'validate-network-openstack-org-v1beta1-ipset'
const createConfig = (spec: NetConfigSpec, setting: Setting = { netConfigs: [] }): Promise<AdmissionResponse> =>
  review(NETCONFIG, { operation: 'CREATE', object: netConfig(spec) }, setting)
const updateConfig = (spec: NetConfigSpec, old: NetConfigSpec, setting?: Setting): Promise<AdmissionResponse> =>
  review(NETCONFIG, { operation: 'UPDATE', object: netConfig(spec), oldObject: netConfig(old) }, setting)
const createSet = (object: IpSet, setting?: Setting): Promise<AdmissionResponse> =>
  review(IPSET, { operation: 'CREATE', object }, setting)
const updateSet = (spec: Partial<IpSetSpec>, old: IpSet): Promise<AdmissionResponse> =>
  review(IPSET, { operation: 'UPDATE', object: { ...old, spec: { ...old.spec, ...spec } }, oldObject: old })

/** The first network's subnet, changed. */
function changed(change: Partial<NetConfigSpec['networks'][number]['subnets'][number]>): NetConfigSpec {
  const [first, ...rest] = threeNetworks.networks
  if (!first) throw new Error('no network')
  return { networks: [{ ...first, subnets: first.subnets.map((subnet) => ({ ...subnet, ...change })) }, ...rest] }
}

describe('the NetConfig webhook', () => {
  it('allows a valid NetConfig', async () => {
    expect(await createConfig(threeNetworks)).toEqual({ allowed: true })
  })

  it('refuses a second NetConfig in the namespace', async () => {
    const other = { ...config, metadata: { ...config.metadata, name: 'other' } }
    const answer = await createConfig(threeNetworks, { netConfigs: [other] })
    expect(answer.reason).toBe('there is already NetConfig other in namespace ns, there can only be one')
  })

  it('names field, value and rule like the API server does', async () => {
    const answer = await createConfig(changed({ gateway: '10.0.0.1' }))
    expect(answer.reason).toBe(
      'NetConfig.network.openstack.org "netconfig" is invalid: spec.networks[0].subnets[0].gateway: Invalid value: "10.0.0.1": address not in IP address prefix (CIDR) 172.17.0.0/24',
    )
    expect(answer.causes).toMatchObject([{ field: 'spec.networks[0].subnets[0].gateway' }])
  })

  it('refuses a new violation of an own rule, and warns of one that existed before', async () => {
    const gatewayInside = changed({ allocationRanges: [{ start: '172.17.0.1', end: '172.17.0.9' }] })
    expect(await createConfig(gatewayInside)).toMatchObject({ allowed: false })
    expect(await updateConfig(gatewayInside, threeNetworks)).toMatchObject({ allowed: false })
    const answer = await updateConfig(gatewayInside, gatewayInside)
    expect(answer).toMatchObject({ allowed: true })
    expect(answer.warnings).toHaveLength(1)
  })

  it('refuses changes of networks, subnets, CIDRs and VLANs while IPSets exist, and allows another gateway', async () => {
    const setting = { ipSets: [ipSet('a', [{}])] }
    const without = { networks: threeNetworks.networks.slice(1) }
    expect(await updateConfig(without, threeNetworks, setting)).toMatchObject({ allowed: false })
    expect(await updateConfig(changed({ vlan: 99 }), threeNetworks, setting)).toMatchObject({
      allowed: false,
    })
    expect(await updateConfig(changed({ gateway: '172.17.0.2' }), threeNetworks, setting)).toEqual({
      allowed: true,
    })
    expect(await updateConfig(without, threeNetworks)).toEqual({ allowed: true })
  })

  it('warns of addresses in use that a smaller range leaves outside', async () => {
    const assigned = { network: 'net-1', subnet: 'subnet1', address: '172.17.0.100' }
    const user: IpSet = { ...ipSet('a', [{}]), status: { reservations: [assigned] } }
    const smaller = changed({ allocationRanges: [{ start: '172.17.0.150', end: '172.17.0.200' }] })
    const answer = await updateConfig(smaller, threeNetworks, { ipSets: [user] })
    expect(answer.allowed).toBe(true)
    expect(answer.warnings?.[0]).toContain('172.17.0.100 (a)')
  })

  it('warns of ranges that another allocator uses, and when they could not be read', async () => {
    const range = { family: 4, first: 0xac11_0064n, last: 0xac11_0066n } as const
    const allocators = [{ source: 'IPAddressPool metallb-system/a', ranges: [range] }]
    for (const answer of [
      await createConfig(threeNetworks, { netConfigs: [], allocators }),
      await updateConfig(threeNetworks, threeNetworks, { allocators }),
    ]) {
      expect(answer.allowed).toBe(true)
      expect(answer.warnings?.[0]).toContain('overlaps 172.17.0.100-172.17.0.102 of IPAddressPool')
    }
    const unread = await createConfig(threeNetworks, { netConfigs: [], allocators: { problem: 'forbidden' } })
    expect(unread.warnings).toEqual(['overlaps with MetalLB and network attachments were not checked: forbidden'])
  })

  it('refuses to delete a NetConfig while an IPSet exists', async () => {
    const request = { operation: 'DELETE', oldObject: config } as const
    expect((await review(NETCONFIG, request, { ipSets: [ipSet('a', [{}])] })).reason).toBe(
      'unable to delete NetConfig while there are still 1 IPSets in the namespace',
    )
    expect(await review(NETCONFIG, request)).toEqual({ allowed: true })
  })

  it('defaults the service network', async () => {
    const path = 'mutate-network-openstack-org-v1beta1-netconfig'
    const answer = await review(path, { operation: 'CREATE', object: config })
    expect(answer.patch?.[0]).toEqual({ op: 'add', path: '/spec/networks/0/serviceNetwork', value: 'net-1' })
  })
})

describe('the IPSet webhook', () => {
  it('refuses an IPSet without a NetConfig, after asking the API server', async () => {
    const answer = await createSet(ipSet('a', [{}]), { netConfigs: [] })
    expect(answer.reason).toBe('no NetConfig found in namespace ns, please create one')
    expect(await createSet(ipSet('a', [{}]), { cached: [] })).toEqual({ allowed: true })
  })

  it('finds networks ignoring case', async () => {
    expect(await createSet(ipSet('a', [{ name: 'Net-1', subnetName: 'Subnet1' }]))).toEqual({ allowed: true })
  })

  it('warns of a fixedIP that is taken, excluded or the gateway, and allows it', async () => {
    const fixed = (fixedIP: string): IpSet => ipSet('a', [{ fixedIP }])
    for (const [address, words] of [
      ['172.17.0.201', 'is in ExcludeAddresses'],
      ['172.17.0.1', 'is the gateway'],
      ['172.17.0.150', 'already reserved by ns2/b'],
    ] as const) {
      const answer = await createSet(fixed(address), { holder: 'ns2/b' })
      expect(answer.allowed).toBe(true)
      expect(answer.warnings?.[0]).toContain(words)
    }
  })

  it('refuses changes of an immutable IPSet until it is made mutable', async () => {
    const made = ipSet('a', [{}])
    const old = { ...made, spec: { ...made.spec, immutable: true } }
    const more = [...made.spec.networks, { name: 'net-2', subnetName: 'subnet1' }]
    const answer = await updateSet({ networks: more }, old)
    expect(answer.reason).toContain('Forbidden: Invalid value: "object": Spec.Networks is immutable')
    expect(await updateSet({ immutable: false }, old)).toEqual({ allowed: true })
    expect(await updateSet({ networks: more }, made)).toEqual({ allowed: true })
  })

  it('allows updates of an IPSet that is being deleted, even without a NetConfig', async () => {
    const made = ipSet('a', [{}])
    const deleting = { ...made, metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const request = { operation: 'UPDATE', object: deleting, oldObject: deleting } as const
    expect(await review(IPSET, request, { netConfigs: [] })).toEqual({ allowed: true })
  })

  it('adds the finalizer at creation unless either name of it is present', async () => {
    const path = 'mutate-network-openstack-org-v1beta1-ipset'
    const made = ipSet('a', [{}])
    const answer = await review(path, { operation: 'CREATE', object: made })
    expect(answer.patch).toEqual([{ op: 'add', path: '/metadata/finalizers', value: ['openstack.org/ipset'] }])
    const old = { ...made, metadata: { ...made.metadata, finalizers: ['IPSet'] } }
    expect((await review(path, { operation: 'CREATE', object: old })).patch).toBeUndefined()
  })
})

describe('webhookConfigurations', () => {
  it('registers exactly the paths that have a handler', () => {
    const paths = webhookConfigurations(networkWebhooks, { url: 'https://127.0.0.1:9443/' }).flatMap(({ webhooks }) =>
      (webhooks as readonly { clientConfig: { url: string } }[]).map(({ clientConfig }) => new URL(clientConfig.url)),
    )
    const handlers = Object.keys(networkHandlers({} as NetworkView, []))
    expect([...new Set(paths.map(({ pathname }) => pathname))].sort()).toEqual(handlers.sort())
  })

  it('lets deletions and the removal of finalizers pass while no operator answers, and refuses other writes', () => {
    const [, validating] = webhookConfigurations(networkWebhooks, { url: 'https://127.0.0.1:9443/' })
    const entries = validating?.['webhooks'] as readonly {
      failurePolicy: string
      matchConditions?: readonly { name: string }[]
      rules: readonly { operations: readonly string[] }[]
    }[]
    for (const { failurePolicy, matchConditions = [], rules } of entries) {
      const operations = rules.flatMap((rule) => rule.operations)
      expect(failurePolicy).toBe(operations.includes('DELETE') ? 'Ignore' : 'Fail')
      const names = matchConditions.map(({ name }) => name)
      expect(names.includes('not-being-deleted')).toBe(operations.includes('UPDATE'))
    }
    expect(entries.filter(({ failurePolicy }) => failurePolicy === 'Ignore')).toHaveLength(1)
  })
})
