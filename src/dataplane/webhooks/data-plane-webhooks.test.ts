import { describe, expect, it } from 'vitest'
import { CELL, dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import type { KubeObject } from '../../api/object.ts'
import type { AdmissionRequest, AdmissionResponse } from '../../kube/admission.ts'
import { webhookPath } from '../../webhooks/webhook-configuration.ts'
import type { DataPlaneNode, DataPlaneRole } from '../kinds/data-plane.ts'
import { type NovaExternalComputeSpec, novaExternalComputes } from '../kinds/nova.ts'
import { ovnMetadataAgents } from '../kinds/ovn-metadata-agent.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { nodeServices } from '../service-definitions/all.ts'
import { dataPlaneHandlers, dataPlaneWebhooks } from './data-plane-webhooks.ts'
import type { DataPlaneObjects } from './role-and-node.ts'

interface Objects {
  readonly roles?: readonly DataPlaneRole[]
  readonly nodes?: readonly DataPlaneNode[]
  readonly computes?: readonly ServiceObject[]
}

function lookupIn({ roles = [], nodes = [], computes = [] }: Objects): DataPlaneObjects {
  return {
    role: (name) => roles.find(({ metadata }) => metadata.name === name),
    node: (name) => nodes.find(({ metadata }) => metadata.name === name),
    nodesInRole: (role) => nodes.filter(({ spec }) => spec.role === role),
    service: ({ kind }, name) =>
      computes.find((compute) => compute.kind === kind.kind && compute.metadata.name === name),
  }
}

type Change = Partial<Pick<AdmissionRequest, 'object' | 'oldObject'>> & Pick<AdmissionRequest, 'operation'>

/** `cached` is the state of the caches, where it differs from the API server. */
async function ask(
  sort: 'validate' | 'mutate',
  change: Change,
  objects: Objects = {},
  cached: Objects | 'not read' = objects,
): Promise<AdmissionResponse> {
  const object = (change.object ?? change.oldObject) as KubeObject
  const webhook = dataPlaneWebhooks(nodeServices).find(
    (dataPlaneWebhook) => dataPlaneWebhook.kind === sort && dataPlaneWebhook.singular === object.kind.toLowerCase(),
  )
  if (!webhook) throw new Error(`no webhook for ${object.kind}`)
  const lookup = {
    cached: () => (cached === 'not read' ? undefined : lookupIn(cached)),
    live: async () => lookupIn(objects),
    env: { NOVA_COMPUTE_IMAGE_URL_DEFAULT: 'from-env' },
  }
  const handler = dataPlaneHandlers(lookup, nodeServices, 'finalizer')[webhookPath(webhook)]
  if (!handler) throw new Error(`no handler for ${webhookPath(webhook)}`)
  const kind = { group: 'g', version: 'v', kind: object.kind }
  const resource = { group: 'g', version: 'v', resource: webhook.plural }
  const { name } = object.metadata
  return handler(
    { uid: '1', kind, resource, name, namespace: 'openstack', ...change },
    { signal: new AbortController().signal },
  )
}

const compute = (name: string, spec: Partial<NovaExternalComputeSpec> = {}): ServiceObject => ({
  ...novaExternalComputes,
  metadata: { name, namespace: 'openstack' },
  spec: { dataplaneNodeName: name, cellName: 'nova-cell1', ...spec },
})
const inCell1 = dataPlaneRole('compute', {}, { [CELL]: 'nova-cell1' })
const inCell2 = dataPlaneRole('other', {}, { [CELL]: 'nova-cell2' })
const bare = dataPlaneRole('compute')
const member = dataPlaneNode('n', { role: 'compute' })
const update = (object: KubeObject, oldObject: KubeObject): Change => ({
  operation: 'UPDATE',
  object,
  oldObject,
})
const create = (object: KubeObject): Change => ({ operation: 'CREATE', object })
const deployed: Objects = { roles: [inCell1, inCell2], nodes: [member], computes: [compute('n')] }

describe('the cell of a node', () => {
  it('can be set when there was none, on the node or the role, with or without a compute', async () => {
    const annotatedNode = dataPlaneNode('n', { role: 'compute' }, { [CELL]: 'nova-cell1' })
    expect(await ask('validate', update(annotatedNode, member), { roles: [bare], nodes: [member] })).toEqual({
      allowed: true,
    })
    expect(await ask('validate', update(inCell1, bare), { roles: [bare], nodes: [member] })).toEqual({
      allowed: true,
    })
    const waiting = { roles: [bare], nodes: [member], computes: [{ ...compute('n'), spec: {} }] }
    expect(await ask('validate', update(annotatedNode, member), waiting)).toEqual({ allowed: true })
  })

  it('can change while there is no compute', async () => {
    const objects = { roles: [inCell1, inCell2], nodes: [member] }
    const moved = dataPlaneNode('n', { role: 'other' })
    expect((await ask('validate', update(moved, member), objects)).allowed).toBe(true)
    expect((await ask('validate', { operation: 'DELETE', oldObject: inCell1 }, objects)).allowed).toBe(true)
  })

  const annotated = (cell: string): DataPlaneNode => dataPlaneNode('n', { role: 'compute' }, { [CELL]: cell })
  const ownCell: Objects = { roles: [bare], nodes: [annotated('nova-cell1')], computes: [compute('n')] }
  it.each<[string, Change, Objects]>([
    ['an annotation on the node over its role', update(annotated('nova-cell2'), member), deployed],
    ['an empty annotation on the node', update(annotated(''), member), deployed],
    ['another value on the node', update(annotated('nova-cell2'), annotated('nova-cell1')), ownCell],
    ['a removed annotation on the node', update(member, annotated('nova-cell1')), ownCell],
    ['another value on the role', update(dataPlaneRole('compute', {}, { [CELL]: 'nova-cell2' }), inCell1), deployed],
    ['a removed annotation on the role', update(bare, inCell1), deployed],
    ['another role', update(dataPlaneNode('n', { role: 'other' }), member), deployed],
    ['no role at all', update(dataPlaneNode('n'), member), deployed],
    ['a deleted role', { operation: 'DELETE', oldObject: inCell1 }, deployed],
    [
      'a role created again with another cell',
      create(dataPlaneRole('compute', {}, { [CELL]: 'nova-cell2' })),
      { nodes: [member], computes: [compute('n')] },
    ],
    [
      'a node created again while its compute exists',
      create(annotated('nova-cell2')),
      { roles: [bare], computes: [compute('n')] },
    ],
  ])('cannot change once there is a compute: %s', async (_, change, objects) => {
    const answer = await ask('validate', change, objects)
    expect(answer.allowed).toBe(false)
    expect(answer.reason).toMatch(/SL710[56]/)
    expect(answer.reason).toContain('nova.openstack.org/cell')
    // An operator that has just started asks the API server.
    expect(await ask('validate', change, objects, 'not read')).toEqual(answer)
  })

  it('does not follow the role on a node with its own cell', async () => {
    const objects = { roles: [inCell1], nodes: [annotated('nova-cell1')], computes: [compute('n')] }
    const changed = dataPlaneRole('compute', {}, { [CELL]: 'nova-cell2' })
    expect((await ask('validate', update(changed, inCell1), objects)).allowed).toBe(true)
  })

  it('is confirmed with the API server before a change is refused', async () => {
    const gone = { roles: [inCell1, inCell2], nodes: [member] }
    const moved = dataPlaneNode('n', { role: 'other' })
    expect((await ask('validate', update(moved, member), gone, deployed)).allowed).toBe(true)
  })

  it('does not block other changes of a node that already contradicts its compute', async () => {
    const objects = { roles: [inCell2], nodes: [annotated('nova-cell2')], computes: [compute('n')] }
    const edited = { ...annotated('nova-cell2'), spec: { role: 'compute', hostName: 'h' } }
    expect((await ask('validate', update(edited, annotated('nova-cell2')), objects)).allowed).toBe(true)
  })

  it.each(['nova-cell0', 'cell0', 'Nova_Cell1', 'a b'])('cannot be %s', async (cell) => {
    const answer = await ask('validate', create(dataPlaneNode('n', {}, { [CELL]: cell })))
    expect(answer.allowed).toBe(false)
    expect(answer.reason).toContain('SL7101')
    expect((await ask('validate', create(dataPlaneRole('r', {}, { [CELL]: cell })))).allowed).toBe(false)
  })
})

describe('the OVN metadata agent', () => {
  const key = 'neutron.openstack.org/ovn-metadata-agent'
  it('is requested with true, and its annotation cannot be removed while it exists', async () => {
    expect((await ask('validate', create(dataPlaneNode('n', {}, { [key]: 'yes' })))).allowed).toBe(false)
    const agent = { ...ovnMetadataAgents, metadata: { name: 'n' }, spec: { dataplaneNodeName: 'n' } }
    const answer = await ask('validate', update(dataPlaneNode('n'), dataPlaneNode('n', {}, { [key]: 'true' })), {
      computes: [agent],
    })
    expect(answer.reason).toContain('SL7106')
  })
})

describe('roles and nodes', () => {
  it('get a warning that names the replacement of the nova template', async () => {
    const nova = {
      novaInstance: 'nova2',
      cellName: 'cell3',
      customServiceConfig: '[DEFAULT]\ndebug = true\n',
      deploy: false,
    }
    const answer = await ask('validate', create(dataPlaneRole('r', { nodeTemplate: { nova } })))
    expect(answer.allowed).toBe(true)
    expect(answer.warnings?.join()).toContain('nova.openstack.org/cell: nova2-cell3')
    expect(answer.warnings?.join()).toContain('nova.openstack.org/deploy: "false"')
    expect(answer.warnings?.join()).toContain('customServiceConfig')
  })

  it('get a warning about options in ansibleVars, with the lines that replace them', async () => {
    const ansibleVars = 'edpm_ovn_metadata_agent_metadata_agent_DEFAULT_debug: true\n'
    const answer = await ask('validate', create(dataPlaneNode('n', { node: { ansibleVars } })))
    expect(answer.allowed).toBe(true)
    expect(answer.warnings?.join()).toMatch(/SL7013[\s\S]*\[DEFAULT\][\s\S]*debug = true/)
  })

  it('are refused with invalid ansibleVars, and with options in tags', async () => {
    expect((await ask('validate', create(dataPlaneNode('n', { node: { ansibleVars: '- a' } })))).reason).toContain(
      'SL7107',
    )
    const strategy = { deployStrategy: { deploy: true, ansibleTags: 'a --check' } }
    expect((await ask('validate', create(dataPlaneNode('n', strategy)))).reason).toContain('SL7108')
  })

  it('can be edited when the stored object is already invalid', async () => {
    const wrong = dataPlaneNode('n', { node: { ansibleVars: '- a' } })
    const edited = dataPlaneNode('n', { hostName: 'h', node: { ansibleVars: '- a' } })
    const answer = await ask('validate', update(edited, wrong))
    expect(answer.allowed).toBe(true)
    expect(answer.warnings?.join()).toContain('SL7107')
  })

  it('are created with label and finalizer', async () => {
    const { patch } = await ask('mutate', create(member))
    expect(patch).toEqual([
      { op: 'add', path: '/metadata/finalizers', value: ['finalizer'] },
      { op: 'add', path: '/metadata/labels', value: { openstackdataplanerole: 'compute' } },
    ])
  })
})

describe('customServiceConfig', () => {
  const of = (customServiceConfig: string): ServiceObject => compute('n', { customServiceConfig })
  it.each<[string, string]>([
    ['debug = true\n', 'SL7001'],
    ['  [DEFAULT]\n  debug = True\n', 'SL7002'],
    ['[DEFAULT]\ntransport_url = rabbit://elsewhere\n', 'line 2'],
    ['[DEFAULT]\nhost = other\n', 'line 2'],
  ])('is refused: %j', async (text, words) => {
    const answer = await ask('validate', create(of(text)))
    expect(answer.allowed).toBe(false)
    expect(answer.reason).toContain(words)
    expect(answer.reason).not.toContain('elsewhere')
  })

  it.each<[string, string]>([
    ['[default]\ndebug = true\n', 'SL7003'],
    ['[DEFAULT]\nDebug = true\n', 'SL7004'],
    ['[DEFAULT]\nmy = pa$word\n', 'SL7005'],
  ])('gets a warning: %j', async (text, code) => {
    const answer = await ask('validate', create(of(text)))
    expect(answer.allowed).toBe(true)
    expect(answer.warnings?.join()).toContain(code)
  })

  it('that is already stored invalid does not block other changes', async () => {
    const wrong = of('debug = true\n')
    const edited = { ...wrong, spec: { ...wrong.spec, deploy: false } }
    expect((await ask('validate', update(edited, wrong))).allowed).toBe(true)
  })

  it('wins over the same option in ansibleVars, with a warning', async () => {
    const node = dataPlaneNode('n', { node: { ansibleVars: 'edpm_nova_compute_DEFAULT_debug: true\n' } })
    const answer = await ask('validate', create(of('[DEFAULT]\ndebug = false\n')), { nodes: [node] })
    expect(answer.warnings?.join()).toContain('line 2 of customServiceConfig sets the same option')
  })
})

describe('images', () => {
  it('come from the environment, or the defaults, where the new object has none', async () => {
    const { patch } = await ask('mutate', create(compute('n', { novaLibvirtContainerImage: 'mine' })))
    expect(patch).toEqual([
      {
        op: 'add',
        path: '/spec/ansibleEEContainerImage',
        value: 'quay.io/openstack-k8s-operators/openstack-ansibleee-runner:latest',
      },
      { op: 'add', path: '/spec/novaComputeContainerImage', value: 'from-env' },
    ])
  })
})
