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
  return {
    observedGeneration: 1,
    desiredNumberScheduled: count,
    updatedNumberScheduled: count,
    numberAvailable: count,
  }
}

describe('what is being deleted', () => {
  it.each(fine.map((one) => [one.kind, one] as const))('is not ready, if it is a %s', (kind, one) => {
    expect(judge(one).kind).toBe('ready')
    expect(judge({ ...one, metadata: { ...one.metadata, ...going } })).toEqual({
      kind: 'progressing',
      waits: `${kind} it is being deleted (kept by example.org/keeper)`,
    })
  })

  it('is not asked for its rule, whatever the rule would say', () => {
    for (const groupKind of Object.keys(readinessRules)) {
      const [kind = '', group] = groupKind.split('/').toReversed()
      const apiVersion = group === undefined ? 'v1' : `${group}/v1`
      const verdict = judge(object({ kind, apiVersion, metadata: { deletionTimestamp: ago(0) } }))
      expect(verdict).toEqual({ kind: 'progressing', waits: `${kind} it is being deleted` })
    }
  })

  it("is nobody else's cause: not a job of a run, nor a claim of a control plane", () => {
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
      object({
        kind: 'PersistentVolumeClaim',
        namespace: 'openstack',
        metadata,
        status: { phase: 'Lost' },
      })
    expect(judge(controlPlane, [claim({})]).kind).toBe('failed')
    expect(judge(controlPlane, [claim(going)]).kind).toBe('progressing')
  })

  it('is no version that a subscription has reached', () => {
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
