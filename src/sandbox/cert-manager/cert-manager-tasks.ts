/**
 * Builds the tasks of cert-manager: controller, CA injector and webhook, as processes beside the API server. They listen on
 * all interfaces, so the sandbox must have its own network. Pure.
 */
import type { ProgramPaths } from '../build/ensure-programs.ts'
import type { Task } from '../supervisor-spec.ts'
import { WEBHOOK_CA, WEBHOOK_HOST, WEBHOOK_PORT } from './cert-manager-objects.ts'

export interface CertManagerTasksInput {
  readonly program: (name: keyof ProgramPaths) => string
  readonly kubeconfigPath: (certificate: string) => string
  readonly readyMs: number
}

export function certManagerTasks({ program, kubeconfigPath, readyMs }: CertManagerTasksInput): readonly Task[] {
  const kubeconfig = kubeconfigPath('admin')
  const after = ['kube-apiserver']
  return [
    {
      name: 'cert-manager',
      file: program('cert-manager-controller'),
      args: [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--metrics-listen-address=127.0.0.1:9402'],
      probe: { kind: 'tcp', port: 9402 },
      after,
      readyMs,
    },
    {
      name: 'cert-manager-cainjector',
      file: program('cert-manager-cainjector'),
      args: ['--leader-elect=false'],
      // It has no flag for it.
      env: { KUBECONFIG: kubeconfig },
      probe: { kind: 'none' },
      after,
      readyMs,
    },
    {
      name: 'cert-manager-webhook',
      file: program('cert-manager-webhook'),
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--secure-port=${WEBHOOK_PORT}`,
        '--healthz-port=6080',
        `--dynamic-serving-ca-secret-namespace=${WEBHOOK_CA.namespace}`,
        `--dynamic-serving-ca-secret-name=${WEBHOOK_CA.name}`,
        `--dynamic-serving-dns-names=${WEBHOOK_HOST}`,
      ],
      probe: { kind: 'tcp', port: WEBHOOK_PORT },
      after,
      readyMs,
    },
  ]
}
