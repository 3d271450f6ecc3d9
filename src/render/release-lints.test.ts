import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { findRelease, type KindSchema } from '../plan/release/releases.ts'
import type { FieldNode } from '../plan/release/schema-graph.ts'
import { builtInTable } from '../plan/slots/built-in-crds.ts'
import { slotTable } from '../plan/slots/slot-table.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { lintDocuments } from './lints.ts'
import { renderDocuments } from './render.ts'

const locate = () => ({ file: 'site.yaml', line: 1, column: 1 })

/** The default release with the fields at a path of the control plane changed: an unknown release. */
function nextRelease(path: readonly string[], change: (node: FieldNode) => FieldNode): SlotTable {
  const kinds = findRelease('18.0-fr6')?.kinds ?? {}
  const controlPlane = kinds['OpenStackControlPlane'] as KindSchema
  const nodes = [...controlPlane.spec.nodes]
  const copy = (id: number, [step, ...rest]: readonly string[]): number => {
    const node = nodes[id] as FieldNode
    const changed =
      step === undefined
        ? change(node)
        : { ...node, fields: { ...node.fields, [step]: copy(node.fields[step] ?? 0, rest) } }
    return nodes.push(changed) - 1
  }
  const root = copy(controlPlane.spec.root, path)
  const next = { ...controlPlane, crd: 'sha256:next', spec: { nodes, root } }
  const table = slotTable({ kinds: { ...kinds, OpenStackControlPlane: next } })
  if (!table) throw new TypeError('the release has a control plane')
  return table
}

const without =
  (name: string) =>
  (node: FieldNode): FieldNode => {
    const { [name]: _, ...fields } = node.fields
    return { ...node, fields }
  }

async function lint(table: SlotTable): Promise<readonly string[]> {
  return (await lintDocuments(testPlan({ table }), locate))
    .filter(({ code }) => /^SL310[789]$/.test(code))
    .map(({ code, severity, message }) => `${code} ${severity} ${message}`)
}

describe('a plan for CRDs that are no known release', () => {
  it('leaves out a removed field and names it', async () => {
    const table = nextRelease(['glance', 'template'], without('keystoneEndpoint'))
    expect(await lint(table)).toEqual([
      'SL3107 warning OpenStackControlPlane has no field spec.glance.template.keystoneEndpoint, which 18.0-fr6 has: it is left out',
    ])
    expect(JSON.stringify(renderDocuments(testPlan({ table })))).not.toContain('keystoneEndpoint')
  })

  it('asks for a field that is required now', async () => {
    const table = nextRelease(['keystone', 'template'], (node) => ({ ...node, required: ['adminProject'] }))
    expect(await lint(table)).toEqual([
      'SL3108 error rhoso1: OpenStackControlPlane requires spec.keystone.template.adminProject, and nothing sets it',
    ])
  })

  it('names both paths of a slot that moved', async () => {
    const table = nextRelease(['horizon', 'template'], (node) => ({
      ...node,
      fields: { ...without('override')(node).fields, web: node.fields['override'] ?? 0, ui: 0 },
    }))
    expect(await lint(table)).toContain(
      'SL3109 warning there is no slot spec.horizon.template.override.service, which 18.0-fr6 has',
    )
  })
})

describe('a plan for a known release', () => {
  it('leaves out fields silently', async () => {
    for (const release of ['18.0-fr2', '18.0-fr6', 'main']) expect(await lint(builtInTable(release))).toEqual([])
  })

  it('reports a raw field of another release with the releases that have it, and its place', async () => {
    const services = { glance: { template: { glanceAPIs: { default: { containerImage: 'mine' } } } } }
    const plan = testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack', services }] })
    const [found] = (await lintDocuments(plan, locate)).filter(({ code }) => code === 'SL3106')
    expect(found?.message).toBe(
      'rhoso1: OpenStackControlPlane of 18.0-fr6 has no field spec.glance.template.glanceAPIs.default.containerImage; 18.0-fr1 to 18.0-fr4 have it',
    )
    expect(found?.where).toEqual(locate())
  })

  const cloudWith = (services: Record<string, { template: Record<string, unknown> }>) => [
    { name: 'rhoso1', namespace: 'openstack', services },
  ]

  it('warns of a deprecated field for a RabbitMQ, with the field that replaces it', async () => {
    const services = {
      cinder: { template: { rabbitMqClusterName: 'rabbitmq-cinder', notificationsBusInstance: 'rabbitmq' } },
      keystone: { template: { rabbitMqClusterName: 'rabbitmq' } },
      nova: { template: { cellTemplates: { cell1: { cellMessageBusInstance: 'rabbitmq-cell1' } } } },
    }
    const found = await lintDocuments(testPlan({ clouds: cloudWith(services) }), locate)
    expect(found.filter(({ code }) => code === 'SL3110').map(({ remedy }) => remedy)).toEqual([
      'write `messagingBus: {cluster: rabbitmq-cinder}` instead',
      'write `notificationsBus: {cluster: rabbitmq}` instead',
      'write `notificationsBus: {cluster: rabbitmq}` instead',
      'write `messagingBus: {cluster: rabbitmq-cell1}` instead',
    ])
    const older = testPlan({ table: builtInTable('18.0-fr4'), clouds: cloudWith(services) })
    expect((await lintDocuments(older, locate)).filter(({ code }) => code.startsWith('SL31'))).toEqual([])
  })

  it('renders buses and application credentials as the site file has them', async () => {
    const messagingBus = { cluster: 'rabbitmq', user: 'cinder', vhost: '/cinder' }
    const services = { cinder: { template: { messagingBus, notificationsBus: { cluster: 'rabbitmq' } } } }
    const controlPlane = { cinder: { applicationCredential: { enabled: true } }, messagingBus }
    const plan = testPlan({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', services, overrides: { controlPlane } }],
    })
    expect((await lintDocuments(plan, locate)).filter(({ code }) => code.startsWith('SL31'))).toEqual([])
    const rendered = renderDocuments(plan).find(({ object }) => object.kind === 'OpenStackControlPlane')
    expect(rendered?.object['spec']).toMatchObject({
      messagingBus,
      cinder: {
        applicationCredential: { enabled: true },
        template: { messagingBus, notificationsBus: { cluster: 'rabbitmq' } },
      },
    })
  })

  it.each([
    ['manila', { databaseUser: 'manila' }, 'databaseAccount'],
    ['manila', { manilaAPI: { externalEndpoints: [] } }, 'override'],
    ['rabbitmq', { rabbitmq: { externalEndpoint: {} } }, 'override'],
    ['glance', { glanceAPIExternal: {} }, 'glanceAPIs'],
  ])('names the field that replaces one of 2023: %s %o', async (service, template, instead) => {
    const plan = testPlan({ clouds: cloudWith({ [service]: { template } }) })
    const found = (await lintDocuments(plan, locate)).find(({ code }) => code === 'SL3106')
    expect(found?.remedy).toContain(`write ${instead} instead`)
  })
})
