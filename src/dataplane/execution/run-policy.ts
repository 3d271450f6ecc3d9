/**
 * Decides what the pod of a run may use. The author of a run or of a role chooses its volumes, its service account and its
 * init containers, and the operator creates the pod: without a rule that author would have the rights of the operator.
 *
 * Pure. The administrator extends the safe default in the options of the operator.
 */
import { withArticle } from '../../errors/article.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { runNotAllowed } from '../findings/runs.ts'
import type { AnsibleRun, AnsibleRunSpec } from '../kinds/ansible-run.ts'

export interface RunPolicy {
  /** Kinds of volumes beside the safe ones, such as `hostPath` or `csi`. */
  readonly volumes: readonly string[]
  readonly serviceAccounts: readonly string[]
  /** Root, and any security context of an init container. */
  readonly privileged: boolean
}

export const safeRunPolicy: RunPolicy = { volumes: [], serviceAccounts: [], privileged: false }

/** They hold nothing that is not in the namespace of the run. */
const SAFE_VOLUMES: readonly string[] = ['configMap', 'secret', 'emptyDir', 'downwardAPI', 'persistentVolumeClaim']
const SAFE_PROJECTIONS: readonly string[] = ['configMap', 'secret', 'downwardAPI']
/** That of a pod that names none. */
const DEFAULT_ACCOUNT = 'default'
/** Settings of a container that give it no right. */
const SAFE_CONTAINER_FIELDS: readonly string[] = [
  'name',
  'image',
  'imagePullPolicy',
  'command',
  'args',
  'workingDir',
  'env',
  'envFrom',
  'resources',
  'volumeMounts',
  'terminationMessagePath',
  'terminationMessagePolicy',
]

export function findForbidden({ spec }: AnsibleRun, policy: RunPolicy): readonly Finding[] {
  return [
    ...forbiddenVolumes(spec, policy),
    ...forbiddenAccount(spec, policy),
    ...(policy.privileged ? [] : forbiddenPrivileges(spec)),
  ].map((facts) => finding(runNotAllowed, facts))
}

interface Forbidden {
  readonly what: string
  readonly option: string
}

function forbiddenVolumes({ extraMounts = [] }: AnsibleRunSpec, policy: RunPolicy): readonly Forbidden[] {
  const allowed = new Set([...SAFE_VOLUMES, ...policy.volumes])
  return extraMounts.flatMap(({ volumes }) =>
    volumes.flatMap(({ name, ...sources }) =>
      Object.entries(sources)
        .filter(([kind, source]) => !allowed.has(kind) && !(kind === 'projected' && isSafeProjection(source)))
        .map(([kind]) => ({ what: `volume ${name} is ${withArticle(kind)}`, option: `--run-volumes ${kind}` })),
    ),
  )
}

/** A projected token of the service account is a credential for the API server. */
function isSafeProjection(projected: unknown): boolean {
  const { sources = [] } = (projected ?? {}) as { readonly sources?: readonly object[] }
  return sources.every((source) => Object.keys(source).every((kind) => SAFE_PROJECTIONS.includes(kind)))
}

function forbiddenAccount({ serviceAccountName }: AnsibleRunSpec, policy: RunPolicy): readonly Forbidden[] {
  if (!serviceAccountName || [DEFAULT_ACCOUNT, ...policy.serviceAccounts].includes(serviceAccountName)) return []
  const what = `it runs as service account ${serviceAccountName}`
  return [{ what, option: `--run-service-accounts ${serviceAccountName}` }]
}

function forbiddenPrivileges({ uid, extraMounts = [], initContainers = [] }: AnsibleRunSpec): readonly Forbidden[] {
  const option = '--run-privileged'
  const mounts = extraMounts.flatMap((extraMount) => extraMount.mounts)
  return [
    ...(uid === 0 ? [{ what: 'it runs as root', option }] : []),
    ...mounts
      .filter(({ mountPropagation = 'None' }) => mountPropagation !== 'None')
      .map(({ name }) => ({ what: `mount ${name} has mountPropagation`, option })),
    ...initContainers.flatMap(({ name, ...fields }) =>
      Object.keys(fields)
        .filter((field) => !SAFE_CONTAINER_FIELDS.includes(field))
        .map((field) => ({ what: `init container ${name} has ${field}`, option })),
    ),
  ]
}
