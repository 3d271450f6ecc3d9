/** Gives a sandbox AdminNetworkPolicies and, on its nodes, kube-network-policies: its pod network enforces no policies itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse } from 'yaml'
import type { KubeObject } from '../../../src/api/object.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { type CrdModule, fetchCrdFiles } from '../../../src/sandbox/crds/crd-modules.ts'
import { enterSandbox, type PodSandbox } from '../../pod-sandbox.ts'

/** Not one of the sets: no object of a site has these kinds. */
const policyApi: CrdModule = {
  module: 'sigs.k8s.io/network-policy-api',
  version: 'v0.1.7',
  sum: 'h1:obY2FTEidLXVdRYu7gJ4q1RYE57pBnrpMqoE2LZgp4g=',
  files: 'config/crd/standard/policy.networking.k8s.io_*adminnetworkpolicies.yaml',
  sets: [],
}

export async function applyPolicyCrds({ client }: PodSandbox): Promise<void> {
  for (const { text } of await fetchCrdFiles({ modules: [policyApi] }, tmpdir(), runProcess))
    await client.apply(parse(text) as KubeObject, { fieldManager: 'test' })
}

const QUEUE = 100

/** One process per node, in the network of the node; returns how to end them. */
export async function startPolicyEnforcers(sandbox: PodSandbox, program: string): Promise<() => Promise<void>> {
  const processes: ChildProcess[] = []
  for (const { name, folder } of sandbox.layout.nodes) {
    const log = openSync(path.join(folder, 'kube-network-policies.log'), 'w')
    const [file, ...args] = [
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
