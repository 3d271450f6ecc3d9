/** Applies what `render --gitops` writes to a real API server with the CRDs of Argo CD, its operator and Flux, strictly. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { fetchCrdFiles } from '../../../src/sandbox/crds/crd-modules.ts'
import { useCluster } from '../../cluster.ts'
import { isSoak } from '../../counts.ts'
import { runDocCommands } from '../../doc-runner.ts'
import { buildForSandboxes, sandboxCommands } from '../../doc-sandboxes.ts'
import { useFolder } from '../../folder.ts'
import { sandboxContext } from '../../sandbox-context.ts'

/** The operator's module has the CRDs of Argo CD, too: OpenShift GitOps is built from it. */
const modules = [
  {
    module: 'github.com/argoproj-labs/argocd-operator',
    version: 'v0.15.0',
    sum: 'h1:7zSjRchKUBCGBpz4v1pJ/Igmgn5blXorTxW0Ch9hWZ0=',
    files: 'config/crd/bases/argoproj.io_*.yaml',
    sets: [],
  },
  {
    module: 'github.com/fluxcd/kustomize-controller',
    version: 'v1.7.3',
    sum: 'h1:SzNnGn/4ObAPEHHleM5U7y/AKxKXph3Vj6ZhteeXw8M=',
    files: 'config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml',
    sets: [],
  },
]

/** Kept in the cache: 9 MB are downloaded for them. */
async function readCrds(): Promise<readonly KubeObject[] | undefined> {
  const { cache } = sandboxContext().paths
  const file = path.join(cache, `crds/gitops-${modules.map(({ version }) => version).join('-')}.json`)
  if (!existsSync(file)) {
    if (!isSoak() && process.env['STACKLOOM_BUILD_ALL'] !== '1') return undefined
    mkdirSync(path.dirname(file), { recursive: true })
    const files = await fetchCrdFiles({ modules }, path.dirname(file), runProcess)
    writeFileSync(file, JSON.stringify(files.flatMap(({ text }) => loadAll(text))))
  }
  return JSON.parse(readFileSync(file, 'utf8')) as readonly KubeObject[]
}

describe('the objects of `render --gitops`', { timeout: 300_000 }, () => {
  const cluster = useCluster({ crds: 'none' })
  const folder = useFolder()
  let isMissing = false
  let bin = ''
  const run = (command: string) =>
    runDocCommands([{ page: 'the test', line: 0, command }], {
      bin,
      cwd: folder,
      env: { KUBECONFIG: cluster.kubeconfig },
    })

  beforeAll(async () => {
    const crds = await readCrds()
    isMissing = crds === undefined
    if (!crds) return
    bin = await buildForSandboxes(path.join(folder, 'program'))
    for (const { status: _, ...crd } of crds) await cluster.client.apply(crd as KubeObject, { fieldManager: 'test' })
    for (const namespace of ['argocd', 'openshift-gitops', 'flux-system'])
      await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const isServed = async (): Promise<boolean> => {
      const kinds = [
        ['argoproj.io/v1alpha1', 'ApplicationSet'],
        ['argoproj.io/v1beta1', 'ArgoCD'],
        ['kustomize.toolkit.fluxcd.io/v1', 'Kustomization'],
      ] as const
      const found = await Promise.all(kinds.map(([apiVersion, kind]) => cluster.client.resource({ apiVersion, kind })))
      return found.every(Boolean)
    }
    await vi.waitUntil(isServed, { timeout: 60_000, interval: 200 })
  }, 600_000)
  beforeEach((ctx) => {
    if (isMissing) ctx.skip('the CRDs of Argo CD and Flux are not in the cache; `make test SUITE=render` fetches them')
  })

  it('are accepted as the guide applies them, by Argo CD and by OpenShift GitOps', async () => {
    const env = { KUBECONFIG: cluster.kubeconfig }
    expect(await runDocCommands(sandboxCommands('gitops'), { bin, cwd: folder, env })).toEqual([])
    const applications = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Application' }
    for (const namespace of ['argocd', 'openshift-gitops']) {
      expect((await cluster.client.list(applications, { namespace })).items.length).toBe(1)
      const sets = await cluster.client.list({ ...applications, kind: 'ApplicationSet' }, { namespace })
      expect(sets.items.length).toBe(1)
    }
    const resources = await cluster.client.list({ apiVersion: 'argoproj.io/v1beta1', kind: 'ArgoCD' })
    expect(resources.items.length).toBe(1)
  })

  it.each(['argocd', 'openshift-gitops', 'flux'])('have no field that the CRDs do not have: %s', async (tool) => {
    const tree = `strict-${tool}`
    const gitops = tool === 'flux' ? 'flux' : 'argocd --repository https://git.example.com/clouds.git'
    const render = `stackloom render -f site.yaml --out ${tree} --gitops ${gitops}`
    const apply = `kubectl apply --server-side --force-conflicts --validate=strict --dry-run=server -f ${tree}/${tool}/`
    expect(await run(`${render} && ${apply}`)).toEqual([])
  })

  it('would be refused with such a field', async () => {
    const source = { repoURL: 'https://git.example.com/clouds.git', pth: 'shared' }
    const destination = { server: 'https://kubernetes.default.svc' }
    const application = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name: 'misspelt', namespace: 'argocd' },
      spec: { project: 'default', destination, source },
    }
    writeFileSync(path.join(folder, 'misspelt.json'), JSON.stringify(application))
    const [problem] = await run('kubectl apply --server-side --validate=strict --dry-run=server -f misspelt.json')
    expect(problem).toContain('pth')
  })
})
