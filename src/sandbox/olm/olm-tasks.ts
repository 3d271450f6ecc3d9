/**
 * Builds the tasks of OLM: its two programs, and opm, which serves the catalog. They listen on fixed ports on all interfaces,
 * so the sandbox must have its own network. Pure.
 */
import path from 'node:path'
import type { ProgramPaths } from '../build/ensure-programs.ts'
import type { SandboxFolder } from '../folder.ts'
import type { Task } from '../supervisor-spec.ts'
import { CATALOG_NAMESPACE, CATALOG_PORT } from './catalog.ts'

export interface OlmTasksInput {
  readonly folder: SandboxFolder
  readonly program: (name: keyof ProgramPaths) => string
  readonly kubeconfigPath: (certificate: string) => string
  readonly readyMs: number
}

/** The folder of catalog files that opm reads. */
export const catalogFolder = (folder: SandboxFolder): string => path.join(folder.root, 'catalog')

export function olmTasks({ folder, program, kubeconfigPath, readyMs }: OlmTasksInput): readonly Task[] {
  const kubeconfig = kubeconfigPath('admin')
  return [
    {
      name: 'opm',
      file: program('opm'),
      args: [
        'serve',
        catalogFolder(folder),
        `--port=${CATALOG_PORT}`,
        `--cache-dir=${path.join(folder.root, 'catalog-cache')}`,
        // The catalog of an earlier start may be in the cache.
        '--cache-enforce-integrity=false',
        '--termination-log=/dev/null',
        '--pprof-addr=',
      ],
      probe: { kind: 'tcp', port: CATALOG_PORT },
      after: [],
      readyMs,
    },
    {
      name: 'olm-catalog',
      file: program('olm-catalog'),
      args: [`--kubeconfig=${kubeconfig}`, `--namespace=${CATALOG_NAMESPACE}`],
      env: { OPERATOR_NAMESPACE: CATALOG_NAMESPACE },
      probe: { kind: 'none' },
      after: ['kube-apiserver', 'opm'],
      readyMs,
    },
    {
      name: 'olm-operator',
      file: program('olm-operator'),
      args: [`--namespace=${CATALOG_NAMESPACE}`],
      env: { KUBECONFIG: kubeconfig, OPERATOR_NAMESPACE: CATALOG_NAMESPACE, OPERATOR_NAME: 'olm-operator' },
      probe: { kind: 'none' },
      after: ['kube-apiserver'],
      readyMs,
    },
  ]
}
