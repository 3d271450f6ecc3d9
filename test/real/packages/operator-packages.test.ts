/** Judges the chart, the manifests and the bundle of the operator by their real tools, on a real API server. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../../src/api/object.ts'
import { type Installation, renderManifests } from '../../../src/operator/manifests.ts'
import { collectCrds, parts } from '../../../src/operator/parts.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { writeYaml } from '../../../src/yaml/write.ts'
import { renderChart } from '../../../tools/release-chart.ts'
import { bundleFiles, plainManifests } from '../../../tools/release-manifests.ts'
import { findTestProgram, type TestProgram } from '../../../tools/test-programs.ts'
import { useCluster } from '../../cluster.ts'
import { runDocCommands } from '../../doc-runner.ts'
import { sandboxCommands } from '../../doc-sandboxes.ts'
import { sandboxContext } from '../../sandbox-context.ts'

vi.setConfig({ testTimeout: 180_000 })

const cluster = useCluster({ crds: 'none' })
const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-operator-packages-'))
const chart = path.join(folder, 'stackloom-operator')
const release = { version: '1.2.3', image: 'example.org/stackloom:1.2.3', date: '2026-01-01' }

function writeFiles(files: ReadonlyMap<string, string>, into: string): void {
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(into, name)), { recursive: true })
    writeFileSync(path.join(into, name), text)
  }
}

beforeAll(() => writeFiles(renderChart(release), chart))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function requireProgram(ctx: Pick<TestContext, 'skip'>, name: TestProgram): Promise<string> {
  const program = await findTestProgram(name)
  return program ?? ctx.skip(`${name} is not built; \`make test SUITE=packages\` builds it`)
}

function helm(program: string, ...args: readonly string[]) {
  const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: cluster.kubeconfig }
  return spawnSync(program, args, { encoding: 'utf8', env })
}

const home = 'stackloom-home'
const commonParts = parts.filter(({ conflict }) => !conflict)

/** Values of the chart, and the same as options of `operator install`. */
const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, Partial<Installation>, typeof parts])[] = [
  ['without values', {}, {}, commonParts],
  ['with one replica', { replicas: 1 }, { replicas: 1 }, commonParts],
  [
    'with owners of segments',
    { segmentOwners: ['vlan-20=a', 'rack/untagged=b'] },
    { segmentOwners: ['vlan-20=a', 'rack/untagged=b'] },
    commonParts,
  ],
  ['limited to namespaces', { namespaces: ['a', 'b'] }, { namespaces: ['a', 'b'] }, commonParts],
  [
    'with the data plane and its policy',
    { dataPlane: true, machineNamespaces: ['m'], runVolumes: ['hostPath', 'nfs'], runPrivileged: true },
    { machineNamespaces: ['m'], runVolumes: ['hostPath', 'nfs'], runPrivileged: true },
    parts,
  ],
  [
    'with the data plane in namespaces',
    { dataPlane: true, namespaces: ['a', 'b'], machineNamespaces: ['b', 'm'], runServiceAccounts: ['s'] },
    { namespaces: ['a', 'b'], machineNamespaces: ['b', 'm'], runServiceAccounts: ['s'] },
    parts,
  ],
]

function sortObjects(objects: readonly KubeObject[]): readonly KubeObject[] {
  const key = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace} ${metadata.name}`
  return objects.toSorted((a, b) => key(a).localeCompare(key(b)))
}

describe('the Helm chart', () => {
  it('passes helm lint', async (ctx) => {
    const { status, stdout } = helm(await requireProgram(ctx, 'helm'), 'lint', chart)
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('0 chart(s) failed') })
  })

  it.for(cases)('renders what `operator install` applies: %s', async ([, values, options, selected], ctx) => {
    const file = path.join(folder, 'values.yaml')
    writeFileSync(file, writeYaml(values))
    const program = await requireProgram(ctx, 'helm')
    const { stdout, stderr } = helm(program, 'template', 'x', chart, '-n', home, '-f', file)
    expect(stderr).toBe('')
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject)
    const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition').map(({ metadata }) => metadata.name)
    const { own, upstream } = collectCrds(selected)
    // Those of upstream that every cluster needs are in crds/.
    const inCrds = new Set(collectCrds(commonParts).upstream.map(({ metadata }) => metadata.name))
    const expectedCrds = [...own, ...upstream].map(({ metadata }) => metadata.name).filter((name) => !inCrds.has(name))
    expect(crds.toSorted()).toEqual(expectedCrds.toSorted())
    const installation = { namespace: home, image: release.image, replicas: 2, ...options }
    const expected = JSON.parse(JSON.stringify(renderManifests(selected, installation))) as KubeObject[]
    const others = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition')
    expect(sortObjects(others)).toEqual(sortObjects(expected))
  })

  it('refuses a value that it does not know, and one of the wrong form', async (ctx) => {
    const program = await requireProgram(ctx, 'helm')
    const template = (setting: string) => helm(program, 'template', 'x', chart, '--set', setting)
    expect(template('replica=3').stderr).toContain('replica')
    expect(template('replicas=0').stderr).toContain('replicas')
    expect(template('namespaces={Not_a_name}').stderr).toContain('namespaces')
    expect(template('segmentOwners={vlan-20}').stderr).toContain('segmentOwners')
    expect(template('image=').stderr).toContain('set image')
  })

  it('is accepted by a real API server with strict validation', async (ctx) => {
    const program = await requireProgram(ctx, 'helm')
    const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
    await cluster.client.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } },
      { fieldManager: 'test' },
    )
    const { stdout } = helm(program, 'template', 'x', chart, '-n', home, '--include-crds', '--set', 'dataPlane=true')
    const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-']
    const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: cluster.kubeconfig }
    const applied = spawnSync(kubectl, args, { input: stdout, encoding: 'utf8', env })
    expect({ status: applied.status, stderr: applied.stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('is installed as the guide says, upgraded and uninstalled; CRDs and their objects stay', async (ctx) => {
    const program = await requireProgram(ctx, 'helm')
    const name = 'stackloom-operator'
    const run = (...args: readonly string[]): void => {
      const { status, stderr } = helm(program, ...args, '-n', name)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    }
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: name, name }
    const crd = (name: string) => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name })
    const env = { KUBECONFIG: cluster.kubeconfig, CHART: chart }
    const options = { bin: path.dirname(program), cwd: folder, env }
    expect(await runDocCommands(sandboxCommands('helm'), options)).toEqual([])
    expect(await cluster.client.get(deployment)).toMatchObject({ spec: { replicas: 2 } })
    expect(await cluster.client.get(crd('netconfigs.network.openstack.org'))).toBeDefined()
    // What a running operator writes must survive an upgrade.
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      name: 'stackloom-operator',
    }
    const before = (await cluster.client.get(configuration)) as KubeObject & { webhooks: { clientConfig: object }[] }
    const webhooks = before.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: AUTHORITY },
    }))
    await cluster.client.patch(configuration, { webhooks }, { type: 'merge', fieldManager: 'stackloom-operator' })
    run('upgrade', name, chart, '--set', 'replicas=3', '--set', 'image=example.org/stackloom:2')
    expect(await cluster.client.get(deployment)).toMatchObject({
      spec: { replicas: 3, template: { spec: { containers: [{ image: 'example.org/stackloom:2' }] } } },
    })
    const after = (await cluster.client.get(configuration)) as unknown as typeof before
    expect(after.webhooks.every(({ clientConfig }) => 'caBundle' in clientConfig)).toBe(true)
    run('uninstall', name)
    expect(await cluster.client.get(deployment)).toBeUndefined()
    expect(await cluster.client.get(configuration)).toBeUndefined()
    for (const { metadata } of [...collectCrds(commonParts).own, ...collectCrds(commonParts).upstream]) {
      expect(await cluster.client.get(crd(metadata.name))).toBeDefined()
    }
  })
})

/** Any certificate: the API server only checks that it is one. */
const AUTHORITY = Buffer.from(
  execFileSync(
    'openssl',
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null -subj /CN=test'.split(' '),
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  ),
).toString('base64')

describe('the plain manifests', () => {
  it('are accepted by a real API server with strict validation', async () => {
    const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
    const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: cluster.kubeconfig }
    const input = plainManifests(release)
      .map((object) => `---\n${writeYaml(object)}`)
      .join('')
    // Not a dry run: objects of a namespace need the namespace.
    const args = ['apply', '--server-side', '--validate=strict', '--force-conflicts', '-f', '-']
    const { status, stderr } = spawnSync(kubectl, args, { input, encoding: 'utf8', env })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})

describe('the bundle for OLM', () => {
  it('passes the validation of operator-framework, with known warnings only', async (ctx) => {
    const program = await requireProgram(ctx, 'olm-bundle')
    const bundle = path.join(folder, 'bundle')
    writeFiles(bundleFiles(release), bundle)
    const { status, stdout } = spawnSync(program, [bundle], { encoding: 'utf8' })
    // The rule takes every right on events for one on the old group; ours is on events.k8s.io.
    const warnings = stdout.split('\n').filter((line) => line !== '' && !line.includes('Migrate the API(s) for events'))
    expect({ status, warnings }).toEqual({ status: 0, warnings: [] })
  })

  it('is refused by the same validation when a CRD is missing', async (ctx) => {
    const program = await requireProgram(ctx, 'olm-bundle')
    const bundle = path.join(folder, 'incomplete-bundle')
    writeFiles(new Map([...bundleFiles(release)].filter(([name]) => !name.includes('ipsets'))), bundle)
    expect(spawnSync(program, [bundle], { encoding: 'utf8' })).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('Kind=IPSet: owned CRD'),
    })
  })
})
