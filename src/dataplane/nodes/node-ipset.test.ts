import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import { design2023, netConfig } from '../../../test/ipam.ts'
import type { NetConfig } from '../../api/netconfig.ts'
import type { Condition } from '../../api/object.ts'
import type { DataPlaneNodeSpec, NodeSection } from '../kinds/data-plane.ts'
import { resolveNode } from '../rules/inheritance.ts'
import { type AddressRequest, addressesState, buildAddressRequest } from './node-ipset.ts'

const config = design2023.netConfig

function requestFor(
  networks: NodeSection['networks'],
  spec: DataPlaneNodeSpec = {},
  from: NetConfig | undefined = config,
): AddressRequest {
  const role = dataPlaneRole('r', { nodeTemplate: { networks } })
  const node = dataPlaneNode('n', { role: 'r', ...spec })
  return buildAddressRequest(node, resolveNode(node, role), from)
}
const requestedNetworks = (request: AddressRequest): unknown =>
  request.kind === 'requested' ? request.ipSet.spec.networks : request.kind
const problem = (request: AddressRequest): string =>
  request.kind === 'invalid' ? request.finding.message : request.kind

describe('the address request of a node', () => {
  it("has the networks in NetConfig's spelling, under the name of its host", () => {
    const request = requestFor([{ name: 'ctlplane', defaultRoute: true }, { network: 'internalapi' }], {
      hostName: 'host',
    })
    expect(request.kind === 'requested' && request.ipSet.metadata.name).toBe('host')
    expect(requestedNetworks(request)).toEqual([
      { name: 'CtlPlane', subnetName: 'subnet1', defaultRoute: true },
      { name: 'InternalApi', subnetName: 'subnet1' },
    ])
  })

  it('is absent without a NetConfig or without networks', () => {
    const node = dataPlaneNode('n', { node: { networks: [{ name: 'ctlplane' }] } })
    expect(buildAddressRequest(node, resolveNode(node, undefined), undefined).kind).toBe('none')
    expect(requestFor([]).kind).toBe('none')
  })

  it('keeps the address at which Ansible reaches the node, if it is in the management network', () => {
    const at = (ansibleHost: string): unknown => requestedNetworks(requestFor([{ name: 'ctlplane' }], { ansibleHost }))
    expect(at('192.168.122.105')).toMatchObject([{ fixedIP: '192.168.122.105' }])
    expect(at('10.9.9.9')).toEqual([{ name: 'CtlPlane', subnetName: 'subnet1' }])
    expect(at('node.example.org')).toEqual([{ name: 'CtlPlane', subnetName: 'subnet1' }])
    const fixed = requestFor([{ name: 'ctlplane', fixedIP: '192.168.122.7' }], { ansibleHost: '192.168.122.105' })
    expect(requestedNetworks(fixed)).toMatchObject([{ fixedIP: '192.168.122.7' }])
  })

  it('is invalid with a list of the existing names', () => {
    expect(problem(requestFor([{ name: 'internlapi' }]))).toContain('has no network internlapi: it has CtlPlane, Int')
    expect(problem(requestFor([{ name: 'ctlplane', subnetName: 'other' }]))).toContain(
      'network CtlPlane has no subnet other: it has subnet1',
    )
    const [first] = config.spec.networks
    const subnets = first ? [...first.subnets, ...first.subnets.map((subnet) => ({ ...subnet, name: 'subnet2' }))] : []
    const two = netConfig({ networks: [{ name: 'ctlplane', mtu: 1500, subnets }] })
    expect(problem(requestFor([{ name: 'ctlplane' }], {}, two))).toContain(
      'network ctlplane needs a subnetName: it has subnet1, subnet2',
    )
    expect(problem(requestFor([{ fixedIP: '192.168.122.7' }]))).toContain('has no name')
  })
})

describe('the address state of a node', () => {
  const plain = dataPlaneNode('n', { role: 'r' })
  const node = { ...plain, metadata: { ...plain.metadata, uid: 'u' } }
  const role = dataPlaneRole('r', { nodeTemplate: { networks: [{ name: 'ctlplane' }] } })
  const request = buildAddressRequest(node, resolveNode(node, role), config)
  const made = request.kind === 'requested' ? request.ipSet : undefined
  const ready = (status: 'True' | 'False', message = ''): readonly Condition[] => [{ type: 'Ready', status, message }]
  const stateWith = (over: object): unknown =>
    addressesState(node, request, made && { ...made, metadata: { ...made.metadata, generation: 2 }, ...over })

  it('is awaited until its IPSet is Ready at its generation', () => {
    expect(addressesState(node, request, undefined)).toMatchObject({ why: 'Waiting for IPSet n' })
    expect(stateWith({})).toMatchObject({ why: 'Waiting for IPSet n: it is not reconciled yet' })
    expect(stateWith({ status: { conditions: ready('False', 'no free address') } })).toMatchObject({
      why: 'Waiting for IPSet n: no free address',
    })
    expect(stateWith({ status: { conditions: ready('True'), observedGeneration: 1 } })).toMatchObject({
      kind: 'awaited',
    })
    expect(stateWith({ status: { conditions: ready('True'), observedGeneration: 2 } })).toEqual({
      kind: 'ready',
    })
  })

  it('is awaited while its own IPSet requests other networks, and ready with a manual IPSet', () => {
    const other = { spec: { immutable: false, networks: [] }, status: { conditions: ready('True') } }
    expect(stateWith(other)).toMatchObject({ kind: 'awaited' })
    const manual = made && { ...made, ...other, metadata: { name: 'n', namespace: 'openstack' } }
    expect(addressesState(node, request, manual)).toEqual({ kind: 'ready' })
  })
})
