/**
 * Runs the operator with a token of its ServiceAccount, limited to one namespace, on a real API server with RBAC: it
 * does its whole work with exactly the rights that `operator install` grants. Then uninstalls it.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { addressBlocks } from '../../../src/api/address-block.ts'
import { ipSets } from '../../../src/api/ipset.ts'
import type { Condition, GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import { getField } from '../../../src/api/raw-object.ts'
import { main } from '../../../src/cli/main.ts'
import { dnsMasqs } from '../../../src/controllers/dns/dns-kinds.ts'
import { type AnsibleRunStatus, ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { dataPlaneNodes } from '../../../src/dataplane/kinds/data-plane.ts'
import { createAuthority } from '../../../src/pki/authority.ts'
import { useCluster } from '../../cluster.ts'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { dnsMasq } from '../../dns.ts'
import { testIo } from '../../io.ts'
import { ipSet, netConfig, threeNetworks } from '../../ipam.ts'
import { forwardService, HOME, requestToken, writeTokenKubeconfig } from './installed.ts'
import { launchOperator, type RunningOperator } from './operator.ts'

const cluster = useCluster({ crds: 'none' })
const soon = { timeout: 60_000, interval: 100 }
const namespace = 'cloud'
const jobs = { apiVersion: 'batch/v1', kind: 'Job' }
const secrets = { apiVersion: 'v1', kind: 'Secret' }
const roles = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' }
const operators: RunningOperator[] = []
let folder: string
let forwarder: ChildProcess | undefined

async function command(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const io = testIo()
  const code = await main(['operator', ...words, '--kubeconfig', cluster.kubeconfig], io)
  return { code, out: io.out(), err: io.err() }
}

async function start(): Promise<RunningOperator> {
  const kubeconfig = path.join(folder, 'kubeconfig')
  await writeTokenKubeconfig(cluster, kubeconfig, await requestToken(cluster, HOME, HOME))
  const operator = await launchOperator(cluster, {
    kubeconfig,
    namespace: HOME,
    namespaces: [namespace],
    webhookService: 'stackloom-webhook',
    leaderElection: true,
  })
  operators.push(operator)
  await operator.says('webhooks are served')
  return operator
}

const create = (object: KubeObject): Promise<KubeObject> =>
  cluster.client.create({ ...object, metadata: { ...object.metadata, namespace } })
const get = (kind: GroupVersionKind, name: string): Promise<KubeObject | undefined> =>
  cluster.client.get({ ...kind, namespace, name })
const count = async (kind: GroupVersionKind): Promise<number> =>
  (await cluster.client.list(kind, { namespace })).items.length
const condition = async (kind: GroupVersionKind, name: string, type: string): Promise<string | undefined> => {
  const status = (await get(kind, name))?.['status'] as { conditions?: readonly Condition[] } | undefined
  return status?.conditions?.find((entry) => entry.type === type)?.status
}

/** Does what kubelet and the Job controller do when the pod of a Job has ended. */
async function endJob({ metadata }: KubeObject, terminationMessage: string): Promise<void> {
  const pods = { apiVersion: 'v1', kind: 'Pod' }
  const name = `${metadata.name}-x`
  const labels = { 'batch.kubernetes.io/job-name': metadata.name }
  const containers = [{ name: 'runner', image: 'example.org/runner:1' }]
  await create({ ...pods, metadata: { name, labels }, spec: { containers, restartPolicy: 'Never' } })
  const now = new Date().toISOString()
  const terminated = { exitCode: 0, message: terminationMessage, startedAt: now, finishedAt: now }
  const containerStatus = { ...containers[0], imageID: '', ready: false, restartCount: 0, state: { terminated } }
  const podStatus = { phase: 'Succeeded', containerStatuses: [containerStatus] }
  const toStatus = { type: 'merge', subresource: 'status' } as const
  await cluster.client.patch({ ...pods, namespace, name }, { status: podStatus }, toStatus)
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True' }))
  const status = { startTime: now, completionTime: now, succeeded: 1, conditions }
  await cluster.client.patch({ ...jobs, namespace, name: metadata.name }, { status }, toStatus)
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-rights-'))
  for (const name of [namespace, 'elsewhere']) {
    await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const installed = await command(
    'install',
    '--image',
    'example.org/stackloom:1',
    '--namespaces',
    namespace,
    '--console',
  )
  expect(installed.code).toBe(0)
  await vi.waitUntil(() => cluster.client.resource(addressBlocks), soon)
  const operator = await start()
  forwarder = await forwardService(cluster, operator.webhookPort)
}, 600_000)
afterAll(async () => {
  for (const operator of operators) await operator.stop()
  forwarder?.kill('SIGKILL')
  if (folder) await rm(folder, { recursive: true, force: true })
})

describe('an operator that is limited to a namespace', { timeout: 240_000 }, () => {
  it('has Roles there, and a ClusterRole without Secrets, pods and Jobs', async () => {
    const rules = async (kind: GroupVersionKind, name: string, home?: string): Promise<string> =>
      JSON.stringify(
        (await cluster.client.get({ ...kind, name, ...(home && { namespace: home }) }))?.['rules'] ?? 'none',
      )
    const clusterRole = await rules({ ...roles, kind: 'ClusterRole' }, HOME)
    expect(clusterRole).not.toMatch(/"secrets"|"pods|"jobs"|"roles"/)
    expect(await rules(roles, `${HOME}-part`, namespace)).toContain('"secrets"')
    expect((await cluster.client.list(roles, { namespace: 'elsewhere' })).items).toEqual([])
  })

  it('assigns addresses, serves names and requests Ansible runs with its rights', async () => {
    await create(netConfig(threeNetworks))
    await create(ipSet('a', [{}]))
    await expect.poll(() => condition(ipSets, 'a', 'Ready'), soon).toBe('True')
    await create(dnsMasq('dns', namespace))
    await expect.poll(() => condition(dnsMasqs, 'dns', 'ServiceConfigReady'), soon).toBe('True')
    await expect.poll(() => get({ apiVersion: 'apps/v1', kind: 'Deployment' }, 'dnsmasq-dns'), soon).toBeDefined()
    const key = { 'ssh-privatekey': 'a key', authorized_keys: 'ssh-ed25519 AAAA me' }
    await create({ ...secrets, metadata: { name: SSH_SECRET }, stringData: key })
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    await create(dataPlaneRole('r', { nodeTemplate, deployStrategy: { deploy: true }, services: ['install-os'] }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }))
    await expect.poll(() => count(jobs), soon).toBe(1)
    for (const operator of operators) expect(operator.said()).not.toMatch(/forbidden|SL5114/i)
  })

  it('records the end of a run with its rights: results of the hosts, the lifetime of the Job, the node', async () => {
    const [job] = (await cluster.client.list(jobs, { namespace })).items
    const [run] = (await cluster.client.list(ansibleRuns, { namespace })).items
    if (!job || !run) throw new Error('a run was requested')
    const runRef = { ...ansibleRuns, namespace, name: run.metadata.name }
    await cluster.client.patch(runRef, { spec: { ttlSecondsAfterFinished: 600 } }, { type: 'merge' })
    await endJob(job, 'n : ok=3 changed=1 unreachable=0 failed=0')
    const status = async () => ((await cluster.client.get(runRef))?.['status'] ?? {}) as AnsibleRunStatus
    await expect.poll(async () => (await status()).JobStatus, soon).toBe('Succeeded')
    expect((await status()).result?.hosts).toMatchObject({ n: { ok: 3, changed: 1 } })
    const lifetime = async () => getField(await get(jobs, job.metadata.name), 'spec', 'ttlSecondsAfterFinished')
    await expect.poll(lifetime, soon).toBe(600)
    await expect.poll(() => condition(dataPlaneNodes, 'n', 'Ready'), soon).toBe('True')
    for (const operator of operators) expect(operator.said()).not.toMatch(/forbidden|SL5114/i)
  })

  it('removes what belongs to deleted objects with its rights', async () => {
    for (const kind of [ansibleRuns, dataPlaneNodes, ipSets, dnsMasqs]) {
      for (const { metadata } of (await cluster.client.list(kind, { namespace })).items) {
        await cluster.client.delete({ ...kind, namespace, name: metadata.name })
      }
    }
    await expect.poll(() => count(dataPlaneNodes), soon).toBe(0)
    await expect.poll(() => count(ipSets), soon).toBe(0)
    for (const operator of operators) expect(operator.said()).not.toMatch(/forbidden|SL5114/i)
  })

  it('leaves other namespaces alone, and their writes need no webhook', async () => {
    const made = ipSet('b', [{}])
    await cluster.client.create({ ...made, metadata: { ...made.metadata, namespace: 'elsewhere' } })
    const other = await cluster.client.get({ ...ipSets, namespace: 'elsewhere', name: 'b' })
    expect(other?.metadata.finalizers ?? []).toEqual([])
  })

  it('serves /metrics over HTTPS to a user that the API server knows and that may read it', async () => {
    for (const name of ['reader', 'stranger']) {
      await cluster.client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } })
    }
    const group = 'rbac.authorization.k8s.io'
    await cluster.client.create({
      ...roles,
      kind: 'ClusterRole',
      metadata: { name: 'metrics-reader' },
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    })
    await cluster.client.create({
      ...roles,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'metrics-reader' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'metrics-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace }],
    })
    const tokens = { reader: '', stranger: '' }
    for (const name of ['reader', 'stranger'] as const) tokens[name] = await requestToken(cluster, namespace, name)
    expect(await scrape(undefined)).toMatchObject({ code: 401 })
    expect(await scrape('eyJhbGciOiJub25lIn0.e30.')).toMatchObject({ code: 401 })
    expect(await scrape(tokens.stranger)).toMatchObject({ code: 403 })
    const page = await scrape(tokens.reader)
    expect(page.code).toBe(200)
    expect(page.text).toContain('leader_election_master_status')
  })

  it('serves /metrics of an observer over HTTPS, with a certificate that is given', async () => {
    const authority = await createAuthority({ commonName: 'test' })
    const issued = await authority.issue({ commonName: 'observer', hosts: ['127.0.0.1'], uses: ['server'] })
    const certDir = path.join(folder, 'certificate')
    await mkdir(certDir)
    await writeFile(path.join(certDir, 'tls.crt'), issued.certificate)
    await writeFile(path.join(certDir, 'tls.key'), issued.privateKey)
    const observer = await launchOperator(cluster, { observe: true, certDir })
    await observer.says('metrics are served over HTTPS')
    expect(await scrape(undefined, observer)).toMatchObject({ code: 401 })
    const page = await scrape(await requestToken(cluster, namespace, 'reader'), observer)
    expect(page.code).toBe(200)
    expect(page.text).toContain('stackloom_ipam_addresses_used')
    await observer.stop()
  })

  it('reports a right that was taken away, and what it is for', async () => {
    for (const operator of operators.splice(0)) await operator.stop()
    const name = `${HOME}-part`
    const role = await cluster.client.get({ ...roles, namespace, name })
    const rules = role?.['rules'] as readonly { resources: readonly string[] }[]
    const fewer = rules.filter(({ resources }) => !resources.includes('jobs'))
    await cluster.client.patch({ ...roles, namespace, name }, { rules: fewer }, { type: 'merge' })
    const operator = await start()
    await operator.says('the operator may not create jobs.batch in namespace cloud, which it needs to run Ansible')
    expect(operator.said()).toContain('SL5114')
  })
})

async function scrape(
  token: string | undefined,
  operator = operators[0],
): Promise<{ code: number | undefined; text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const port = operator?.webhookPort
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/metrics', headers, rejectUnauthorized: false }
    request(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
      response.on('end', () => resolve({ code: response.statusCode, text }))
    })
      .on('error', reject)
      .end()
  })
}

describe('operator uninstall', { timeout: 240_000 }, () => {
  it('needs a confirmation', async () => {
    const { code, err } = await command('uninstall')
    expect(code).toBe(2)
    expect(err).toContain('SL5115')
  })

  it('deletes what install applied, keeps what it did not, and keeps CRDs that have objects', async () => {
    for (const operator of operators.splice(0)) await operator.stop()
    const foreign = { ...roles, kind: 'ClusterRole', metadata: { name: 'mine', labels: ourLabels }, rules: [] }
    await cluster.client.create(foreign)
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine', namespace: HOME } }
    await cluster.client.create(config)
    const { code, out } = await command('uninstall', '--yes', '--delete-crds', '-o', 'json')
    expect(code).toBe(0)
    const results = (JSON.parse(out) as { uninstalled: { kind: string; name: string; outcome: string }[] }).uninstalled
    const kept = results.filter(({ outcome }) => outcome === 'kept').map(({ kind, name }) => `${kind} ${name}`)
    expect(kept).toEqual(expect.arrayContaining(['ClusterRole mine', `Namespace ${HOME}`]))
    expect(kept).toContain('CustomResourceDefinition ipsets.network.openstack.org')
    const gone = ['Deployment', 'ValidatingWebhookConfiguration', 'Role', 'RoleBinding', 'ServiceAccount']
    for (const kind of gone) expect(results.filter((result) => result.kind === kind)).not.toEqual([])
    expect((await cluster.client.list(roles, { namespace })).items).toEqual([])
    // Also those of the console.
    const network = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' }
    for (const kind of [network, { apiVersion: 'v1', kind: 'Service' }])
      expect((await cluster.client.list(kind, { namespace: HOME })).items).toEqual([])
    expect(await cluster.client.get({ ...roles, kind: 'ClusterRole', name: 'mine' })).toBeDefined()
    // Writes are no longer refused.
    await cluster.client.delete({ ...ipSets, namespace: 'elsewhere', name: 'b' })
  })
})

const ourLabels = { 'app.kubernetes.io/name': 'stackloom-operator', 'app.kubernetes.io/managed-by': 'stackloom' }
