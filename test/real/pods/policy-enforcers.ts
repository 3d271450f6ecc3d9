/** Runs kube-network-policies on the nodes of a sandbox, whose pod network enforces no policies itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import path from 'node:path'
import { enterSandbox, type PodSandbox } from '../../pod-sandbox.ts'

const QUEUE = 100

/** One process per node, in the network of the node; returns how to end them. */
export async function startPolicyEnforcers(sandbox: PodSandbox, program: string): Promise<() => Promise<void>> {
  const processes: ChildProcess[] = []
  for (const { name, folder } of sandbox.layout.nodes) {
    const log = openSync(path.join(folder, 'kube-network-policies.log'), 'w')
    const [file = '', ...args] = [
      ...enterSandbox(sandbox.pid, sandbox.layout, name),
      program,
      `--kubeconfig=${path.join(folder, 'cni/multus.kubeconfig')}`,
      `--hostname-override=${name}`,
      `--nfqueue-id=${QUEUE}`,
      '--metrics-bind-address=127.0.0.1:9080',
      '--disable-nri',
      '-v=2',
    ]
    processes.push(spawn(file, args, { stdio: ['ignore', log, log] }))
    // Its own rules need nft's `queue`, which not every kernel has. Before addresses are translated, as its own.
    const newConnections = ['-m', 'conntrack', '--ctstate', 'NEW']
    const queue = ['-j', 'NFQUEUE', '--queue-num', String(QUEUE), '--queue-bypass']
    await sandbox.run(name, ['iptables-nft', '-I', 'FORWARD', ...newConnections, ...queue])
  }
  return async () => {
    for (const child of processes) {
      if (child.exitCode !== null) continue
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    }
  }
}
