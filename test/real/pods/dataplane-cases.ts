/**
 * Defines the cases of data plane runs for a sandbox in which the operator runs in pods: a run becomes a Job, whose pod reaches
 * hosts on the control plane network by Multus, also after pods were killed and evicted, and when a node is lost.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Condition, KubeObject } from '../../../src/api/object.ts'
import { NETWORK_STATUS } from '../../../src/api/pod-networks.ts'
import { main } from '../../../src/cli/main.ts'
import { type AnsibleRun, ansibleRuns, HOSTS_ANNOTATION } from '../../../src/dataplane/kinds/ansible-run.ts'
import { type DataPlaneNode, dataPlaneNodes, dataPlaneServices } from '../../../src/dataplane/kinds/data-plane.ts'
import { runProcess, succeeded, toProgram } from '../../../src/exec/process.ts'
import { type Connection, connect } from '../../../src/kube/connect.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { callSupervisor } from '../../../src/sandbox/control.ts'
import { findCgroupHierarchies } from '../../../src/sandbox/nodes/cgroups.ts'
import { locateSandbox } from '../../../src/sandbox/settings.ts'
import { requireSoak } from '../../counts.ts'
import { dataPlaneNode, dataPlaneRole } from '../../data-plane.ts'
import { testIo } from '../../io.ts'
import type { PodSandbox } from '../../pod-sandbox.ts'
import { useNodes } from '../dataplane/nodes.ts'
import { SSH_SECRET, secret } from '../dataplane/runs.ts'

const namespace = 'openstack'
const podKind = { apiVersion: 'v1', kind: 'Pod' }

export function defineDataPlane(
  sandbox: PodSandbox,
  soon: { readonly timeout: number; readonly interval: number },
): void {
  describe('a data plane run in a pod', () => {
    const hosts = useNodes(['edpm-compute-0', 'edpm-compute-1', 'edpm-compute-2'])
    let connection: Connection | undefined
    beforeAll(async () => {
      connection = await connect({ kubeconfig: sandbox.kubeconfig, env: process.env })
      await connectSwitches()
      await sandbox.client.create(secret(namespace, SSH_SECRET, { 'ssh-privatekey': hosts.privateKey }))
    })
    afterAll(() => connection?.close())

    /** A cable between the switch of the hosts and that of the control plane network. */
    async function connectSwitches(): Promise<void> {
      const hub = hosts.enter[2] ?? ''
      const onSwitch = ['nsenter', `--net=/proc/${sandbox.pid}/root${sandbox.layout.switchNamespace}`, '--']
      for (const words of [
        [...onSwitch, 'ip', 'link', 'add', 'hosts', 'type', 'veth', 'peer', 'name', 'cluster', 'netns', hub],
        [...onSwitch, 'ip', 'link', 'set', 'hosts', 'master', 'seg0', 'up'],
        [...hosts.enter, 'ip', 'link', 'set', 'cluster', 'master', 'switch', 'up'],
      ]) {
        const { exit, stderr } = await runProcess(toProgram(words))
        if (!succeeded(exit)) throw new Error(`${words.join(' ')}: ${stderr}`)
      }
    }

    /** A step whose play runs one command on the host. */
    async function createStep(name: string, command: string): Promise<void> {
      const tasks = [{ name: 'Run', 'ansible.builtin.shell': command }]
      const play = JSON.stringify([{ hosts: 'all', gather_facts: false, tasks }])
      await sandbox.client.create({ ...dataPlaneServices, metadata: { name, namespace }, spec: { play } })
    }

    /** A role with one node. Refused until a pod of the operator answers reviews. */
    async function createNode(host: string, services: readonly string[]): Promise<void> {
      // The hosts have no repository of packages.
      const ansibleVars = 'stackloom_packages: []\n'
      const nodeTemplate = { ansibleSSHPrivateKeySecret: SSH_SECRET, ansibleUser: 'root', ansiblePort: 22, ansibleVars }
      const spec = {
        nodeTemplate,
        preProvisioned: true,
        networkAttachments: ['ctlplane'],
        deployStrategy: { deploy: true },
      }
      const role = dataPlaneRole(`role-of-${host}`, { ...spec, services: [...services] })
      await vi.waitFor(() => sandbox.client.create(role as KubeObject), soon)
      const address = hosts.node(host).address
      const node = dataPlaneNode(host, { role: role.metadata.name, ansibleHost: address, hostName: host })
      await vi.waitFor(() => sandbox.client.create(node as KubeObject), soon)
    }

    async function readNode(name: string): Promise<DataPlaneNode | undefined> {
      return (await sandbox.client.get({ ...dataPlaneNodes, namespace, name })) as DataPlaneNode | undefined
    }

    /** Empty when the node is Ready, else what it says. */
    async function readiness(name: string): Promise<string> {
      const conditions: readonly Condition[] = (await readNode(name))?.status?.conditions ?? []
      const ready = conditions.find(({ type }) => type === 'Ready')
      return ready?.status === 'True' ? '' : (ready?.message ?? 'no condition')
    }

    async function runsOf(host: string): Promise<readonly AnsibleRun[]> {
      const { items } = await sandbox.client.list(ansibleRuns, { namespace })
      return (items as unknown as readonly AnsibleRun[]).filter(
        ({ metadata }) => metadata.annotations?.[HOSTS_ANNOTATION] === host,
      )
    }

    async function runPods(host: string): Promise<readonly KubeObject[]> {
      const runs = new Set((await runsOf(host)).map(({ metadata }) => metadata.name))
      const { items } = await sandbox.client.list(podKind, { namespace, labelSelector: 'app=openstackansibleee' })
      return items.filter(({ metadata }) => runs.has(metadata.labels?.['openstackansibleee_cr'] ?? ''))
    }

    const hostFile = (host: string, name: string): string => path.join(hosts.node(host).root, 'srv', name)

    function countLines(host: string, name: string): number {
      const file = hostFile(host, name)
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0
    }

    /** The pod whose play is on the host: the newest one. */
    async function activePod(host: string): Promise<KubeObject> {
      const running = (await runPods(host)).filter(
        (pod) => (pod['status'] as { readonly phase?: string } | undefined)?.phase === 'Running',
      )
      const [pod] = running
      if (!pod || running.length > 1) throw new Error(`${running.length} pods of ${host} run`)
      return pod
    }

    async function sendToPod(pod: KubeObject, method: 'DELETE' | 'POST', suffix: string, body: object): Promise<void> {
      const { name } = pod.metadata
      await connection?.transport.json({
        method,
        path: `/api/v1/namespaces/${namespace}/pods/${name}${suffix}`,
        body: { ...body, ...(method === 'POST' && { metadata: { name, namespace } }) },
        idempotent: true,
        verb: 'delete',
        subject: 'pod',
      })
    }

    const nodeOf = (pod: KubeObject): string => (pod['spec'] as { readonly nodeName?: string }).nodeName ?? ''

    /** As by a power cut: the programs of the node end, and with them the processes of its pods. */
    async function loseNode(name: string): Promise<void> {
      const { control } = locateSandbox(sandbox.context.paths, sandbox.name)
      for (const program of ['kubelet', 'containerd', 'kube-proxy'])
        await callSupervisor(control, { do: 'kill', task: `${program}-${name}` })
      const { cgroup = '' } = sandbox.layout.nodes.find((node) => node.name === name) ?? {}
      for (const hierarchy of await findCgroupHierarchies()) {
        const files = readdirSync(path.join(hierarchy, cgroup), { recursive: true, encoding: 'utf8' })
        for (const file of files.filter((entry) => path.basename(entry) === 'cgroup.procs')) {
          const ids = readFileSync(path.join(hierarchy, cgroup, file), 'utf8')
            .split('\n')
            .filter(Boolean)
          // One may have ended with its parent.
          for (const id of ids) spawnSync('kill', ['-KILL', id])
        }
      }
    }

    async function recoverNode(name: string): Promise<void> {
      const { control } = locateSandbox(sandbox.context.paths, sandbox.name)
      for (const program of ['containerd', 'kube-proxy', 'kubelet'])
        await callSupervisor(control, { do: 'start', task: `${program}-${name}` }, 270_000)
    }

    async function nodeReadiness(name: string): Promise<string | undefined> {
      const node = await sandbox.client.get({ apiVersion: 'v1', kind: 'Node', name })
      const { conditions = [] } = (node?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] }
      return conditions.find(({ type }) => type === 'Ready')?.status
    }

    async function stackloom(...words: readonly string[]): Promise<string> {
      const io = testIo({ columns: 1000 })
      await main([...words, '--kubeconfig', sandbox.kubeconfig], io)
      return `${io.out()}${io.err()}`
    }

    /** Each attempt leaves a line when it starts, and one more when it may end. */
    const HOLD = 'echo x >> /srv/started; while [ -e /srv/hold ]; do sleep 0.2; done; echo x >> /srv/ended'

    it('reaches its host by the attached network, makes the node Ready, and records the key of the host', async () => {
      const host = 'edpm-compute-0'
      await createStep('mark', 'echo x >> /srv/marked')
      await createNode(host, ['install-os', 'mark'])
      await expect.poll(() => readiness(host), soon).toBe('')
      expect(countLines(host, 'marked')).toBe(1)
      const runs = await runsOf(host)
      expect(runs.map(({ status }) => status?.result?.reason)).toEqual(['Completed', 'Completed'])
      const pods = await runPods(host)
      expect(pods.length).toBe(2)
      for (const { metadata } of pods) expect(metadata.annotations?.[NETWORK_STATUS]).toContain(`${namespace}/ctlplane`)
      expect((await readNode(host))?.status?.sshHostKeys).toEqual([expect.stringMatching(/^ssh-ed25519 AAAA/)])
    })

    it('is repeated after its pod was killed, and another one after its pod was evicted', async () => {
      const [killed, evicted] = ['edpm-compute-1', 'edpm-compute-2'] as const
      await createStep('hold', HOLD)
      for (const host of [killed, evicted]) {
        writeFileSync(hostFile(host, 'hold'), '')
        await createNode(host, ['hold'])
      }
      const started = (): readonly number[] => [killed, evicted].map((host) => countLines(host, 'started'))
      await expect.poll(started, soon).toEqual([1, 1])
      const options = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 }
      await sendToPod(await vi.waitFor(() => activePod(killed), soon), 'DELETE', '', options)
      await sendToPod(await vi.waitFor(() => activePod(evicted), soon), 'POST', '/eviction', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
      })
      await expect.poll(started, soon).toEqual([2, 2])
      for (const host of [killed, evicted]) {
        expect(await readiness(host)).not.toBe('')
        rmSync(hostFile(host, 'hold'))
      }
      for (const host of [killed, evicted]) {
        await expect.poll(() => readiness(host), soon).toBe('')
        const reasons = (await runsOf(host)).map(({ status }) => String(status?.result?.reason)).toSorted()
        expect(reasons).toEqual(['Completed', 'Failed'])
      }
    })

    it('ends once when the kubelet of its node was down in the middle of it', async (context) => {
      requireSoak(context)
      const host = 'edpm-compute-1'
      const before = countLines(host, 'started')
      writeFileSync(hostFile(host, 'hold'), '')
      const annotations = { 'stackloom.dev/run-request': 'again' }
      const ref = { ...dataPlaneNodes, namespace, name: host }
      await sandbox.client.patch(ref, { metadata: { annotations } }, { type: 'merge' })
      await expect.poll(() => countLines(host, 'started'), soon).toBe(before + 1)
      const { nodeName = '' } = (await activePod(host))['spec'] as { readonly nodeName?: string }
      const { control } = locateSandbox(sandbox.context.paths, sandbox.name)
      await callSupervisor(control, { do: 'kill', task: `kubelet-${nodeName}` })
      await expect.poll(() => nodeReadiness(nodeName), soon).toBe('Unknown')
      rmSync(hostFile(host, 'hold'))
      await callSupervisor(control, { do: 'start', task: `kubelet-${nodeName}` }, 270_000)
      await expect.poll(() => nodeReadiness(nodeName), soon).toBe('True')
      await expect.poll(() => readiness(host), soon).toBe('')
      expect(countLines(host, 'started')).toBe(before + 1)
    })

    it('stays on a node that is lost until it is declared lost, says so, and is then repeated on another one', async (context) => {
      requireSoak(context)
      const host = 'edpm-compute-1'
      const before = countLines(host, 'started')
      writeFileSync(hostFile(host, 'hold'), '')
      const ref = { ...dataPlaneNodes, namespace, name: host }
      const annotations = { 'stackloom.dev/run-request': 'lost' }
      await sandbox.client.patch(ref, { metadata: { annotations } }, { type: 'merge' })
      await expect.poll(() => countLines(host, 'started'), soon).toBe(before + 1)
      const pod = await activePod(host)
      const lost = nodeOf(pod)
      await loseNode(lost)
      await expect.poll(() => readiness(host), soon).toContain(`node ${lost} does not answer`)
      expect(await stackloom('status', '--data-plane')).toContain(`node ${lost} does not answer`)
      const diagnosis = await stackloom('doctor')
      expect(diagnosis).toContain(`${namespace}/${pod.metadata.name}`)
      expect(countLines(host, 'started')).toBe(before + 1)
      const [remedy = ''] = /kubectl --kubeconfig \S+ taint node \S+ \S+:NoExecute/.exec(diagnosis) ?? []
      const { kubectl } = await ensurePrograms(['kubectl'], sandbox.context)
      const words = [kubectl, ...remedy.split(' ').slice(1)]
      expect(await runProcess(toProgram(words))).toMatchObject({ exit: { code: 0 } })
      await expect.poll(() => countLines(host, 'started'), soon).toBe(before + 2)
      expect(nodeOf(await vi.waitFor(() => activePod(host), soon))).not.toBe(lost)
      rmSync(hostFile(host, 'hold'))
      await expect.poll(() => readiness(host), soon).toBe('')
      await recoverNode(lost)
      expect(await runProcess(toProgram([...words.slice(0, -1), `${words.at(-1)}-`]))).toMatchObject({
        exit: { code: 0 },
      })
      await expect.poll(() => nodeReadiness(lost), soon).toBe('True')
    })
  })
}
