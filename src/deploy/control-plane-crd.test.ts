import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../api/object.ts'
import { readSlotTable } from '../plan/slots/slot-table.ts'
import { crdFindings } from './control-plane-crd.ts'

const override = { properties: { service: { additionalProperties: { properties: { metadata: {} } } } } }
const service = { properties: { enabled: {}, template: { properties: { override } } } }

function crd(services: readonly string[], more: object = {}): KubeObject {
  const properties = Object.fromEntries(services.map((name) => [name, service]))
  const openAPIV3Schema = { properties: { spec: { properties: { ...properties, ...more } } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'openstackcontrolplanes.core.openstack.org' },
    spec: {
      names: { kind: 'OpenStackControlPlane' },
      versions: [{ name: 'v1beta1', storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

function tableOf(object: KubeObject) {
  const read = readSlotTable(object, 'a test')
  if (read.kind !== 'table') throw new Error('the test has made no CRD')
  return read.table
}

const planned = tableOf(crd(['keystone', 'glance']))

describe("the cluster's control plane beside the planned one", () => {
  it('is nothing to speak of when it is the same, or not there yet', () => {
    expect(crdFindings(planned, crd(['glance', 'keystone']))).toEqual([])
    expect(crdFindings(planned, undefined)).toEqual([])
  })

  it('is told with the slots that it lacks and those that it adds', () => {
    const [told] = crdFindings(planned, crd(['keystone', 'watcher']))
    expect(told).toMatchObject({ code: 'SL4026', severity: 'warning' })
    expect(told?.message).toContain('it lacks glance.template.override.service')
    expect(told?.message).toContain('it adds watcher.template.override.service')
    expect(told?.remedy).toContain('plan --crd live')
  })

  it('is told when only other fields differ', () => {
    const [told] = crdFindings(planned, crd(['keystone', 'glance'], { extra: { type: 'string' } }))
    expect(told?.message).toContain('the places that take a Service override are the same')
  })
})
