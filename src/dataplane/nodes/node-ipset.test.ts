import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import { design2023, netConfig } from '../../../test/ipam.ts'
import type { NetConfig } from '../../api/netconfig.ts'
import type { Condition } from '../../api/object.ts'
import type { DataPlaneNodeSpec, NodeSection } from '../kinds/data-plane.ts'
import { resolveNode } from '../rules/inheritance.ts'
import { type AddressRequest, addressesState, buildAddressRequest } from './node-ipset.ts'

const config = design2023.netConfig

function wishOf(
  networks: NodeSection['networks'],
  spec: DataPlaneNodeSpec = {},
  from: NetConfig | undefined = config,
): AddressRequest {
  const role = dataPlaneRole('r', { nodeTemplate: { networks } })
  const node = dataPlaneNode('n', { role: 'r', ...spec })
  return buildAddressRequest(node, resolveNode(node, role), from)
}
const asked = (wish: AddressRequest): unknown => (wish.kind === 'wanted' ? wish.ipSet.spec.networks : wish.kind)
const why = (wish: AddressRequest): string => (wish.kind === 'wrong' ? wish.finding.message : wish.kind)

describe('the addresses that a node asks for', () => {
  it("are those of its networks, in NetConfig's spelling, under the name of its host", () => {
    const wish = wishOf([{ name: 'ctlplane', defaultRoute: true }, { network: 'internalapi' }], {
      hostName: 'host',
    })
    expect(wish.kind === 'wanted' && wish.ipSet.metadata.name).toBe('host')
    expect(asked(wish)).toEqual([
      { name: 'CtlPlane', subnetName: 'subnet1', defaultRoute: true },
      { name: 'InternalApi', subnetName: 'subnet1' },
    ])
  })

  it('are none where no address is managed, or no network is named', () => {
    const node = dataPlaneNode('n', { node: { networks: [{ name: 'ctlplane' }] } })
    expect(buildAddressRequest(node, resolveNode(node, undefined), undefined).kind).toBe('none')
    expect(wishOf([]).kind).toBe('none')
  })

  it('keep the one at which Ansible reaches the node, if it is of the management network', () => {
    const at = (ansibleHost: string): unknown => asked(wishOf([{ name: 'ctlplane' }], { ansibleHost }))
    expect(at('192.168.122.105')).toMatchObject([{ fixedIP: '192.168.122.105' }])
    expect(at('10.9.9.9')).toEqual([{ name: 'CtlPlane', subnetName: 'subnet1' }])
    expect(at('node.example.org')).toEqual([{ name: 'CtlPlane', subnetName: 'subnet1' }])
    const fixed = wishOf([{ name: 'ctlplane', fixedIP: '192.168.122.7' }], { ansibleHost: '192.168.122.105' })
    expect(asked(fixed)).toMatchObject([{ fixedIP: '192.168.122.7' }])
  })

  it('are refused with the names that there are', () => {
    expect(why(wishOf([{ name: 'internlapi' }]))).toContain('has no network internlapi: it has CtlPlane, Int')
    expect(why(wishOf([{ name: 'ctlplane', subnetName: 'other' }]))).toContain(
      'network CtlPlane has no subnet other: it has subnet1',
    )
    const [first] = config.spec.networks
    const subnets = first ? [...first.subnets, ...first.subnets.map((subnet) => ({ ...subnet, name: 'subnet2' }))] : []
    const two = netConfig({ networks: [{ name: 'ctlplane', mtu: 1500, subnets }] })
    expect(why(wishOf([{ name: 'ctlplane' }], {}, two))).toContain(
      'network ctlplane needs a subnetName: it has subnet1, subnet2',
    )
    expect(why(wishOf([{ fixedIP: '192.168.122.7' }]))).toContain('has no name')
  })
})

describe('what a node waits for', () => {
  const plain = dataPlaneNode('n', { role: 'r' })
  const node = { ...plain, metadata: { ...plain.metadata, uid: 'u' } }
  const role = dataPlaneRole('r', { nodeTemplate: { networks: [{ name: 'ctlplane' }] } })
  const wish = buildAddressRequest(node, resolveNode(node, role), config)
  const made = wish.kind === 'wanted' ? wish.ipSet : undefined
  const ready = (status: 'True' | 'False', message = ''): readonly Condition[] => [{ type: 'Ready', status, message }]
  const standing = (over: object): unknown =>
    addressesState(node, wish, made && { ...made, metadata: { ...made.metadata, generation: 2 }, ...over })

  it('is its IPSet, until that is Ready as it stands', () => {
    expect(addressesState(node, wish, undefined)).toMatchObject({ why: 'Waiting for IPSet n' })
    expect(standing({})).toMatchObject({ why: 'Waiting for IPSet n: nobody has looked at it yet' })
    expect(standing({ status: { conditions: ready('False', 'no room') } })).toMatchObject({
      why: 'Waiting for IPSet n: no room',
    })
    expect(standing({ status: { conditions: ready('True'), observedGeneration: 1 } })).toMatchObject({
      kind: 'awaited',
    })
    expect(standing({ status: { conditions: ready('True'), observedGeneration: 2 } })).toEqual({
      kind: 'there',
    })
  })

  it('is not one of its own that asks for something else; what a person asks for is theirs', () => {
    const other = { spec: { immutable: false, networks: [] }, status: { conditions: ready('True') } }
    expect(standing(other)).toMatchObject({ kind: 'awaited' })
    const byHand = made && { ...made, ...other, metadata: { name: 'n', namespace: 'openstack' } }
    expect(addressesState(node, wish, byHand)).toEqual({ kind: 'there' })
  })
})
