import { load, loadAll } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import type { KubeObject } from '../../api/object.ts'
import { renderDocuments } from '../render.ts'
import { layers, sortByLayer } from './layers.ts'
import { type GitopsTool, gitopsTree } from './tree.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
  { name: 'rhoso2', namespace: 'openstack2' },
]

function treeFor(tool?: GitopsTool): ReadonlyMap<string, string> {
  const plan = testPlan({ clouds })
  return gitopsTree(plan, renderDocuments(plan), tool)
}

/** What kustomize would give: every resource, in the order in which kustomizations name them. */
function built(tree: ReadonlyMap<string, string>, folder = ''): readonly KubeObject[] {
  const { resources } = load(tree.get(`${folder}kustomization.yaml`) ?? '') as {
    resources: readonly string[]
  }
  return resources.flatMap((resource) => {
    const text = tree.get(`${folder}${resource}`)
    return text === undefined ? built(tree, `${folder}${resource}/`) : (loadAll(text) as readonly KubeObject[])
  })
}

describe('gitopsTree', () => {
  it('has a folder for what is shared and one per cloud, each with its layers', () => {
    const folders = [...treeFor().keys()].map((name) => name.slice(0, Math.max(0, name.lastIndexOf('/'))))
    expect([...new Set(folders)].sort()).toEqual([
      '',
      'clouds/rhoso1',
      'clouds/rhoso1/control-plane',
      'clouds/rhoso1/data-plane',
      'clouds/rhoso1/networks',
      'clouds/rhoso1/nodes',
      'clouds/rhoso2',
      'clouds/rhoso2/control-plane',
      'clouds/rhoso2/networks',
      'clouds/rhoso2/nodes',
      'shared',
      'shared/nodes',
      'shared/operands',
      'shared/operators',
    ])
  })

  it('builds with kustomize to the stream, in its order', () => {
    const plan = testPlan({ clouds })
    const stream = sortByLayer(renderDocuments(plan)).map(({ object }) => object)
    expect(built(treeFor())).toEqual(stream)
  })

  it('lists the keys of Secrets without values', () => {
    const text = treeFor().get('clouds/rhoso1/needed-secrets.yaml') ?? ''
    const { secrets } = load(text) as {
      secrets: readonly { name: string; keys: readonly { key: string }[] }[]
    }
    expect(secrets.map((secret) => secret.name)).toEqual([
      'osp-secret',
      'libvirt-secret',
      'dataplane-ansible-ssh-private-key-secret',
      'nova-migration-ssh-key',
    ])
    expect(secrets[0]?.keys.map((key) => key.key)).toContain('AdminPassword')
    expect([...treeFor().values()].some((text) => /^kind: Secret$/m.test(text))).toBe(false)
  })

  it('has sync waves and health rules for Argo CD', () => {
    const tree = treeFor('argocd')
    const waves = built(tree).map((object) => Number(object.metadata.annotations?.['argocd.argoproj.io/sync-wave']))
    expect(new Set(waves)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6]))
    const { data } = load(tree.get('argocd/health.yaml') ?? '') as { data: Record<string, string> }
    expect(Object.keys(data)).toContain('resource.customizations.health.nmstate.io_NodeNetworkConfigurationPolicy')
    expect(layers).toHaveLength(6)
  })

  it('has the same health rules for the ArgoCD resource of OpenShift GitOps, whose operator owns argocd-cm', () => {
    const tree = treeFor('argocd')
    const { data } = load(tree.get('argocd/health.yaml') ?? '') as { data: Record<string, string> }
    const resource = load(tree.get('openshift-gitops/health.yaml') ?? '') as KubeObject & {
      spec: { resourceHealthChecks: readonly { group: string; kind: string; check: string }[] }
    }
    expect(resource).toMatchObject({
      apiVersion: 'argoproj.io/v1beta1',
      kind: 'ArgoCD',
      metadata: { name: 'openshift-gitops', namespace: 'openshift-gitops' },
    })
    // The operator writes this key for each entry.
    const written = resource.spec.resourceHealthChecks.map(({ group, kind, check }) => [
      `resource.customizations.health.${group}_${kind}`,
      check,
    ])
    expect(Object.fromEntries(written)).toEqual(data)
    expect(Object.keys(resource.spec)).toEqual(['resourceHealthChecks'])
  })

  it('writes Argo CD Applications only for a given repository', () => {
    const plan = testPlan({ clouds })
    expect(treeFor('argocd').has('argocd/applications.yaml')).toBe(false)
    const tree = gitopsTree(plan, renderDocuments(plan), 'argocd', 'https://git.example.com/clouds.git')
    const [shared, set] = loadAll(tree.get('argocd/applications.yaml') ?? '') as readonly KubeObject[]
    expect(shared).toMatchObject({
      kind: 'Application',
      metadata: { name: 'lab-shared', namespace: 'argocd' },
      spec: {
        source: { repoURL: 'https://git.example.com/clouds.git', path: 'shared' },
        syncPolicy: { automated: { prune: false } },
        ignoreDifferences: expect.arrayContaining([
          { group: 'core.openstack.org', kind: 'OpenStackControlPlane', managedFieldsManagers: ['manager'] },
        ]),
      },
    })
    expect(set).toMatchObject({
      kind: 'ApplicationSet',
      spec: {
        generators: [
          {
            git: {
              repoURL: 'https://git.example.com/clouds.git',
              revision: 'HEAD',
              directories: [{ path: 'clouds/*' }],
            },
          },
        ],
        syncPolicy: { preserveResourcesOnDeletion: true },
        template: { metadata: { name: 'lab-{{.path.basename}}' }, spec: { source: { path: '{{.path.path}}' } } },
      },
    })
    const inOpenshift = loadAll(tree.get('openshift-gitops/applications.yaml') ?? '') as readonly KubeObject[]
    expect(inOpenshift.map(({ metadata }) => metadata.namespace)).toEqual(['openshift-gitops', 'openshift-gitops'])
    expect(inOpenshift.map(({ ['spec']: spec }) => spec)).toEqual([shared?.['spec'], set?.['spec']])
    // Each Application finds a kustomization at its path.
    for (const path of ['shared', 'clouds/rhoso1', 'clouds/rhoso2']) {
      expect(tree.has(`${path}/kustomization.yaml`)).toBe(true)
    }
  })

  it('keeps Flux from pruning what destroys data when it is deleted', () => {
    const kept = built(treeFor('flux')).filter(
      ({ metadata }) => metadata.annotations?.['kustomize.toolkit.fluxcd.io/prune'] === 'disabled',
    )
    expect(new Set(kept.map(({ kind }) => kind))).toEqual(
      new Set(['Namespace', 'OpenStackControlPlane', 'OpenStackDataPlaneNodeSet']),
    )
    const namespaces = built(treeFor('flux')).filter(({ kind }) => kind === 'Namespace')
    expect(kept.filter(({ kind }) => kind === 'Namespace')).toEqual(namespaces)
  })

  it('judges OpenStack kinds in Flux by generation and severity', () => {
    const all = loadAll(treeFor('flux').get('flux/kustomizations.yaml') ?? '') as readonly KubeObject[]
    const controlPlane = all.find(({ metadata }) => metadata.name === 'lab-rhoso1-control-plane')
    const spec = controlPlane?.['spec'] as { healthCheckExprs: readonly { kind: string }[] } | undefined
    expect(spec?.healthCheckExprs.find(({ kind }) => kind === 'OpenStackControlPlane')).toEqual({
      apiVersion: 'core.openstack.org/v1beta1',
      kind: 'OpenStackControlPlane',
      inProgress: 'has(status.observedGeneration) && status.observedGeneration != metadata.generation',
      failed: "status.conditions.exists(e, e.status == 'False' && has(e.severity) && e.severity == 'Error')",
      current: "status.conditions.exists(e, e.type == 'Ready' && e.status == 'True')",
    })
  })

  it('has Kustomizations for Flux, each with its dependency', () => {
    const all = loadAll(treeFor('flux').get('flux/kustomizations.yaml') ?? '') as readonly KubeObject[]
    const after = Object.fromEntries(
      all.map((object) => {
        const { dependsOn } = object['spec'] as { dependsOn?: readonly { name: string }[] }
        return [object.metadata.name, dependsOn?.map(({ name }) => name)]
      }),
    )
    expect(after).toEqual({
      'lab-shared-operators': undefined,
      'lab-shared-operands': ['lab-shared-operators'],
      'lab-shared-nodes': ['lab-shared-operands'],
      'lab-rhoso1-nodes': ['lab-shared-nodes'],
      'lab-rhoso1-networks': ['lab-rhoso1-nodes'],
      'lab-rhoso1-control-plane': ['lab-rhoso1-networks'],
      'lab-rhoso1-data-plane': ['lab-rhoso1-control-plane'],
      'lab-rhoso2-nodes': ['lab-shared-nodes'],
      'lab-rhoso2-networks': ['lab-rhoso2-nodes'],
      'lab-rhoso2-control-plane': ['lab-rhoso2-networks'],
    })
    const nodes = all.find((object) => object.metadata.name === 'lab-rhoso1-nodes')
    expect(nodes?.['spec']).toMatchObject({
      path: './clouds/rhoso1/nodes',
      healthCheckExprs: [{ kind: 'NodeNetworkConfigurationPolicy' }],
    })
  })
})
