import { mkdtempSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../../test/folder.ts'
import { requireRoot } from '../../../test/tools.ts'
import { runProcess } from '../../exec/process.ts'
import { sandboxFolder } from '../folder.ts'
import { findMissingControllers, selectHierarchies } from './cgroups.ts'
import { notReadyReason } from './join-nodes.ts'
import { planNodes } from './node-layout.ts'
import { checkNodeNames } from './node-names.ts'
import { setupCommands } from './node-namespace.ts'
import { parseInnermostId } from './process-ids.ts'
import { findKernelProblem, judgeHost } from './requirements.ts'
import { setupScript } from './setup-script.ts'

const folder = useFolder()
const fit = { platform: 'linux', isRoot: true, cgroups: ['/sys/fs/cgroup'], missingControllers: [], missing: [] }

const node = (name: string, nics = ['enp6s0']) => ({ name, nics: Object.fromEntries(nics.entries()) })

const cannotBeNode = (name: string): string => `'${name}' cannot be a node of a sandbox with pods`

describe('the nodes of a sandbox', () => {
  it('share no cgroup, socket or folder with those of another sandbox', () => {
    const [first, second] = ['one', 'two'].map((name) =>
      planNodes(sandboxFolder(`/sandboxes/${name}`), [node('worker-0')]),
    )
    expect(first?.cgroup).not.toBe(second?.cgroup)
    expect(first?.nodes[0]?.socket).not.toBe(second?.nodes[0]?.socket)
    expect(first?.nodes[0]?.cgroup).toBe(`${first?.cgroup}/worker-0`)
  })

  it('have interface names of at most 15 characters', () => {
    const nodes = Array.from({ length: 50 }, (_, index) => node(`worker-${index}`))
    const layout = planNodes(sandboxFolder('/x'), nodes)
    const created = setupCommands('/x', layout, []).flatMap((command) => {
      const verb = command.indexOf('add')
      return command[verb - 1] === 'link' ? [command[verb + 1] ?? ''] : []
    })
    expect(created.length).toBe(1 + 50 + 1 + 50)
    expect(created.filter((name) => name.length > 15)).toEqual([])
  })

  it.each([
    [['worker-0', 'worker-0'], ['enp6s0'], [cannotBeNode('worker-0')]],
    [['../etc'], ['enp6s0'], [cannotBeNode('../etc')]],
    [
      ['w'],
      ['eth0', 'a name'],
      ["'eth0' cannot be a NIC of a sandbox with pods", "'a name' cannot be a NIC of a sandbox with pods"],
    ],
    [['worker-0', 'Worker-1', '.switch', 'a..b'], ['enp6s0'], ['Worker-1', '.switch', 'a..b'].map(cannotBeNode)],
    [['w'.repeat(64)], ['enp6s0'], [cannotBeNode('w'.repeat(64))]],
    [['worker-0', '0.worker-1.example.com'], ['enp6s0.1'], []],
  ])('are refused with names that cannot be used: %o %o', (nodes, nics, messages) => {
    expect(checkNodeNames(nodes.map((name) => node(name, nics))).map(({ message }) => message)).toEqual(messages)
  })

  it('are refused where they cannot run, with the packages that are missing', () => {
    expect(judgeHost(fit)).toEqual([])
    expect(judgeHost({ ...fit, platform: 'darwin' })[0]?.message).toContain('this is darwin, not Linux')
    expect(judgeHost({ ...fit, isRoot: false })[0]?.message).toContain('this user is not root')
    expect(judgeHost({ ...fit, cgroups: [] })[0]?.code).toBe('SL1239')
    expect(judgeHost({ ...fit, missingControllers: ['cpuset', 'pids'] })[0]?.message).toContain(
      'controllers cpuset, pids',
    )
    expect(judgeHost({ ...fit, missing: ['ctr', 'containerd', 'nft'] })[0]?.remedy).toContain('containerd nftables`')
  })

  it('are refused where the kernel lacks what they need, by its name', async (context) => {
    const kernelProblem = 'the kernel gives it no nftables'
    expect(judgeHost({ ...fit, kernelProblem })[0]?.message).toContain(kernelProblem)
    requireRoot(context)
    const features = { 'overlay file systems': 'mount -t no-such-type none /etc', bridges: 'true', nftables: 'exit 1' }
    expect(await findKernelProblem(features, runProcess)).toBe(
      'the kernel gives it no overlay file systems, no nftables',
    )
    const denied: typeof runProcess = ({ file, args = [] }) =>
      runProcess({ file: 'setpriv', args: ['--bounding-set=-sys_admin', '--inh-caps=-sys_admin', file, ...args] })
    expect(await findKernelProblem(features, denied)).toContain('namespaces cannot be created: unshare')
  })

  it('use the cgroups that kubelet and runc use: of version 2 at its usual place, otherwise of version 1', () => {
    const second = 'cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n'
    const first = 'cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n'
    const both = 'cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n'
    expect(selectHierarchies(second)).toEqual(['/sys/fs/cgroup'])
    expect(selectHierarchies(`${second}net_cls /opt/vpn/net_cls cgroup rw,net_cls 0 0\n`)).toEqual(['/sys/fs/cgroup'])
    expect(selectHierarchies(first + both)).toEqual(['/sys/fs/cgroup/cpu', '/sys/fs/cgroup/memory'])
    expect(selectHierarchies(both)).toEqual([])
  })

  it('need the controllers that a container of version 2 passes on only without processes in its root', async () => {
    const write = (files: Readonly<Record<string, string>>): readonly string[] => {
      const root = mkdtempSync(path.join(folder, 'cgroup-'))
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text)
      return [root]
    }
    const machine = { 'cgroup.controllers': 'cpuset cpu io memory pids\n', 'cgroup.procs': '1\n' }
    const container = { ...machine, 'cgroup.type': 'domain\n', 'cgroup.subtree_control': 'cpu pids\n' }
    expect(await findMissingControllers(write(machine))).toEqual([])
    expect(await findMissingControllers(write({ ...machine, 'cgroup.controllers': 'cpu memory\n' }))).toEqual([
      'cpuset',
      'pids',
    ])
    expect(await findMissingControllers(write(container))).toEqual(['cpuset', 'memory'])
    expect(await findMissingControllers(write({ ...container, 'cgroup.procs': '' }))).toEqual([])
    expect(await findMissingControllers(write({}))).toEqual([])
  })

  it('are ready when their kubelet has said so since the start', () => {
    const node = (status: string, lastHeartbeatTime: string, taints: readonly object[] = []) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'worker-0' },
      spec: { taints },
      status: { conditions: [{ type: 'Ready', status, message: 'no CNI', lastHeartbeatTime }] },
    })
    const since = Date.parse('2026-11-17T12:00:00.700Z')
    expect(notReadyReason(node('True', '2026-11-17T12:00:00Z'), since)).toBeUndefined()
    expect(notReadyReason(node('True', '2026-11-17T11:59:59Z'), since)).toBe('its kubelet has not reported yet')
    expect(notReadyReason(node('False', '2026-11-17T12:00:05Z'), since)).toBe('no CNI')
    const tainted = node('True', '2026-11-17T12:00:05Z', [{ key: 'node.kubernetes.io/not-ready' }])
    expect(notReadyReason(tainted, since)).toBe('it has the taint not-ready')
  })

  it('know processes by their own id', () => {
    expect(parseInnermostId('Name:\tetcd\nNSpid:\t28265\t184\nThreads:\t1\n')).toBe(184)
    expect(parseInnermostId('')).toBeUndefined()
  })

  it('are created by a script that quotes what the shell would read', () => {
    expect(setupScript([['echo', "it's", 'a b', '$HOME']])).toContain(`echo 'it'\\''s' 'a b' '$HOME'\n`)
  })
})
