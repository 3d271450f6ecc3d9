/** Builds the tasks of the nodes: containerd, kubelet and kube-proxy of each, CoreDNS and the scheduler of the cluster. Pure. */
import path from 'node:path'
import type { ProgramPaths } from '../build/ensure-programs.ts'
import type { SandboxFolder } from '../folder.ts'
import type { Task } from '../supervisor-spec.ts'
import { KUBE_PROXY_PORT } from './kube-proxy.ts'
import { KUBELET_PORT, kubeletArgs } from './kubelet.ts'
import { CONTROL_ADDRESS, corefilePath, type NodeLayout, onNode, type SandboxNode } from './node-layout.ts'

export interface NodeTasksInput {
  readonly folder: SandboxFolder
  readonly layout: NodeLayout
  readonly program: (name: keyof ProgramPaths) => string
  readonly kubeconfigPath: (certificate: string) => string
  readonly readyMs: number
}

const SCHEDULER_PORT = 10_259

export function nodeTasks(input: NodeTasksInput): readonly Task[] {
  return [scheduler(input), coreDns(input), ...input.layout.nodes.flatMap((node) => tasksOfNode(node, input))]
}

function scheduler({ program, kubeconfigPath, readyMs }: NodeTasksInput): Task {
  return {
    name: 'kube-scheduler',
    file: program('kube-scheduler'),
    args: [
      `--kubeconfig=${kubeconfigPath('scheduler')}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${SCHEDULER_PORT}`,
    ],
    probe: { kind: 'tcp', port: SCHEDULER_PORT },
    after: ['kube-apiserver'],
    readyMs,
  }
}

function coreDns({ folder, program, readyMs }: NodeTasksInput): Task {
  return {
    name: 'coredns',
    file: program('coredns'),
    args: ['-conf', corefilePath(folder)],
    probe: { kind: 'tcp', host: CONTROL_ADDRESS, port: 53 },
    after: ['kube-apiserver'],
    readyMs,
  }
}

function tasksOfNode(node: SandboxNode, { program, readyMs }: NodeTasksInput): readonly Task[] {
  const { name, folder, address, socket } = node
  const containerd = `containerd-${name}`
  const task = (taskName: string, [file = '', ...args]: readonly string[]) => ({ name: taskName, file, args, readyMs })
  return [
    {
      ...task(containerd, [...onNode(node), 'containerd', '--config', path.join(folder, 'containerd.toml')]),
      probe: { kind: 'socket', path: socket },
      after: [],
    },
    {
      ...task(`kubelet-${name}`, [...onNode(node), program('kubelet'), ...kubeletArgs(node)]),
      probe: { kind: 'tcp', host: address, port: KUBELET_PORT },
      after: [containerd, 'kube-apiserver'],
    },
    {
      ...task(`kube-proxy-${name}`, [
        ...onNode(node),
        program('kube-proxy'),
        `--config=${path.join(folder, 'kube-proxy.json')}`,
      ]),
      probe: { kind: 'tcp', host: address, port: KUBE_PROXY_PORT },
      after: ['kube-apiserver'],
    },
  ]
}
