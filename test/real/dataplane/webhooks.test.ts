/** Tests the whole operator with its data plane part: refusals and warnings of a real API server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import { type DataPlaneNode, dataPlaneNodes, dataPlaneRoles } from '../../../src/dataplane/kinds/data-plane.ts'
import { novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { useCluster } from '../../cluster.ts'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { type RunningOperator, startOperator } from '../ipam/operator.ts'

const cluster = useCluster({ crds: 'own-2023' })
const soon = { timeout: 60_000, interval: 50 }
const namespace = 'default'
let operator: RunningOperator

beforeAll(async () => {
  operator = await startOperator(cluster, { parts: ['dataplane'] })
}, 600_000)
afterAll(() => operator?.stop())

const create = (object: KubeObject): Promise<KubeObject> =>
  cluster.client.create({ ...object, metadata: { ...object.metadata, namespace } })
const annotate = (kind: GroupVersionKind, name: string, annotations: object): Promise<KubeObject> =>
  cluster.client.patch({ ...kind, namespace, name }, { metadata: { annotations } }, { type: 'merge' })

describe('the operator', () => {
  it('keeps a compute in its cell, whichever object changes, and sets label and finalizer at creation', async () => {
    await create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: SSH_SECRET },
      stringData: { 'ssh-privatekey': 'k' },
    })
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    await create(dataPlaneRole('compute', { nodeTemplate }, { [CELL]: 'nova-cell1' }))
    const node = await create(dataPlaneNode('n', { role: 'compute', ansibleHost: '192.168.122.1' }))
    expect(node.metadata.labels).toEqual({ openstackdataplanerole: 'compute' })
    expect(node.metadata.finalizers).toEqual(['stackloom.dev/data-plane'])
    const found = (): Promise<KubeObject | undefined> =>
      cluster.client.get({ ...novaExternalComputes, namespace, name: 'n' })
    await expect.poll(found, soon).toBeDefined()
    const seen = async (): Promise<string | undefined> =>
      (
        (await cluster.client.get({ ...dataPlaneNodes, namespace, name: 'n' })) as DataPlaneNode
      ).status?.conditions?.find(({ type }) => type === 'ServicesReady')?.message
    await expect.poll(seen, soon).toContain('NovaExternalCompute:')
    await expect(annotate(dataPlaneNodes, 'n', { [CELL]: 'nova-cell2' })).rejects.toThrow('SL7105')
    await expect(annotate(dataPlaneNodes, 'n', { [CELL]: '' })).rejects.toThrow('SL7106')
    await expect(annotate(dataPlaneRoles, 'compute', { [CELL]: null })).rejects.toThrow('SL7106')
    await expect(cluster.client.delete({ ...dataPlaneRoles, namespace, name: 'compute' })).rejects.toThrow('SL7106')
    await annotate(dataPlaneNodes, 'n', { [CELL]: 'nova-cell1' })
    await annotate(dataPlaneRoles, 'compute', { [CELL]: 'nova-cell2' })
  })

  it('refuses configuration that oslo.config would refuse on the host, by line', async () => {
    const spec = { customServiceConfig: '[DEFAULT]\nno sense\n' }
    const made = create({ ...novaExternalComputes, metadata: { name: 'wrong' }, spec })
    await expect(made).rejects.toThrow('line 2')
  })

  it('runs each attempt in a Job, and uses its result for the step', async () => {
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    const spec = { nodeTemplate, deployStrategy: { deploy: true }, services: ['install-os'] }
    await create(dataPlaneRole('deployed', spec))
    await create(dataPlaneNode('d', { role: 'deployed', ansibleHost: '192.168.122.2' }))
    const jobs = async (): Promise<readonly KubeObject[]> =>
      (await cluster.client.list({ apiVersion: 'batch/v1', kind: 'Job' }, { namespace })).items
    await expect.poll(async () => (await jobs()).length, soon).toBe(1)
    const [job] = await jobs()
    expect(job?.metadata.name).toMatch(/^dataplane-deployment-install-os-deployed-[0-9a-f]{16}-1$/)
    expect(job?.metadata.ownerReferences).toMatchObject([{ kind: 'OpenStackAnsibleEE' }])
    // No Job controller runs here: the test simulates it.
    const at = new Date().toISOString()
    const done = { status: 'True', lastTransitionTime: at, lastProbeTime: at }
    const status = {
      startTime: at,
      completionTime: at,
      succeeded: 1,
      uncountedTerminatedPods: {},
      conditions: [
        { type: 'SuccessCriteriaMet', ...done },
        { type: 'Complete', ...done },
      ],
    }
    if (job) await cluster.client.update({ ...job, status }, { subresource: 'status' })
    const ready = async (): Promise<string | undefined> =>
      (
        (await cluster.client.get({ ...dataPlaneNodes, namespace, name: 'd' })) as DataPlaneNode
      ).status?.conditions?.find(({ type }) => type === 'Ready')?.status
    await expect.poll(ready, soon).toBe('True')
    expect((await jobs()).length).toBe(1)
  }, 180_000)

  it('refuses an unknown part', async () => {
    await expect(startOperator(cluster, { parts: ['dataplan'] })).rejects.toThrow('no part dataplan')
  })
})
