import { describe, expect, it } from 'vitest'
import { exampleSites, planForRelease } from '../../test/examples.ts'
import { testPlan } from '../../test/plan.ts'
import { hasErrors } from '../errors/finding.ts'
import type { Plan } from '../plan/plan.ts'
import { findUnknownFields, missingFields } from '../plan/release/fields.ts'
import { findRelease, loadReleases } from '../plan/release/releases.ts'
import { builtInTable } from '../plan/slots/built-in-crds.ts'
import { renderDocuments } from './render.ts'

/** These releases lack services that this example turns on, or fields that it sets. */
const refused = [
  ['2023', 'every-service', ['SL3002', 'SL3003']],
  ['18.0-fr1', 'every-service', ['SL3003']],
] as const

const accepted = loadReleases()
  .flatMap(({ name }) => exampleSites.map((example) => [name, example] as const))
  .filter(([name, example]) => !refused.some((each) => each[0] === name && each[1] === example))

describe('renderDocuments', () => {
  it.each(accepted)('leaves no unknown and no missing field: %s, %s', (name, example) => {
    const plan = planForRelease(example, name)
    expect(hasErrors(plan.findings)).toBe(false)
    const documents = renderDocuments(plan).map(({ object }) => object)
    const judged = documents.flatMap(({ kind, spec }) => {
      const schema = findRelease(name)?.kinds[kind]?.spec
      return schema ? [{ kind, spec, schema }] : []
    })
    const problems = judged.flatMap(({ kind, spec, schema }) => [
      ...findUnknownFields(spec, schema).map((field) => `unknown ${kind} ${field.path.join('.')}`),
      ...missingFields(spec, schema).map((field) => `missing ${kind} ${field.join('.')}`),
    ])
    expect(problems).toEqual([])
    expect(judged.map(({ kind }) => kind)).toContain('OpenStackControlPlane')
  })

  it.each(refused)('is not reached where the release lacks a service: %s, %s', (name, example, codes) => {
    const errors = planForRelease(example, name).findings.filter(({ severity }) => severity === 'error')
    expect([...new Set(errors.map(({ code }) => code))].sort()).toEqual(codes)
  })
})

function controlPlaneSpec(plan: Plan): unknown {
  return renderDocuments(plan).find(({ object }) => object.kind === 'OpenStackControlPlane')?.object['spec']
}

describe('the RabbitMQ of a service', () => {
  const cells = (plan: Plan) =>
    (controlPlaneSpec(plan) as { nova: { template: { cellTemplates: Record<string, object> } } }).nova.template
      .cellTemplates
  const servicesFor = (release: string, services: Record<string, object> = {}) =>
    testPlan({
      table: builtInTable(release),
      clouds: [{ name: 'rhoso1', namespace: 'openstack', services }],
    })

  it.each(['18.0-fr1', '18.0-fr4'])('is named by the older field up to 18.0-fr4: %s', (release) => {
    const { cell0, cell1 } = cells(servicesFor(release))
    expect(cell0).toMatchObject({ cellMessageBusInstance: 'rabbitmq' })
    expect(cell1).toMatchObject({ cellMessageBusInstance: 'rabbitmq-cell1' })
    expect(cell1).not.toHaveProperty('messagingBus')
  })

  it.each(['18.0-fr5', '18.0-fr6', 'main'])(
    'is named by the field that the webhook keeps since 18.0-fr5: %s',
    (release) => {
      const { cell0, cell1 } = cells(servicesFor(release))
      expect(cell0).toMatchObject({ messagingBus: { cluster: 'rabbitmq' } })
      expect(cell1).toMatchObject({ messagingBus: { cluster: 'rabbitmq-cell1' } })
      expect({ ...cell0, ...cell1 }).not.toHaveProperty('cellMessageBusInstance')
    },
  )

  it('is in the field that the webhook keeps for every example and release', () => {
    const older = /"(rabbitMqClusterName|notificationsBusInstance|(api|cell)MessageBusInstance)":/
    const newer = accepted.filter(([name]) => ['18.0-fr5', '18.0-fr6', 'main'].includes(name))
    expect(
      newer.filter(([name, example]) => older.test(JSON.stringify(controlPlaneSpec(planForRelease(example, name))))),
    ).toEqual([])
    expect(newer.length).toBeGreaterThan(10)
  })

  it('is the one of raw fields, by its older or its newer name', () => {
    const raw = {
      cinder: { template: { rabbitMqClusterName: 'rabbitmq-cinder', notificationsBusInstance: 'rabbitmq' } },
      keystone: { template: { rabbitMqClusterName: 'rabbitmq' } },
      nova: {
        cells: ['cell1', 'cell2', 'cell3'],
        template: {
          cellTemplates: {
            cell1: { messagingBus: { cluster: 'rabbitmq-fast' } },
            cell2: { messagingBus: { vhost: '/nova' } },
            cell3: { cellMessageBusInstance: 'rabbitmq-slow' },
          },
        },
      },
    }
    const plan = servicesFor('18.0-fr6', raw)
    expect(controlPlaneSpec(plan)).toMatchObject({
      cinder: { template: { messagingBus: { cluster: 'rabbitmq-cinder' }, notificationsBus: { cluster: 'rabbitmq' } } },
      keystone: { template: { notificationsBus: { cluster: 'rabbitmq' } } },
    })
    expect(cells(plan)).toMatchObject({
      cell1: { messagingBus: { cluster: 'rabbitmq-fast' } },
      cell2: { messagingBus: { cluster: 'rabbitmq-cell2', vhost: '/nova' } },
      cell3: { messagingBus: { cluster: 'rabbitmq-slow' } },
    })
    expect(JSON.stringify(controlPlaneSpec(plan))).not.toMatch(/rabbitMqClusterName|BusInstance/)
  })
})
