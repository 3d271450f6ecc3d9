/**
 * Runs the parts of the operator that publish verdicts with a token of their ServiceAccount, on a real API server with RBAC: metrics
 * and Events say what the commands say, and the rights are to read, and to write Events.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { getString } from '../../../src/api/raw-object.ts'
import { formatLastBackup, LAST_BACKUP } from '../../../src/backup/last-backup.ts'
import { main } from '../../../src/cli/main.ts'
import { rules } from '../../../src/doctor/rules.ts'
import { connect } from '../../../src/kube/connect.ts'
import { renderAttachments } from '../../../src/render/multus.ts'
import { useCluster } from '../../cluster.ts'
import { planExample } from '../../examples.ts'
import { testIo } from '../../io.ts'
import { HOME, requestToken, writeTokenKubeconfig } from '../ipam/installed.ts'
import { launchOperator, type RunningOperator } from '../ipam/operator.ts'

const PARTS = ['hosts', 'addresses', 'certificates', 'backups']
const DATA_PLANE = 'dataplane.openstack.org/v1beta1'
const namespace = 'openstack'
const soon = { timeout: 60_000, interval: 200 }
const daysFromNow = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const object = (apiVersion: string, kind: string, name: string, fields: object): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
  ...fields,
})

/** Three hosts: one has what is declared, one is behind it, on one the last deployment failed. */
const hosts = ['compute-0', 'compute-1', 'compute-2']
const condition = { type: 'Ready', status: 'False', severity: 'Error', reason: 'Error', message: 'bootstrap failed' }
const dataPlane: readonly KubeObject[] = [
  object(DATA_PLANE, 'OpenStackDataPlaneService', 'bootstrap', { spec: {} }),
  object(DATA_PLANE, 'OpenStackDataPlaneNodeSet', 'computes', {
    spec: {
      preProvisioned: true,
      services: ['bootstrap'],
      nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh' },
      nodes: Object.fromEntries(hosts.map((name) => [name, { hostName: name }])),
    },
    status: { configHash: 'new', deployedConfigHash: 'new' },
  }),
  object(DATA_PLANE, 'OpenStackDataPlaneDeployment', 'all', {
    spec: { nodeSets: ['computes'] },
    status: { deployed: true, nodeSetHashes: { computes: 'old' } },
  }),
  object(DATA_PLANE, 'OpenStackDataPlaneDeployment', 'one', {
    spec: { nodeSets: ['computes'], ansibleLimit: 'compute-0' },
    status: { deployed: true, nodeSetHashes: { computes: 'new' } },
  }),
  object(DATA_PLANE, 'OpenStackDataPlaneDeployment', 'failing', {
    spec: { nodeSets: ['computes'], ansibleLimit: 'compute-2' },
    status: {
      deployed: false,
      // After the others, which have no condition and count by their creation.
      conditions: [{ ...condition, lastTransitionTime: daysFromNow(1) }],
      ansibleExecutionSummaries: { 'bootstrap-failing-computes': { failedHostList: ['compute-2'] } },
    },
  }),
]

const otherObjects: readonly KubeObject[] = [
  {
    ...object('core.openstack.org/v1beta1', 'OpenStackControlPlane', 'controlplane', {
      spec: { secret: 'osp-secret', storageClass: 'local' },
    }),
    metadata: {
      name: 'controlplane',
      namespace,
      annotations: { [LAST_BACKUP]: formatLastBackup({ name: 'monthly', time: Date.parse(daysFromNow(-40)) }) },
    },
  },
  object('cert-manager.io/v1', 'Certificate', 'keystone', {
    spec: { secretName: 'keystone', issuerRef: { name: 'rootca-internal' }, dnsNames: ['keystone'] },
    status: { notAfter: daysFromNow(2), renewalTime: daysFromNow(-28) },
  }),
  // The pod does not exist.
  {
    ...object('whereabouts.cni.cncf.io/v1alpha1', 'IPPool', 'openstack-internalapi-172.17.0.0-24', {
      spec: { range: '172.17.0.0/24', allocations: { 31: { id: 'gone', podref: 'openstack/gone', ifname: 'net1' } } },
    }),
    metadata: { name: 'openstack-internalapi-172.17.0.0-24', namespace: 'openshift-multus' },
  },
]

const readsSecrets = (id: string): boolean =>
  rules.some((rule) => rule.id === id && [...rule.looksAt, ...rule.also].includes('Secret'))

describe('verdicts of the operator', { timeout: 240_000 }, () => {
  const cluster = useCluster({ crds: 'today' })
  let folder = ''
  let operator: RunningOperator

  const run = async (...words: readonly string[]): Promise<string> => {
    const io = testIo()
    await main([...words, '--kubeconfig', cluster.kubeconfig], io)
    return io.out()
  }
  const create = async (desired: KubeObject): Promise<void> => {
    const created = await cluster.client.create(desired)
    const { status } = desired
    if (status) await cluster.client.update({ ...created, status }, { subresource: 'status' })
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stackloom-verdicts-'))
    for (const name of [namespace, 'openshift-multus'])
      await cluster.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    const plan = planExample('two-clouds')
    const attachments = plan.clouds.slice(0, 1).flatMap((cloud) => renderAttachments(plan, cloud))
    for (const desired of [...attachments, ...dataPlane, ...otherObjects]) await create(desired)
    await run('operator', 'install', '--image', 'example.org/stackloom:1', '--parts', PARTS.join())
    const kubeconfig = path.join(folder, 'kubeconfig')
    await writeTokenKubeconfig(cluster, kubeconfig, await requestToken(cluster, HOME, HOME))
    operator = await launchOperator(cluster, { kubeconfig, namespace: HOME, parts: PARTS, noWebhooks: true })
  }, 240_000)
  afterAll(async () => {
    await operator?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)).text()

  it('are metrics that agree with the commands', async () => {
    const { hosts: judged } = JSON.parse(await run('hosts', '-o', 'json')) as {
      readonly hosts: readonly { readonly host: string; readonly verdict: string }[]
    }
    expect(judged.map(({ host, verdict }) => `${host} ${verdict}`)).toEqual([
      'compute-0 current',
      'compute-1 behind',
      'compute-2 failed',
    ])
    const { addresses } = JSON.parse(await run('ip', 'audit', '-o', 'json')) as {
      readonly addresses: readonly { readonly kind: string; readonly address: string }[]
    }
    expect(addresses).toMatchObject([{ kind: 'leaked', address: '172.17.0.31' }])
    const { diagnoses } = JSON.parse(await run('doctor', '-o', 'json')) as {
      readonly diagnoses: readonly { readonly code: string }[]
    }
    const codes = diagnoses.map(({ code }) => code)
    for (const code of ['SL9646', 'SL9671']) expect(codes).toContain(code)
    const expected = [
      ...['current', 'behind', 'failed'].map(
        (verdict) => `stackloom_hosts{namespace="openstack",node_set="computes",verdict="${verdict}"} 1`,
      ),
      'stackloom_hosts{namespace="openstack",node_set="computes",verdict="never"} 0',
      'stackloom_address_faults{cloud="openstack",kind="leaked"} 1',
      'stackloom_addresses{cloud="openstack",network="internalapi",role="pods",state="used"} 1',
      'stackloom_certificates{cloud="openstack",verdict="critical"} 1',
      'stackloom_certificates{cloud="openstack",verdict="expired"} 0',
    ]
    await vi.waitFor(async () => {
      const lines = (await metrics()).split('\n')
      for (const line of expected) expect(lines).toContain(line)
      const backup = lines.find((line) => line.startsWith('stackloom_backup_timestamp_seconds{cloud="openstack"}'))
      const days = (Date.now() / 1000 - Number(backup?.split(' ')[1])) / 86_400
      expect(Math.round(days)).toBe(40)
    }, soon)
  })

  it('are Events of the objects concerned', async () => {
    const events = async (): Promise<readonly string[]> => {
      const { items } = await cluster.client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, { namespace })
      return items.map(
        (event) =>
          `${getString(event, 'regarding', 'kind')} ${getString(event, 'regarding', 'name')} ${getString(event, 'reason')}`,
      )
    }
    await vi.waitFor(async () => {
      const found = await events()
      for (const event of [
        'OpenStackDataPlaneNodeSet computes HostsBehind',
        'OpenStackDataPlaneNodeSet computes HostsFailed',
        'Certificate keystone CertificateEnds',
        'OpenStackControlPlane controlplane BackupOld',
      ])
        expect(found).toContain(event)
    }, soon)
    expect(operator.said()).not.toMatch(/forbidden/i)
  })

  /** A kubeconfig of a ServiceAccount with a role of examples/rbac/roles.yaml. */
  const withRole = async (role: string): Promise<string> => {
    const text = await readFile('examples/rbac/roles.yaml', 'utf8')
    for (const object of loadAll(text) as readonly KubeObject[])
      await cluster.client.apply(object, { fieldManager: 'test' })
    const api = 'rbac.authorization.k8s.io'
    await cluster.client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: role, namespace } })
    await cluster.client.create({
      apiVersion: `${api}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: api, kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: role, namespace }],
    })
    const kubeconfig = path.join(folder, role)
    await writeTokenKubeconfig(cluster, kubeconfig, await requestToken(cluster, namespace, role))
    return kubeconfig
  }

  it('are published by an observer with the role for observers', async () => {
    const kubeconfig = await withRole('stackloom-observer')
    const observer = await launchOperator(cluster, { kubeconfig, observe: true, parts: [...PARTS, 'ipam'] })
    try {
      await vi.waitFor(async () => {
        const figures = await (await fetch(`http://127.0.0.1:${observer.healthPort}/metrics`)).text()
        expect(figures).toContain('stackloom_hosts{namespace="openstack",node_set="computes",verdict="failed"} 1')
        expect(figures).toContain('stackloom_address_faults{cloud="openstack",kind="leaked"} 1')
        expect(figures).toContain('stackloom_certificates{cloud="openstack",verdict="critical"} 1')
      }, soon)
    } finally {
      await observer.stop()
    }
    expect(observer.said()).not.toMatch(/forbidden|SL5114/i)
  })

  it('are read with the role for viewers, which reads no Secret and writes nothing', async () => {
    const kubeconfig = await withRole('stackloom-viewer')
    const read = async (as: string, ...words: readonly string[]) => {
      const io = testIo({ cwd: path.resolve('examples') })
      const code = await main([...words, '-o', 'json', '--kubeconfig', as], io)
      const { time: _, ...result } = JSON.parse(io.out()) as Readonly<Record<string, unknown>>
      return { code, result }
    }
    for (const words of [['ip', 'audit'], ['verify', '-f', 'two-clouds.yaml'], ['capacity']])
      expect(await read(kubeconfig, ...words), words[0]).toEqual(await read(cluster.kubeconfig, ...words))
    const { result } = await read(kubeconfig, 'doctor')
    const { result: whole } = await read(cluster.kubeconfig, 'doctor')
    // Only the rules that read Secrets are missing, and they are named.
    const blind = (result['blind'] as readonly { readonly rule: string }[]).map(({ rule }) => rule)
    expect(blind).toContain('control-plane/secret-missing')
    expect(blind.filter((rule) => !readsSecrets(rule)).toSorted()).toEqual(
      (whole['blind'] as readonly { readonly rule: string }[]).map(({ rule }) => rule).toSorted(),
    )
    const diagnoses = whole['diagnoses'] as readonly { readonly rule: string }[]
    expect(result['diagnoses']).toEqual(diagnoses.filter(({ rule }) => !readsSecrets(rule)))
    const viewer = await connect({ kubeconfig, env: {} })
    try {
      const secrets = viewer.client.list({ apiVersion: 'v1', kind: 'Secret' }, { namespace })
      await expect(secrets).rejects.toThrow(/SL1108/)
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace } }
      await expect(viewer.client.create(object)).rejects.toThrow(/SL1108/)
    } finally {
      await viewer.close()
    }
  })

  it('need no right to write to an object of a cloud, and none to read Secrets', async () => {
    const roles = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
    const rules = (await cluster.client.get({ ...roles, name: HOME }))?.['rules'] as readonly {
      readonly resources?: readonly string[]
      readonly resourceNames?: readonly string[]
      readonly verbs: readonly string[]
    }[]
    const isReading = (verb: string): boolean => ['get', 'list', 'watch'].includes(verb)
    const writing = rules.filter(({ verbs, resourceNames }) => !verbs.every(isReading) && resourceNames === undefined)
    expect(writing.flatMap(({ resources = [] }) => resources).toSorted()).toEqual([
      'events',
      'subjectaccessreviews',
      'tokenreviews',
    ])
    expect(rules.flatMap(({ resources = [] }) => resources)).not.toContain('secrets')
  })
})
