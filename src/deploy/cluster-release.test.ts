import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import type { KubeObject } from '../api/object.ts'
import { builtInTable } from '../plan/slots/built-in-crds.ts'
import { renderDocuments } from '../render/render.ts'
import { refusedFields } from './cluster-release.ts'

/** A CRD whose glance API has no image, or must have one. */
function crd(glanceApi: object): KubeObject {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const apis = { properties: { glanceAPIs: { additionalProperties: glanceApi } }, ...open }
  const spec = { ...open, properties: { glance: { ...open, properties: { template: apis } } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'openstackcontrolplanes.core.openstack.org' },
    spec: {
      group: 'core.openstack.org',
      names: { kind: 'OpenStackControlPlane' },
      versions: [{ name: 'v1beta1', storage: true, schema: { openAPIV3Schema: { properties: { spec } } } }],
    },
  }
}

const others = { replicas: {}, type: {}, networkAttachments: {}, override: {} }

function refused(release: string, glanceApi: object): readonly string[] {
  const plan = testPlan({ table: builtInTable(release) })
  return refusedFields(renderDocuments(plan), plan.slots.release, [crd(glanceApi)]).map(
    ({ code, severity, message }) => `${code} ${severity} ${message.replace(/ \(.*?\)/, '')}`,
  )
}

describe('refusedFields', () => {
  it('names a field that the cluster does not have', () => {
    expect(refused('18.0-fr4', { properties: others })).toEqual([
      'SL4029 error OpenStackControlPlane of this cluster has no field spec.glance.template.glanceAPIs.default.containerImage, which is rendered for 18.0-fr4',
    ])
  })

  it('names a field that the cluster requires', () => {
    expect(
      refused('18.0-fr6', { properties: { ...others, containerImage: {} }, required: ['containerImage'] }),
    ).toEqual([
      'SL4029 error OpenStackControlPlane of this cluster requires spec.glance.template.glanceAPIs.default.containerImage, which is not rendered for 18.0-fr6',
    ])
  })

  it('reports nothing where the cluster takes everything, or has no CRDs yet', () => {
    expect(refused('18.0-fr6', { properties: others })).toEqual([])
    expect(refusedFields(renderDocuments(testPlan()), builtInTable().release, [])).toEqual([])
  })
})
