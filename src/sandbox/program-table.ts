/** Builds the program table of a sandbox: its programs with their flags, as tasks for the supervisor. Pure. */
import path from 'node:path'
import type { ProgramPaths } from './build/ensure-programs.ts'
import { certManagerTasks } from './cert-manager/cert-manager-tasks.ts'
import type { SandboxFolder } from './folder.ts'
import { auditFlags } from './nodes/audit-log.ts'
import { CONTROL_ADDRESS, type NodeLayout } from './nodes/node-layout.ts'
import { nodeTasks } from './nodes/node-tasks.ts'
import { cniPlugins } from './nodes/pod-network.ts'
import { olmTasks } from './olm/olm-tasks.ts'
import { METALLB_WEBHOOK_PORT, type Ports } from './ports.ts'
import type { ProgramName } from './programs.ts'
import type { Part } from './settings.ts'
import type { Task } from './supervisor-spec.ts'

export interface ProgramTableInput {
  readonly folder: SandboxFolder
  readonly programs: Partial<ProgramPaths>
  readonly ports: Ports
  readonly parts: readonly Part[]
  /** The kubeconfig of a certificate, with the API server as the programs reach it. */
  readonly kubeconfigPath: (certificate: string) => string
  readonly webhookTmpDir: string
  /** The nodes that run pods. */
  readonly layout?: NodeLayout | undefined
}

export const METALLB_NAMESPACE = 'metallb-system'

/** Programs that each part needs. */
export const requiredPrograms: Readonly<Record<Part | 'core' | 'pods', readonly ProgramName[]>> = {
  core: ['etcd', 'kube-apiserver'],
  'controller-manager': ['kube-controller-manager'],
  metallb: ['metallb-controller'],
  'metallb-webhooks': ['metallb-controller'],
  'cert-manager': ['cert-manager-cainjector', 'cert-manager-controller', 'cert-manager-webhook'],
  olm: ['olm-catalog', 'olm-operator', 'opm'],
  pods: [
    'kubelet',
    'kube-proxy',
    'kube-scheduler',
    'coredns',
    'metallb-speaker',
    'pause',
    'whereabouts-reconciler',
    ...Object.values(cniPlugins),
  ],
}

/** Long, for busy machines: an exit is detected immediately, so this only limits the wait for a program that hangs. */
const READY_MS = 240_000

export function programTable(input: ProgramTableInput): readonly Task[] {
  const { folder, layout, kubeconfigPath } = input
  const program = (name: ProgramName): string => programPath(input.programs, name)
  const taskBuilders: Readonly<Record<Part, (input: ProgramTableInput) => readonly Task[]>> = {
    'controller-manager': (given) => [controllerManager(given)],
    metallb: (given) => [metallbController(given)],
    'metallb-webhooks': (given) => [metallbWebhooks(given)],
    'cert-manager': (given) => certManagerTasks({ ...given, program, readyMs: READY_MS }),
    olm: (given) => olmTasks({ ...given, program, readyMs: READY_MS }),
  }
  return [
    etcd(input),
    apiServer(input),
    ...input.parts.flatMap((part) => taskBuilders[part](input)),
    ...(layout ? nodeTasks({ folder, layout, kubeconfigPath, program, readyMs: READY_MS }) : []),
  ]
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
      // All users of this machine share loopback, so certificates are required.
      '--client-cert-auth=true',
      `--trusted-ca-file=${pki('ca.crt')}`,
      `--cert-file=${pki('etcd.crt')}`,
      `--key-file=${pki('etcd.key')}`,
      '--peer-client-cert-auth=true',
      `--peer-trusted-ca-file=${pki('ca.crt')}`,
      `--peer-cert-file=${pki('etcd.crt')}`,
      `--peer-key-file=${pki('etcd.key')}`,
      // Data must survive a killed process, but not a machine crash.
      '--unsafe-no-fsync=true',
      '--log-level=warn',
      '--quota-backend-bytes=4294967296',
    ],
    probe: { kind: 'https', port: ports.etcd, path: '/health', pair: 'etcd-client' },
    after: [],
    readyMs: READY_MS,
  }
}

function apiServer({ folder, programs, ports, layout }: ProgramTableInput): Task {
  const pki = (name: string): string => path.join(folder.pki, name)
  return {
    name: 'kube-apiserver',
    file: programPath(programs, 'kube-apiserver'),
    // A third of the start time would be garbage collection. Beside nodes memory is scarce: 760 MiB while idle without a limit.
    env: { GOGC: '400', ...(layout && { GOMEMLIMIT: '400MiB' }) },
    args: [
      `--etcd-servers=https://127.0.0.1:${ports.etcd}`,
      `--etcd-cafile=${pki('ca.crt')}`,
      `--etcd-certfile=${pki('etcd-client.crt')}`,
      `--etcd-keyfile=${pki('etcd-client.key')}`,
      `--bind-address=${layout ? '0.0.0.0' : '127.0.0.1'}`,
      `--advertise-address=${layout ? CONTROL_ADDRESS : '127.0.0.1'}`,
      `--secure-port=${ports.api}`,
      `--tls-cert-file=${pki(layout ? 'apiserver-nodes.crt' : 'apiserver.crt')}`,
      `--tls-private-key-file=${pki(layout ? 'apiserver-nodes.key' : 'apiserver.key')}`,
      `--client-ca-file=${pki('ca.crt')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${pki('service-account.key')}`,
      `--service-account-signing-key-file=${pki('service-account.key')}`,
      // Both families, so that a Service may request an IPv6 address.
      '--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112',
      '--allow-privileged=true',
      ...(layout ? [...podFlags(pki), ...auditFlags(folder)] : noPodFlags),
    ],
    probe: { kind: 'https', port: ports.api, path: '/readyz', pair: 'admin' },
    after: ['etcd'],
    readyMs: READY_MS,
  }
}

const noPodFlags: readonly string[] = [
  '--authorization-mode=RBAC',
  // No kubelet runs, so a Pod must not require a service account token.
  '--disable-admission-plugins=ServiceAccount',
  // The API does not accept a loopback address as an endpoint.
  '--endpoint-reconciler-type=none',
]

function podFlags(pki: (name: string) => string): readonly string[] {
  return [
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--kubelet-client-certificate=${pki('apiserver-kubelet-client.crt')}`,
    `--kubelet-client-key=${pki('apiserver-kubelet-client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    // The API server is not on a node, so it reaches the pods of a webhook, but not the address of its Service.
    '--enable-aggregator-routing=true',
  ]
}

function controllerManager({ folder, programs, ports, kubeconfigPath, layout }: ProgramTableInput): Task {
  const pki = (name: string): string => path.join(folder.pki, name)
  return {
    name: 'kube-controller-manager',
    file: programPath(programs, 'kube-controller-manager'),
    args: [
      `--kubeconfig=${kubeconfigPath('controller-manager')}`,
      // Without kubelets nodes never report, so they must not be marked as lost.
      `--controllers=*,-nodeipam${layout ? '' : ',-nodelifecycle'}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.controllerManager}`,
      `--tls-cert-file=${pki('controller-manager.crt')}`,
      `--tls-private-key-file=${pki('controller-manager.key')}`,
      `--root-ca-file=${pki('ca.crt')}`,
      `--service-account-private-key-file=${pki('service-account.key')}`,
      // The default limit makes the deletion of a namespace with many kinds slow.
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
      // The webhooks run in a second process.
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
      // The sandbox provides the certificate; there is no Secret to rotate.
      '--disable-cert-rotation',
    ],
    // As in MetalLB's manifests: only FRR supports IPv6 over BGP.
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
    // No memberlist secret, because no speaker runs.
    '--ml-secret-name=',
    `--port=${port}`,
    '--log-level=info',
  ]
}

function programPath(programs: Partial<ProgramPaths>, name: ProgramName): string {
  const file = programs[name]
  if (!file) throw new Error(`${name} is not built`)
  return file
}
