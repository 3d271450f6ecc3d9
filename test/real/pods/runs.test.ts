/**
 * Runs Ansible as Jobs in pods of real nodes: the pod attaches to ctlplane by Multus and reaches a host there by SSH. The host is
 * a network namespace with its own sshd, which a cable connects to the switch of the sandbox.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { main } from '../../../src/cli/main.ts'
import { ansibleRuns } from '../../../src/dataplane/kinds/ansible-run.ts'
import { dataPlaneNodes, dataPlaneServices } from '../../../src/dataplane/kinds/data-plane.ts'
import { runProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import type { Plan } from '../../../src/plan/plan.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { loadImage, loadImages } from '../../../src/sandbox/images/load-image.ts'
import { dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { testIo } from '../../io.ts'
import { sandboxPlan } from '../../plan.ts'
import { usePodSandbox } from '../../pod-sandbox.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { secret } from '../dataplane/runs.ts'
import { operatorImages } from './operator-images.ts'

vi.setConfig({ testTimeout: 600_000 })

const namespace = 'openstack'
const soon = { timeout: 300_000, interval: 500 }
const wholePlan = sandboxPlan({ nodes: 2, clouds: [{ name: 'rhoso1', namespace }] })
const plan: Plan = {
  ...wholePlan,
  clouds: wholePlan.clouds.map((cloud) => ({
    ...cloud,
    networks: cloud.networks.filter(({ name }) => name === 'ctlplane'),
    uses: [],
  })),
}
let remove = (): void => {}
afterAll(() => remove())

const hosts = useNodes(['edpm-compute-0'])
const sandbox = usePodSandbox(
  { crds: 'own-2023', nodes: ['worker-0', 'worker-1'], actors: ['nmstate'] },
  async ({ client, layout, context, kubeconfig }) => {
    const images = await operatorImages()
    remove = images.remove
    await loadImages(['ansible-runner'], layout.nodes, context)
    for (const node of layout.nodes) await loadImage(node, images.first.archive, context)
    for (const { stage, object } of renderDocuments(plan)) {
      if (['nncp', 'namespace', 'netattach'].includes(stage) && object.kind !== 'Tuned')
        await client.apply(object, { fieldManager: 'test' })
    }
    const io = testIo()
    const words = ['operator', 'install', '--parts', 'dataplane', '--image', images.first.reference]
    const code = await main([...words, '--kubeconfig', kubeconfig], io)
    if (code !== 0) throw new Error(io.err())
  },
)

/** Connects the switch of the hosts with the untagged segment of the sandbox. */
async function plugInHosts(): Promise<void> {
  const { layout, pid } = sandbox
  const onSwitch = ['nsenter', `--net=/proc/${pid}/root${layout.switchNamespace}`, 'ip', 'link']
  const [, , hub = ''] = hosts.enter
  const commands = [
    [...onSwitch, 'add', 'hosts', 'type', 'veth', 'peer', 'name', 'uplink', 'netns', hub],
    [...onSwitch, 'set', 'hosts', 'master', 'seg0', 'up'],
    [...hosts.enter, 'ip', 'link', 'set', 'uplink', 'master', 'switch', 'up'],
  ]
  for (const words of commands) {
    const { exit, stderr } = await runProcess(toProgram(words))
    if (!succeeded(exit)) throw new Error(`${words.join(' ')}: ${stderr}`)
  }
}

const conditionOf = (object: KubeObject | undefined, wanted: string): Condition | undefined =>
  ((object?.['status'] ?? {}) as { conditions?: readonly Condition[] }).conditions?.find(({ type }) => type === wanted)

describe('a run in a pod', () => {
  it('reaches a host on ctlplane by SSH, and the node becomes ready', async () => {
    await plugInHosts()
    const { client } = sandbox
    await client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': hosts.privateKey, authorized_keys: '' }))
    const play = JSON.stringify([
      {
        hosts: 'all',
        gather_facts: false,
        tasks: [{ 'ansible.builtin.copy': { dest: '/run/stackloom-ran', content: 'by a pod' } }],
      },
    ])
    const service = { ...dataPlaneServices, metadata: { name: 'mark', namespace }, spec: { label: 'mark', play } }
    await client.create(service)
    const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET, ansibleUser: 'root' }
    const role = { nodeTemplate, deployStrategy: { deploy: true }, services: ['validate-network', 'mark'] }
    // Refused until the first pod of the operator is ready.
    const made = dataPlaneRole('compute', { ...role, networkAttachments: ['ctlplane'] })
    await vi.waitFor(() => client.create(made), soon)
    const { address, root } = hosts.node('edpm-compute-0')
    await client.create(dataPlaneNode('edpm-compute-0', { role: 'compute', ansibleHost: address }))
    const read = () => client.get({ ...dataPlaneNodes, namespace, name: 'edpm-compute-0' })
    await expect.poll(async () => conditionOf(await read(), 'Ready')?.status, soon).toBe('True')
    expect(await readFile(path.join(root, 'run/stackloom-ran'), 'utf8')).toBe('by a pod')
    const runs = (await client.list(ansibleRuns, { namespace })).items
    expect(runs.map(({ status }) => (status as { JobStatus?: string }).JobStatus)).toEqual(['Succeeded', 'Succeeded'])
    // The Jobs ran in pods with an address of ctlplane.
    const pods = (
      await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace, labelSelector: 'app=openstackansibleee' })
    ).items
    expect(pods).toHaveLength(2)
    for (const { metadata } of pods)
      expect(metadata.annotations?.['k8s.v1.cni.cncf.io/network-status']).toMatch(/192\.168\.122\./)
  })
})
