/**
 * Tests document 003 on a real API server: annotations become service objects, phases follow each other, configuration is
 * right, and nothing runs twice. Ansible is simulated here; `runs.test.ts` executes it.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { dataPlaneNodes, dataPlaneRoles } from '../../../src/dataplane/kinds/data-plane.ts'
import { novaCells, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { useCluster } from '../../cluster.ts'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { testIo } from '../../io.ts'
import { useCases } from './cases.ts'
import { ATTEMPTS, startControllers } from './controllers.ts'

const cluster = useCluster({ crds: 'own-2023' })
const at = useCases(cluster)
const { create, get, patch, until, says, compute, secretText, ran, secret, cell, cellReady, soon } = at

/** The role and the two nodes of the document. */
async function documentExample(services: readonly string[] = ['install-os']): Promise<void> {
  await secret(SSH_SECRET, { 'ssh-privatekey': 'a key' })
  await create(
    dataPlaneRole(
      'edpm-compute',
      {
        dataPlane: 'openstack-edpm',
        nodeTemplate: { ansiblePort: 22 },
        deployStrategy: { deploy: true },
        services: [...services],
      },
      { [CELL]: 'nova-cell1' },
    ),
  )
  const spec = (index: number): object => ({
    ansibleHost: `192.168.122.10${index}`,
    hostName: `edpm-compute-${index}`,
    node: { ansibleSSHPrivateKeySecret: SSH_SECRET },
    role: 'edpm-compute',
  })
  await create(dataPlaneNode('edpm-compute-0', spec(0)))
  await create(dataPlaneNode('edpm-compute-1', spec(1), { [CELL]: 'nova-cell2' }))
}

describe("document 003's example", () => {
  it('puts each node in its cell with its transport URL, after phase 0, libvirt before nova', async () => {
    await cell('nova-cell1')
    await cell('nova-cell2')
    await documentExample()
    for (const name of ['edpm-compute-0', 'edpm-compute-1']) {
      await until(novaExternalComputes, name, 'Ready', 'True')
      await until(dataPlaneNodes, name, 'ServicesReady', 'True')
    }
    expect((await compute('edpm-compute-0'))?.spec).toMatchObject({
      dataplaneNodeName: 'edpm-compute-0',
      cellName: 'nova-cell1',
      sshKeySecretName: SSH_SECRET,
      inventoryConfigMapName: 'dataplanenode-edpm-compute-0',
      deploy: true,
    })
    expect((await compute('edpm-compute-0'))?.spec).not.toHaveProperty('customServiceConfig')
    expect((await compute('edpm-compute-1'))?.spec.cellName).toBe('nova-cell2')
    for (const [node, of] of [
      ['edpm-compute-0', 'nova-cell1'],
      ['edpm-compute-1', 'nova-cell2'],
    ] as const) {
      const conf = await secretText(`${node}-config-data`, '01-nova.conf')
      // A dollar sign is written twice, which oslo.config reads as one.
      expect(conf).toContain(`transport_url = rabbit://user:pa$$$$@${of}.example:5672/?ssl=0\n`)
      expect(conf).toContain(`password = password-of-${of}\n`)
      expect(await secretText(`${node}-config-data`, '02-nova-override.conf')).toBe('')
      const mine = ran().filter((one) => one.includes(node))
      expect(mine.slice(-2)).toEqual([`libvirt ${node}`, `nova ${node}`])
      expect(mine[0]).toContain('install-os')
      expect(at.controllers.controlPlane.discovered).toContain(`${node} in ${of}`)
    }
  })

  it('waits for an absent NovaCell by watch, and creates and runs nothing until then', async () => {
    await documentExample()
    await says(novaExternalComputes, 'edpm-compute-0', 'NovaCellReady', 'Waiting for NovaCell nova-cell1')
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    expect(await secretText('edpm-compute-0-config-data', '01-nova.conf')).toBeUndefined()
    expect(ran().filter((one) => !one.startsWith('install-os'))).toEqual([])
    await cell('nova-cell1', { ready: false })
    await says(novaExternalComputes, 'edpm-compute-0', 'NovaCellReady', 'to become Ready')
    const made = await get(novaCells, 'nova-cell1')
    if (made) await cellReady(made)
    await until(novaExternalComputes, 'edpm-compute-0', 'Ready', 'True')
  })

  it('distinguishes the cell1 of two Novas', async () => {
    await cell('nova-cell1')
    await cell('other-cell1')
    await secret(SSH_SECRET, { 'ssh-privatekey': 'a key' })
    const node = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    await create(dataPlaneRole('r', { nodeTemplate: node, deployStrategy: { deploy: true }, services: [] }))
    await create(dataPlaneNode('a', { role: 'r', ansibleHost: '192.168.122.1' }, { [CELL]: 'nova-cell1' }))
    await create(dataPlaneNode('b', { role: 'r', ansibleHost: '192.168.122.2' }, { [CELL]: 'other-cell1' }))
    await until(novaExternalComputes, 'a', 'Ready', 'True')
    await until(novaExternalComputes, 'b', 'Ready', 'True')
    expect(await secretText('a-config-data', '01-nova.conf')).toContain('@nova-cell1.example')
    expect(await secretText('b-config-data', '01-nova.conf')).toContain('@other-cell1.example')
  })
})

describe('what a person sets', () => {
  beforeEach(() => cell('nova-cell1'))
  const one = async (
    annotations: Record<string, string> = { [CELL]: 'nova-cell1' },
    more: object = {},
  ): Promise<void> => {
    await secret(SSH_SECRET, { 'ssh-privatekey': 'a key' })
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    await create(dataPlaneRole('r', { nodeTemplate, deployStrategy: { deploy: true }, services: [], ...more }))
    await create(dataPlaneNode('n', { role: 'r', ansibleHost: '192.168.122.1' }, annotations))
  }
  const custom = '[DEFAULT]\ncpu_allocation_ratio = 2.0\n\n# a comment, kept\n'

  it('stays in customServiceConfig, byte for byte, and reaches the host with the next run', async () => {
    await one()
    await until(novaExternalComputes, 'n', 'Ready', 'True')
    await patch(novaExternalComputes, 'n', { spec: { customServiceConfig: custom } })
    await expect.poll(() => secretText('n-config-data', '02-nova-override.conf'), soon).toBe(custom)
    await expect.poll(ran, soon).toEqual(['libvirt n', 'nova n', 'libvirt n', 'nova n'])
    await patch(dataPlaneRoles, 'r', { spec: { networkAttachments: ['ctlplane'] } })
    await expect.poll(async () => (await compute('n'))?.spec.networkAttachments, soon).toEqual(['ctlplane'])
    expect((await compute('n'))?.spec.customServiceConfig).toBe(custom)
  })

  it('in a NovaExternalCompute that existed before its node is adopted, not overwritten', async () => {
    const spec = { customServiceConfig: custom, novaComputeContainerImage: 'mine' }
    await create({ ...novaExternalComputes, metadata: { name: 'n' }, spec })
    await one()
    await until(novaExternalComputes, 'n', 'Ready', 'True')
    expect((await compute('n'))?.spec).toMatchObject({
      ...spec,
      cellName: 'nova-cell1',
      dataplaneNodeName: 'n',
    })
    expect(await secretText('n-config-data', '02-nova-override.conf')).toBe(custom)
  })

  it("as an image stays with a later operator's environment, as do the first defaults", async () => {
    await one()
    await until(novaExternalComputes, 'n', 'Ready', 'True')
    const before = (await compute('n'))?.spec
    expect(before?.novaComputeContainerImage).toMatch(/^quay.io/)
    await patch(novaExternalComputes, 'n', { spec: { novaLibvirtContainerImage: 'mine' } })
    await expect.poll(ran, soon).toEqual(['libvirt n', 'nova n', 'libvirt n'])
    await until(novaExternalComputes, 'n', 'Ready', 'True')
    await at.controllers.stop()
    at.controllers = startControllers(cluster.client, { env: { NOVA_COMPUTE_IMAGE_URL_DEFAULT: 'other' } })
    await patch(dataPlaneNodes, 'n', { metadata: { annotations: { touched: 'yes' } } })
    await expect
      .poll(() => at.controllers.caches.nodes.get(`${at.namespace}/n`)?.metadata.annotations?.['touched'], soon)
      .toBe('yes')
    await until(novaExternalComputes, 'n', 'Ready', 'True')
    const after = (await compute('n'))?.spec
    expect(after?.novaComputeContainerImage).toBe(before?.novaComputeContainerImage)
    expect(after?.novaLibvirtContainerImage).toBe('mine')
  })

  it('as deploy "false" generates the configuration and runs nothing until it is removed', async () => {
    await one({ [CELL]: 'nova-cell1', 'nova.openstack.org/deploy': 'false' })
    await until(novaExternalComputes, 'n', 'ServiceConfigReady', 'True')
    await says(novaExternalComputes, 'n', 'DeploymentReady', 'Deployment not started')
    expect(await secretText('n-config-data', '01-nova.conf')).toContain('transport_url')
    expect((await compute('n'))?.spec.deploy).toBe(false)
    expect(ran()).toEqual([])
    await patch(dataPlaneNodes, 'n', { metadata: { annotations: { 'nova.openstack.org/deploy': null } } })
    await until(novaExternalComputes, 'n', 'Ready', 'True')
  })

  it('on the role reaches the computes of all its nodes: the annotation, the key, deploy', async () => {
    await secret('other-key', { 'ssh-privatekey': 'another' })
    await one({}, { deployStrategy: { deploy: false } })
    await until(dataPlaneNodes, 'n', 'SetupReady', 'True')
    expect(await compute('n')).toBeUndefined()
    await patch(dataPlaneRoles, 'r', { metadata: { annotations: { [CELL]: 'nova-cell1' } } })
    await expect
      .poll(async () => (await compute('n'))?.spec, soon)
      .toMatchObject({ cellName: 'nova-cell1', deploy: false })
    const spec = {
      nodeTemplate: { ansibleSSHPrivateKeySecret: 'other-key' },
      deployStrategy: { deploy: true },
    }
    await patch(dataPlaneRoles, 'r', { spec })
    await expect
      .poll(async () => (await compute('n'))?.spec, soon)
      .toMatchObject({ sshKeySecretName: 'other-key', deploy: true })
    await until(novaExternalComputes, 'n', 'Ready', 'True')
  })

  it('in a field that follows from the node is not overwritten: the node names its manager', async () => {
    const spec = { sshKeySecretName: 'mine' }
    await create({ ...novaExternalComputes, metadata: { name: 'n' }, spec })
    await one()
    await says(dataPlaneNodes, 'n', 'ServicesReady', 'SL7117')
    await says(dataPlaneNodes, 'n', 'ServicesReady', 'person holds .spec.sshKeySecretName')
    expect((await compute('n'))?.spec.sshKeySecretName).toBe('mine')
    expect(ran()).toEqual([])
    await patch(novaExternalComputes, 'n', { spec: { sshKeySecretName: null } })
    await until(dataPlaneNodes, 'n', 'ServicesReady', 'True')
    expect((await compute('n'))?.spec.sshKeySecretName).toBe(SSH_SECRET)
  })

  it('in ansibleVars is explained with the files, and with what to write instead', async () => {
    const ansibleVars = 'edpm_nova_compute_DEFAULT_debug: true\n'
    await one(undefined, { nodeTemplate: { ansibleSSHPrivateKeySecret: SSH_SECRET, ansibleVars } })
    await until(novaExternalComputes, 'n', 'Ready', 'True')
    const io = testIo()
    const words = ['config', 'explain', '--node', 'n', '-n', at.namespace, '--kubeconfig', cluster.kubeconfig]
    expect(await main([...words, '--overrides'], io)).toBe(0)
    expect(io.out()).toMatch(/\[DEFAULT\] debug +ansibleVars: edpm_nova_compute_DEFAULT_debug +true/)
    expect(io.err()).toContain('SL7013')
    expect(io.err()).toContain('debug = true')
  })

  it('as an empty annotation on the node means no compute', async () => {
    await secret(SSH_SECRET, { 'ssh-privatekey': 'a key' })
    const spec = { nodeTemplate: { ansibleSSHPrivateKeySecret: SSH_SECRET }, services: [] }
    await create(dataPlaneRole('r', spec, { [CELL]: 'nova-cell1' }))
    await create(dataPlaneNode('n', { role: 'r' }, { [CELL]: '' }))
    await create(dataPlaneNode('m', { role: 'r' }))
    await expect.poll(() => compute('m'), soon).toBeDefined()
    await says(dataPlaneNodes, 'n', 'ServicesReady', 'No services requested')
    expect(await compute('n')).toBeUndefined()
  })
})

describe('the cell without webhooks', () => {
  it('stays, and the node reports why', async () => {
    await cell('nova-cell1')
    await cell('nova-cell2')
    await documentExample([])
    for (const name of ['edpm-compute-0', 'edpm-compute-1']) await until(novaExternalComputes, name, 'Ready', 'True')
    const before = ran().length
    await patch(dataPlaneRoles, 'edpm-compute', { metadata: { annotations: { [CELL]: 'nova-cell2' } } })
    await says(dataPlaneNodes, 'edpm-compute-0', 'ServicesReady', 'SL7105')
    expect((await compute('edpm-compute-0'))?.spec.cellName).toBe('nova-cell1')
    await patch(dataPlaneRoles, 'edpm-compute', { metadata: { annotations: { [CELL]: null } } })
    await says(dataPlaneNodes, 'edpm-compute-0', 'ServicesReady', 'SL7106')
    await cluster.client.delete({ ...dataPlaneRoles, namespace: at.namespace, name: 'edpm-compute' })
    await says(dataPlaneNodes, 'edpm-compute-0', 'SetupReady', 'SL7102')
    expect((await compute('edpm-compute-0'))?.spec).toMatchObject({
      cellName: 'nova-cell1',
      sshKeySecretName: SSH_SECRET,
    })
    expect(ran().length).toBe(before)
  })
})

describe('bad input', () => {
  const node = { role: 'r', ansibleHost: '192.168.122.1' }
  it('is reported with cause and remedy, and nothing runs: cell0, no role, no key, unreadable variables', async () => {
    await cell('nova-cell1')
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET }
    await create(dataPlaneRole('r', { nodeTemplate, deployStrategy: { deploy: true }, services: ['install-os'] }))
    await create(dataPlaneNode('zero', node, { [CELL]: 'nova-cell0' }))
    await create(dataPlaneNode('lost', { role: 'absent' }, { [CELL]: 'nova-cell1' }))
    await says(dataPlaneNodes, 'zero', 'SetupReady', `Input data resources missing: secret/${SSH_SECRET}`)
    await says(dataPlaneNodes, 'zero', 'ServicesReady', 'SL7101')
    await says(dataPlaneNodes, 'lost', 'SetupReady', 'OpenStackDataPlaneRole absent does not exist')
    await secret(SSH_SECRET, { other: 'not it' })
    await says(dataPlaneNodes, 'zero', 'SetupReady', "field 'ssh-privatekey' not found")
    expect(await compute('zero')).toBeUndefined()
    expect(await compute('lost')).toBeUndefined()
    expect(ran()).toEqual([])
    await patch({ apiVersion: 'v1', kind: 'Secret' }, SSH_SECRET, {
      stringData: { 'ssh-privatekey': 'a key' },
    })
    await until(dataPlaneNodes, 'zero', 'Ready', 'True')
    await create({
      ...novaExternalComputes,
      metadata: { name: 'wrong' },
      spec: { customServiceConfig: '[DEFAULT]\nno sense\n' },
    })
    await create(dataPlaneNode('wrong', node, { [CELL]: 'nova-cell1' }))
    await says(novaExternalComputes, 'wrong', 'ServiceConfigReady', 'SL7001')
    expect(ran().filter((run) => run.includes('nova'))).toEqual([])
  })

  it('in a Secret of the control plane is awaited by watch', async () => {
    await cell('nova-cell1')
    await patch({ apiVersion: 'v1', kind: 'Secret' }, 'nova-cell1-secret', {
      data: { ServicePassword: null },
    })
    await documentExample([])
    await says(
      novaExternalComputes,
      'edpm-compute-0',
      'InputReady',
      "field 'ServicePassword' not found in secret/nova-cell1-secret",
    )
    await patch({ apiVersion: 'v1', kind: 'Secret' }, 'nova-cell1-secret', {
      stringData: { ServicePassword: 'x' },
    })
    await until(novaExternalComputes, 'edpm-compute-0', 'Ready', 'True')
  })
})

describe('runs', () => {
  it('are retried only for the hosts that failed, each with its own name, until they succeed', async () => {
    const failed = { ok: 1, changed: 0, failures: 1, unreachable: 0 }
    const fine = { ok: 1, changed: 1, failures: 0, unreachable: 0 }
    let bad = 2
    at.play = ({ hosts }) => {
      if (!hosts.includes('edpm-compute-1') || bad-- <= 0) return {}
      const counts = Object.fromEntries(hosts.map((host) => [host, host === 'edpm-compute-1' ? failed : fine]))
      return { reason: 'Failed', hosts: counts }
    }
    await documentExample(['install-os'])
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    await until(dataPlaneNodes, 'edpm-compute-1', 'Ready', 'True')
    const runs = ran()
    expect(runs.filter((run) => run.includes('edpm-compute-0'))).toHaveLength(1)
    expect(runs.filter((run) => run.includes('edpm-compute-1'))).toHaveLength(3)
  })

  it('stop after the last attempt, and start again after a run request', async () => {
    at.play = () => ({ reason: 'Unknown', message: 'no end was recorded' })
    await documentExample(['install-os'])
    await says(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'SL7110')
    const tried = ran().filter((run) => run.includes('edpm-compute-0')).length
    expect(tried).toBe(ATTEMPTS)
    at.play = () => ({})
    await patch(dataPlaneNodes, 'edpm-compute-0', {
      metadata: { annotations: { 'stackloom.dev/run-request': 'again' } },
    })
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
  })

  it('are not started by a restarted operator, which writes nothing', async () => {
    await cell('nova-cell1')
    await cell('nova-cell2')
    await documentExample(['install-os'])
    for (const name of ['edpm-compute-0', 'edpm-compute-1']) await until(dataPlaneNodes, name, 'ServicesReady', 'True')
    const before = ran()
    const versions = async (): Promise<readonly string[]> => {
      const lists = await Promise.all(
        [dataPlaneNodes, dataPlaneRoles, novaExternalComputes, ansibleRuns, { apiVersion: 'v1', kind: 'Secret' }].map(
          (kind) => cluster.client.list(kind, { namespace: at.namespace }),
        ),
      )
      return lists.flatMap(({ items }) => items.map((item) => `${item.metadata.name} ${item.metadata.resourceVersion}`))
    }
    await expect
      .poll(
        async () =>
          ((await get(dataPlaneRoles, 'edpm-compute')) as { status?: { readyNodes?: number } })?.status?.readyNodes,
        soon,
      )
      .toBe(2)
    await at.controllers.stop()
    const stored = await versions()
    at.controllers = startControllers(cluster.client)
    await expect
      .poll(() => at.controllers.runtime.ready().every(({ problem }) => problem === undefined), soon)
      .toBe(true)
    // A node that is added later shows that everything before it was reconciled.
    await create(
      dataPlaneNode('late', { role: 'edpm-compute', node: { ansibleSSHPrivateKeySecret: SSH_SECRET } }, { [CELL]: '' }),
    )
    await until(dataPlaneNodes, 'late', 'Ready', 'True')
    const after = new Set(await versions())
    const touched = stored.filter((one) => !after.has(one)).map((one) => one.split(' ')[0])
    // Only the role and its inventory changed for the new node.
    expect(new Set(touched)).toEqual(new Set(['dataplanerole-edpm-compute', 'edpm-compute']))
    expect(ran().slice(before.length)).toEqual(['install-os late'])
  })

  it('follow their inputs: with the policy manual they are out of date until a run is requested', async () => {
    await documentExample(['install-os'])
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    await patch(dataPlaneNodes, 'edpm-compute-0', {
      metadata: { annotations: { 'stackloom.dev/run-policy': 'manual' } },
      spec: { node: { ansibleUser: 'stack' } },
    })
    await says(dataPlaneNodes, 'edpm-compute-0', 'DeploymentReady', 'a run request is needed')
    const before = ran().length
    await patch(dataPlaneNodes, 'edpm-compute-0', {
      metadata: { annotations: { 'stackloom.dev/run-request': 'now' } },
    })
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    expect(ran().length).toBe(before + 1)
  })
})

describe('a return', () => {
  it('to earlier inputs is a new run, not the old one', async () => {
    await documentExample(['install-os'])
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    const user = (ansibleUser: string): Promise<KubeObject> =>
      patch(dataPlaneNodes, 'edpm-compute-0', { spec: { node: { ansibleUser } } })
    const mine = (): readonly string[] =>
      at.executor.recorded
        .filter(({ hosts, namespace }) => namespace === at.namespace && hosts.includes('edpm-compute-0'))
        .map(({ run }) => run)
    const before = mine().length
    await user('stack')
    await expect.poll(() => mine().length, soon).toBe(before + 1)
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    await user('')
    await expect.poll(() => mine().length, soon).toBe(before + 2)
    await until(dataPlaneNodes, 'edpm-compute-0', 'Ready', 'True')
    const hashes = mine().map((run) => run.split('-').at(-2))
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('a deleted compute', () => {
  it('stays while it has instances or their number is unknown, and is deleted with its node without any', async () => {
    await cell('nova-cell1')
    await documentExample([])
    await until(novaExternalComputes, 'edpm-compute-0', 'Ready', 'True')
    await cluster.client.delete({ ...dataPlaneNodes, namespace: at.namespace, name: 'edpm-compute-0' })
    await says(novaExternalComputes, 'edpm-compute-0', 'Ready', 'SL7113')
    at.controllers.controlPlane.instances.set('edpm-compute-0', 3)
    await patch(novaExternalComputes, 'edpm-compute-0', { metadata: { annotations: { look: 'again' } } })
    await says(novaExternalComputes, 'edpm-compute-0', 'Ready', 'still has 3 instances')
    expect(await get(dataPlaneNodes, 'edpm-compute-0')).toBeDefined()
    at.controllers.controlPlane.instances.set('edpm-compute-0', 0)
    await patch(novaExternalComputes, 'edpm-compute-0', { metadata: { annotations: { look: 'once more' } } })
    await expect.poll(() => compute('edpm-compute-0'), soon).toBeUndefined()
    await expect.poll(() => get(dataPlaneNodes, 'edpm-compute-0'), soon).toBeUndefined()
    expect(at.controllers.controlPlane.removed).toContain('edpm-compute-0')
    // It was removed from its host first, or it would have registered again.
    const [last] = at.executor.recorded.filter(({ namespace }) => namespace === at.namespace).slice(-1)
    expect(last).toMatchObject({
      step: 'nova-decommission',
      hosts: ['edpm-compute-0'],
      spec: { extraVars: { stackloom_services: ['nova', 'libvirt'] } },
    })
  })

  it('stays while its host cannot be cleared, reports why, and allows removing its annotation', async () => {
    const name = 'edpm-compute-0'
    await cell('nova-cell1')
    await documentExample([])
    await until(novaExternalComputes, name, 'Ready', 'True')
    at.controllers.controlPlane.instances.set(name, 0)
    const dark = { ok: 0, changed: 0, failures: 0, unreachable: 1 }
    at.play = ({ step }) => (step === 'nova-decommission' ? { reason: 'Unreachable', hosts: { [name]: dark } } : {})
    const removed = at.controllers.controlPlane.removed.length
    await cluster.client.delete({ ...novaExternalComputes, namespace: at.namespace, name })
    await says(novaExternalComputes, name, 'Ready', 'SL7120')
    await says(novaExternalComputes, name, 'Ready', 'the host could not be reached')
    expect(at.controllers.controlPlane.removed.length).toBe(removed)
    await patch(dataPlaneNodes, name, { metadata: { annotations: { [CELL]: '' } } })
    at.play = () => ({})
    await patch(dataPlaneNodes, name, { metadata: { annotations: { 'stackloom.dev/run-request': 'go' } } })
    await expect.poll(() => compute(name), soon).toBeUndefined()
    await says(dataPlaneNodes, name, 'ServicesReady', 'No services requested')
  })

  it('is removed from its host also when its first run failed there', async () => {
    const name = 'edpm-compute-0'
    const broken = { ok: 3, changed: 2, failures: 1, unreachable: 0 }
    at.play = ({ step }) => (step === 'libvirt' ? { reason: 'Failed', hosts: { [name]: broken } } : {})
    at.controllers.controlPlane.instances.set(name, 0)
    await cell('nova-cell1')
    await documentExample([])
    const steps = (): readonly string[] =>
      at.executor.recorded
        .filter(({ namespace, hosts }) => namespace === at.namespace && hosts.includes(name))
        .map(({ step }) => step)
    await expect.poll(steps, soon).toContain('libvirt')
    await cluster.client.delete({ ...novaExternalComputes, namespace: at.namespace, name })
    await expect.poll(() => compute(name), soon).toBeUndefined()
    expect(steps().at(-1)).toBe('nova-decommission')
  })

  it('that never reached its host is not created again before its annotation can be removed', async () => {
    await documentExample([])
    const name = 'edpm-compute-0'
    await says(novaExternalComputes, name, 'NovaCellReady', 'Waiting for NovaCell nova-cell1')
    await cluster.client.delete({ ...novaExternalComputes, namespace: at.namespace, name })
    await expect.poll(() => compute(name), soon).toBeUndefined()
    await patch(dataPlaneNodes, name, { metadata: { annotations: { [CELL]: '' } } })
    await says(dataPlaneNodes, name, 'ServicesReady', 'No services requested')
    expect(await compute(name)).toBeUndefined()
  })

  it('is deleted at once with the force annotation', async () => {
    await cell('nova-cell1')
    await documentExample([])
    await until(novaExternalComputes, 'edpm-compute-0', 'Ready', 'True')
    await patch(novaExternalComputes, 'edpm-compute-0', {
      metadata: { annotations: { 'stackloom.dev/force-decommission': 'true' } },
    })
    await cluster.client.delete({ ...dataPlaneNodes, namespace: at.namespace, name: 'edpm-compute-0' })
    await expect.poll(() => get(dataPlaneNodes, 'edpm-compute-0'), soon).toBeUndefined()
  })
})
