/**
 * The roster: the programs of a sandbox with their flags, as tasks for the supervisor.
 *
 * Pure. Every flag that is not obvious says why it is there.
 */
import path from 'node:path'
import type { ProgramPaths } from './build/ensure-programs.ts'
import type { SandboxFolder } from './folder.ts'
import { METALLB_WEBHOOK_PORT, type Ports } from './ports.ts'
import type { ProgramName } from './programs.ts'
import type { Part } from './settings.ts'
import type { Task } from './supervisor-spec.ts'

export interface ProgramTableInput {
  readonly folder: SandboxFolder
  readonly programs: Partial<ProgramPaths>
  readonly ports: Ports
  readonly parts: readonly Part[]
  /** kubeconfigs by leaf, with the API server as the programs themselves reach it. */
  readonly kubeconfigPath: (leaf: string) => string
  readonly webhookTmpDir: string
}

export const METALLB_NAMESPACE = 'metallb-system'

/** What each part needs built. */
export const requiredPrograms: Readonly<Record<Part | 'core', readonly ProgramName[]>> = {
  core: ['etcd', 'kube-apiserver'],
  'controller-manager': ['kube-controller-manager'],
  metallb: ['metallb-controller'],
  'metallb-webhooks': ['metallb-controller'],
}

/** For a busy machine: a program that has ended is noticed at once, this ends only a wait for one that hangs. */
const READY_MS = 240_000

export function programTable(input: ProgramTableInput): readonly Task[] {
  const makers: Readonly<Record<Part, (input: ProgramTableInput) => Task>> = {
    'controller-manager': controllerManager,
    metallb: metallbController,
    'metallb-webhooks': metallbWebhooks,
  }
  return [etcd(input), apiServer(input), ...input.parts.map((part) => makers[part](input))]
}

function etcd({ folder, programs, ports }: ProgramTableInput): Task {
  const pki = (name: string): string => path.join(folder.pki, name)
  const client = `https://127.0.0.1:${ports.etcd}`
  const peer = `https://127.0.0.1:${ports.etcdPeer}`
  return {
    name: 'etcd',
    file: programPath(programs, 'etcd'),
    args: [
      '--name=sandbox',
      `--data-dir=${folder.etcd}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=sandbox=${peer}`,
      // Loopback is shared with everybody on this machine, so even here a certificate is asked for.
      '--client-cert-auth=true',
      `--trusted-ca-file=${pki('ca.crt')}`,
      `--cert-file=${pki('etcd.crt')}`,
      `--key-file=${pki('etcd.key')}`,
      '--peer-client-cert-auth=true',
      `--peer-trusted-ca-file=${pki('ca.crt')}`,
      `--peer-cert-file=${pki('etcd.crt')}`,
      `--peer-key-file=${pki('etcd.key')}`,
      // Data survives a killed process; it need not survive a lost machine.
      '--unsafe-no-fsync=true',
      '--log-level=warn',
      '--quota-backend-bytes=4294967296',
    ],
    probe: { kind: 'https', port: ports.etcd, path: '/health', pair: 'etcd-client' },
    after: [],
    readyMs: READY_MS,
  }
}

function apiServer({ folder, programs, ports }: ProgramTableInput): Task {
  const pki = (name: string): string => path.join(folder.pki, name)
  return {
    name: 'kube-apiserver',
    file: programPath(programs, 'kube-apiserver'),
    // A third of a start would be garbage collection; memory is the cheaper half here.
    env: { GOGC: '400' },
    args: [
      `--etcd-servers=https://127.0.0.1:${ports.etcd}`,
      `--etcd-cafile=${pki('ca.crt')}`,
      `--etcd-certfile=${pki('etcd-client.crt')}`,
      `--etcd-keyfile=${pki('etcd-client.key')}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${ports.api}`,
      `--tls-cert-file=${pki('apiserver.crt')}`,
      `--tls-private-key-file=${pki('apiserver.key')}`,
      `--client-ca-file=${pki('ca.crt')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${pki('service-account.key')}`,
      `--service-account-signing-key-file=${pki('service-account.key')}`,
      // Both families, so that a Service may ask for an IPv6 address.
      '--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112',
      '--authorization-mode=RBAC',
      // There is no kubelet: a Pod object must not wait for a token that nobody mounts.
      '--disable-admission-plugins=ServiceAccount',
      // Loopback is no endpoint that the API accepts.
      '--endpoint-reconciler-type=none',
      '--allow-privileged=true',
    ],
    probe: { kind: 'https', port: ports.api, path: '/readyz', pair: 'admin' },
    after: ['etcd'],
    readyMs: READY_MS,
  }
}

function controllerManager({ folder, programs, ports, kubeconfigPath }: ProgramTableInput): Task {
  const pki = (name: string): string => path.join(folder.pki, name)
  return {
    name: 'kube-controller-manager',
    file: programPath(programs, 'kube-controller-manager'),
    args: [
      `--kubeconfig=${kubeconfigPath('controller-manager')}`,
      // There are no nodes that could fall silent.
      '--controllers=*,-nodeipam,-nodelifecycle',
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.controllerManager}`,
      `--tls-cert-file=${pki('controller-manager.crt')}`,
      `--tls-private-key-file=${pki('controller-manager.key')}`,
      `--root-ca-file=${pki('ca.crt')}`,
      `--service-account-private-key-file=${pki('service-account.key')}`,
      // The usual limit makes the deletion of a namespace with many kinds slow.
      '--kube-api-qps=300',
      '--kube-api-burst=600',
    ],
    probe: { kind: 'https', port: ports.controllerManager, path: '/healthz', pair: 'admin' },
    after: ['kube-apiserver'],
    readyMs: READY_MS,
  }
}

function metallbController({ programs, ports, kubeconfigPath }: ProgramTableInput): Task {
  return {
    name: 'metallb-controller',
    file: programPath(programs, 'metallb-controller'),
    args: [
      ...metallbFlags(kubeconfigPath('metallb'), ports.metallb),
      // Admission is the business of the second process.
      '--webhook-mode=disabled',
    ],
    probe: { kind: 'tcp', port: ports.metallb },
    after: ['kube-apiserver'],
    readyMs: READY_MS,
  }
}

function metallbWebhooks({ programs, ports, kubeconfigPath, webhookTmpDir }: ProgramTableInput): Task {
  return {
    name: 'metallb-webhooks',
    file: programPath(programs, 'metallb-controller'),
    args: [
      ...metallbFlags(kubeconfigPath('metallb'), ports.metallbWebhookMetrics),
      '--webhook-mode=onlywebhook',
      // The certificate is ours; there is no Secret and no pod to rotate it in.
      '--disable-cert-rotation',
    ],
    // As MetalLB's own operator runs it: only with FRR does it announce IPv6 by BGP.
    env: { TMPDIR: webhookTmpDir, METALLB_BGP_TYPE: 'frr' },
    probe: { kind: 'tcp', port: METALLB_WEBHOOK_PORT },
    after: ['kube-apiserver'],
    readyMs: READY_MS,
  }
}

function metallbFlags(kubeconfig: string, port: number): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--namespace=${METALLB_NAMESPACE}`,
    // No memberlist: there is no speaker that would need its secret.
    '--ml-secret-name=',
    `--port=${port}`,
    '--log-level=info',
  ]
}

function programPath(programs: Partial<ProgramPaths>, name: ProgramName): string {
  const file = programs[name]
  if (!file) throw new Error(`${name} was not built before the roster was made`)
  return file
}
