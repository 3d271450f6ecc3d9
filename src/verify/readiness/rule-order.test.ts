import { describe, expect, it } from 'vitest'
import { ago, condition, judge, object } from '../../../test/readiness.ts'
import type { KubeObject } from '../../api/object.ts'
import { readinessRules } from './readiness.ts'

const going = { deletionTimestamp: ago(0), finalizers: ['example.org/keeper'] }
const uid = 'uid-owner'
const OLM = 'operators.coreos.com/v1alpha1'

/** One of each kind that its status alone would call ready. */
const fine: readonly KubeObject[] = [
  object({ kind: 'Namespace', status: { phase: 'Active' } }),
  object({ kind: 'Pod', status: { conditions: [condition('Ready', 'True')] } }),
  object({ kind: 'PersistentVolumeClaim', status: { phase: 'Bound' } }),
  object({ kind: 'Service', spec: {} }),
  object({ kind: 'DaemonSet', apiVersion: 'apps/v1', status: observed(1) }),
  object({ kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 0 }, status: observed(0) }),
  object({ kind: 'StatefulSet', apiVersion: 'apps/v1', spec: { replicas: 0 }, status: observed(0) }),
  object({ kind: 'Job', apiVersion: 'batch/v1', status: { conditions: [condition('Complete', 'True')] } }),
  object({
    kind: 'CustomResourceDefinition',
    apiVersion: 'apiextensions.k8s.io/v1',
    status: { conditions: [condition('Established', 'True')] },
  }),
  object({ kind: 'MutatingWebhookConfiguration', apiVersion: 'admissionregistration.k8s.io/v1' }),
  object({ kind: 'ClusterServiceVersion', apiVersion: OLM, status: { phase: 'Succeeded' } }),
  object({ kind: 'IPAddressPool', apiVersion: 'metallb.io/v1beta1' }),
  object({
    kind: 'OpenStackDataPlaneDeployment',
    apiVersion: 'dataplane.openstack.org/v1beta1',
    status: { deployed: true },
  }),
  object({ kind: 'ConfigMap' }),
]

function observed(count: number): object {
  return { observedGeneration: 1, desiredNumberScheduled: count, updatedNumberScheduled: count, numberAvailable: count }
}

describe('an object that is being deleted', () => {
  it.each(fine.map((candidate) => [candidate.kind, candidate] as const))('is not ready (%s)', (kind, candidate) => {
    expect(judge(candidate).kind).toBe('ready')
    expect(judge({ ...candidate, metadata: { ...candidate.metadata, ...going } })).toEqual({
      kind: 'progressing',
      waits: `${kind} it is being deleted (kept by example.org/keeper)`,
    })
  })

  it('is not evaluated by the rule of its kind', () => {
    for (const groupKind of Object.keys(readinessRules)) {
      const [kind = '', group] = groupKind.split('/').toReversed()
      const apiVersion = group === undefined ? 'v1' : `${group}/v1`
      const verdict = judge(object({ kind, apiVersion, metadata: { deletionTimestamp: ago(0) } }))
      expect(verdict).toEqual({ kind: 'progressing', waits: `${kind} it is being deleted` })
    }
  })

  it('is not the cause of another failure', () => {
    const run = object({
      kind: 'OpenStackDataPlaneDeployment',
      apiVersion: 'dataplane.openstack.org/v1beta1',
      namespace: 'openstack',
      metadata: { uid },
      status: { observedGeneration: 1 },
    })
    const owner = { apiVersion: run.apiVersion, kind: run.kind, name: 'it', uid }
    const job = (metadata: Partial<KubeObject['metadata']>): KubeObject =>
      object({
        kind: 'Job',
        apiVersion: 'batch/v1',
        namespace: 'openstack',
        metadata: { ownerReferences: [owner], ...metadata },
        status: { conditions: [condition('Failed', 'True')] },
      })
    expect(judge(run, [job({})]).kind).toBe('failed')
    expect(judge(run, [job(going)]).kind).toBe('progressing')

    const controlPlane = object({
      kind: 'OpenStackControlPlane',
      apiVersion: 'core.openstack.org/v1beta1',
      namespace: 'openstack',
      status: { observedGeneration: 1 },
    })
    const claim = (metadata: Partial<KubeObject['metadata']>): KubeObject =>
      object({ kind: 'PersistentVolumeClaim', namespace: 'openstack', metadata, status: { phase: 'Lost' } })
    expect(judge(controlPlane, [claim({})]).kind).toBe('failed')
    expect(judge(controlPlane, [claim(going)]).kind).toBe('progressing')
  })

  it('does not make a Subscription ready', () => {
    const subscription = object({
      kind: 'Subscription',
      apiVersion: OLM,
      namespace: 'operators',
      status: { installedCSV: 'metallb.v1' },
    })
    const csv = (metadata: Partial<KubeObject['metadata']>): KubeObject =>
      object({
        kind: 'ClusterServiceVersion',
        apiVersion: OLM,
        namespace: 'operators',
        name: 'metallb.v1',
        metadata,
        status: { phase: 'Succeeded' },
      })
    expect(judge(subscription, [csv({})]).kind).toBe('ready')
    expect(judge(subscription, [csv(going)]).kind).toBe('progressing')
  })
})
