/**
 * Runs the webhooks of openstack-operator and infra-operator in a cluster's network and registers them, as the operators'
 * bundles do. They are those of 0.6.0 (March 2025): the Go modules of later releases cannot be had.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, type TestContext, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { createAuthority } from '../../../src/pki/authority.ts'
import { ensurePrograms, isBuilt } from '../../../src/sandbox/build/ensure-programs.ts'
import { programs } from '../../../src/sandbox/programs.ts'
import type { Cluster } from '../../cluster.ts'
import { sandboxContext } from '../../sandbox-context.ts'

const PORT = 19443

/** The release that the operator offers: the one that an example asks for. */
const OPERATOR_VERSION = '18.0.9'

/** Group and kind to the operations that the validating webhook of the kind is registered for. */
const webhooks = {
  'core/OpenStackControlPlane': ['CREATE', 'UPDATE'],
  'core/OpenStackVersion': ['CREATE', 'UPDATE'],
  'dataplane/OpenStackDataPlaneNodeSet': ['CREATE', 'UPDATE'],
  'dataplane/OpenStackDataPlaneDeployment': ['CREATE', 'UPDATE'],
  'dataplane/OpenStackDataPlaneService': ['CREATE', 'UPDATE'],
  'network/NetConfig': ['CREATE', 'UPDATE', 'DELETE'],
  'network/IPSet': ['CREATE', 'UPDATE'],
  'network/Reservation': ['CREATE', 'UPDATE'],
  'network/DNSMasq': ['CREATE', 'UPDATE'],
  'rabbitmq/RabbitMq': ['CREATE', 'UPDATE'],
}

/** Building takes minutes, so `make test` as a whole uses what is there already. */
async function findAdmissionObstacle(): Promise<string | undefined> {
  if (process.env['STACKLOOM_BUILD_ALL'] || process.env['STACKLOOM_SOAK']) return undefined
  if (await isBuilt('openstack-admission', programs, sandboxContext())) return undefined
  return 'openstack-admission is not built; `make test SUITE=render`, `make soak` and `make setup` build it'
}

interface Admission {
  readonly stop: () => Promise<void>
}

async function startAdmission(cluster: Cluster): Promise<Admission> {
  const { 'openstack-admission': program } = await ensurePrograms(['openstack-admission'], sandboxContext())
  const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-admission-'))
  const authority = await createAuthority({ commonName: 'webhook' })
  const leaf = await authority.issue({ commonName: 'webhook', hosts: ['127.0.0.1'], uses: ['server'] })
  await writeFile(path.join(folder, 'tls.crt'), leaf.certificate)
  await writeFile(path.join(folder, 'tls.key'), leaf.privateKey, { mode: 0o600 })
  const [command, ...words] = [...cluster.inside, program, '--port', String(PORT), '--cert-dir', folder]
  const child = spawn(command, words, {
    env: { ...process.env, OPENSTACK_RELEASE_VERSION: OPERATOR_VERSION, KUBECONFIG: cluster.insideKubeconfig },
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true })
  }
  try {
    await waitForLine(child.stderr, 'Serving webhook server')
    for (const configuration of webhookConfigurations(authority.certificate)) {
      await cluster.client.apply(configuration, { fieldManager: 'test' })
    }
    await waitUntilRegistered(cluster)
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

function waitForLine(stream: NodeJS.ReadableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes(text)) resolve()
    })
    stream.once('end', () => reject(new Error(`the webhooks ended: ${output}`)))
  })
}

function webhookConfigurations(authority: string): readonly KubeObject[] {
  const caBundle = Buffer.from(authority).toString('base64')
  const entries = (verb: 'mutate' | 'validate'): readonly unknown[] =>
    Object.entries(webhooks).map(([name, operations]) => {
      const [area = '', kind = ''] = name.split('/')
      const resource = kind.toLowerCase()
      return {
        name: `${verb[0]}${resource}.kb.io`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        clientConfig: {
          url: `https://127.0.0.1:${PORT}/${verb}-${area}-openstack-org-v1beta1-${resource}`,
          caBundle,
        },
        rules: [
          {
            apiGroups: [`${area}.openstack.org`],
            apiVersions: ['v1beta1'],
            resources: [`${resource}s`],
            operations: verb === 'mutate' ? ['CREATE', 'UPDATE'] : operations,
          },
        ],
      }
    })
  const metadata = { name: 'openstack-admission' }
  const apiVersion = 'admissionregistration.k8s.io/v1'
  return [
    { apiVersion, kind: 'MutatingWebhookConfiguration', metadata, webhooks: entries('mutate') },
    { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata, webhooks: entries('validate') },
  ]
}

/** The API server notices new configurations by a watch. */
async function waitUntilRegistered({ client }: Cluster): Promise<void> {
  const version = (spec: Readonly<Record<string, unknown>>): KubeObject => ({
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackVersion',
    metadata: { name: 'probe', namespace: 'default' },
    spec,
  })
  const options = { fieldManager: 'test', dryRun: true }
  await vi.waitFor(
    async () => {
      const defaulted = await client.apply(version({}), options)
      if (JSON.stringify(defaulted['spec']) === '{}') throw new Error('nothing was defaulted')
      const refused = await client.apply(version({ targetVersion: '9.9.9' }), options).catch(() => undefined)
      if (refused !== undefined) throw new Error('nothing was refused')
    },
    { timeout: 120_000, interval: 100 },
  )
}

/** The webhooks for the tests of the block; where they cannot be had, each test is skipped by name. */
export function useAdmission(cluster: Cluster): { readonly running: boolean } {
  let admission: Admission | undefined
  beforeAll(async () => {
    if ((await findAdmissionObstacle()) === undefined) admission = await startAdmission(cluster)
  }, 1_800_000)
  afterAll(() => admission?.stop())
  beforeEach(requireAdmission)
  return {
    get running() {
      return admission !== undefined
    },
  }
}

async function requireAdmission(context: Pick<TestContext, 'skip'>): Promise<void> {
  const obstacle = await findAdmissionObstacle()
  if (obstacle !== undefined) context.skip(obstacle)
}
