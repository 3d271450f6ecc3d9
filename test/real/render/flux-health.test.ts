/** Evaluates the health expressions for Flux by an API server, which has the same CEL. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { layerFolders } from '../../../src/render/gitops/layers.ts'
import { fluxKustomizations } from '../../../src/render/gitops/tools.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { useCluster } from '../../cluster.ts'
import { testPlan } from '../../plan.ts'

interface Expressions {
  readonly kind: string
  readonly inProgress?: string
  readonly failed?: string
  readonly current: string
}

const hosts = [{ name: 'compute-0' }]
const documents = renderDocuments(testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts }] }))
const checks = new Map(
  fluxKustomizations('lab', layerFolders(documents))
    .flatMap(({ spec }) => (spec as { healthCheckExprs?: readonly Expressions[] }).healthCheckExprs ?? [])
    .map((check) => [check.kind, check]),
)

const GROUP = 'flux.example.org'
const api = { apiVersion: 'admissionregistration.k8s.io/v1' }

/** Keeps any status, unlike the CRDs that the expressions are for. */
const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `samples.${GROUP}` },
  spec: {
    group: GROUP,
    names: { kind: 'Sample', listKind: 'SampleList', plural: 'samples', singular: 'sample' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

/** Refuses every sample of the kind, with Flux's verdict as its message. Flux tries the expressions in this order. */
function policy({ kind, inProgress, failed, current }: Expressions): KubeObject {
  const steps = [
    [inProgress, 'inProgress'],
    [failed, 'failed'],
    [current, 'current'],
  ].filter(([expression]) => expression !== undefined)
  const verdict = steps.reduceRight((rest, [expression, name]) => `((${expression}) ? '${name}' : ${rest})`, "'waits'")
  return {
    ...api,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: kind.toLowerCase() },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [GROUP], apiVersions: ['v1'], operations: ['CREATE'], resources: ['samples'] }],
        objectSelector: { matchLabels: { kind } },
      },
      validations: [
        // Flux's expressions have the fields of the object as variables: a comprehension binds them.
        {
          expression: 'false',
          messageExpression: `'verdict: ' + [object.status].map(status, [object.metadata].map(metadata, ${verdict})[0])[0]`,
        },
      ],
    },
  }
}

describe("Flux's health checks", () => {
  const cluster = useCluster()

  const judge = async (kind: string, status: object): Promise<string> => {
    const sample = { apiVersion: `${GROUP}/v1`, kind: 'Sample', metadata: { name: 'sample', labels: { kind } }, status }
    const message = await cluster.client.create(sample, { dryRun: true }).then(
      () => 'accepted',
      (thrown: unknown) => String(thrown),
    )
    return /verdict: (\w+)/.exec(message)?.[1] ?? message
  }

  beforeAll(async () => {
    await cluster.client.create(crd)
    for (const check of checks.values()) {
      const { name } = (await cluster.client.create(policy(check))).metadata
      const spec = { policyName: name, validationActions: ['Deny'] }
      await cluster.client.create({ ...api, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec })
    }
    // The API server serves a new kind and evaluates a new policy after a while.
    const isJudged = async (kind: string) =>
      expect(await judge(kind, { state: '', conditions: [] })).toMatch(/^(?!accepted)\w+$/)
    for (const kind of checks.keys()) await vi.waitFor(() => isJudged(kind), { timeout: 120_000 })
  }, 300_000)

  const ready = (type: string, status = 'True') => ({ type, status })
  const error = { type: 'NovaReady', status: 'False', severity: 'Error' }
  const requested = { type: 'NovaReady', status: 'False', severity: 'Info' }

  it.each([
    ['OpenStackControlPlane', 'ready', { observedGeneration: 1, conditions: [ready('Ready')] }, 'current'],
    ['OpenStackControlPlane', 'not ready', { observedGeneration: 1, conditions: [ready('Ready', 'False')] }, 'waits'],
    [
      'OpenStackControlPlane',
      'of an earlier spec',
      { observedGeneration: 0, conditions: [ready('Ready')] },
      'inProgress',
    ],
    ['OpenStackControlPlane', 'failed', { observedGeneration: 1, conditions: [error] }, 'failed'],
    ['OpenStackControlPlane', 'requested', { observedGeneration: 1, conditions: [requested] }, 'waits'],
    ['OpenStackDataPlaneNodeSet', 'set up', { conditions: [ready('SetupReady')] }, 'current'],
    ['OpenStackDataPlaneNodeSet', 'not set up', { conditions: [ready('Ready')] }, 'waits'],
    ['OpenStackDataPlaneDeployment', 'ready', { conditions: [ready('Ready')] }, 'current'],
    ['OpenStackDataPlaneDeployment', 'failed', { conditions: [error] }, 'failed'],
    ['NodeNetworkConfigurationPolicy', 'applied', { conditions: [ready('Available')] }, 'current'],
    ['NodeNetworkConfigurationPolicy', 'being applied', { conditions: [ready('Available', 'Unknown')] }, 'waits'],
    ['NodeNetworkConfigurationPolicy', 'failed', { conditions: [ready('Degraded')] }, 'failed'],
  ])('judge %s that is %s', async (kind, _, status, verdict) => {
    expect(await judge(kind, status)).toBe(verdict)
  })

  it('are valid for every kind', async () => {
    const verdicts = await Promise.all([...checks.keys()].map((kind) => judge(kind, { state: '', conditions: [] })))
    expect(new Set(verdicts)).toEqual(new Set(['waits']))
    expect(checks.size).toBeGreaterThanOrEqual(7)
  })
})
