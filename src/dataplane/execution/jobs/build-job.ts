/**
 * Builds the Job of an attempt: a pod that runs ansible-runner in upstream's image, in upstream's form.
 *
 * Pure. Two fields differ from upstream, so that an attempt has one end: the Job never retries, and its pod is not
 * replaced while it still terminates. A third one lets nodes without a registry run it, a fourth checks SSH host keys.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../../../api/object.ts'
import { controllerReference } from '../../../api/ownership.ts'
import { type AnsibleRun, ansibleRuns } from '../../kinds/ansible-run.ts'
import type { Attempt } from '../executor.ts'
import { formatExtraVars, limitOption, playbookName, playText } from '../run-files.ts'
import { type RunInputs, sourceKey, volumeSource } from '../run-inputs.ts'
import { checkHostKeys } from './pod-command.ts'

export const jobs = { apiVersion: 'batch/v1', kind: 'Job' } as const
export const APP_LABEL = { app: 'openstackansibleee' } as const

const STANDARD_IMAGE = 'quay.io/openstack-k8s-operators/openstack-ansibleee-runner:latest'
const MAX_NAME_LENGTH = 63

/** The name of the run; with the number for a later attempt. */
export function jobName({ run, number }: Attempt): string {
  const name = number === 1 ? run.metadata.name : `${run.metadata.name}-${number}`
  if (name.length <= MAX_NAME_LENGTH) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, MAX_NAME_LENGTH - 9)}-${hash}`
}

export interface JobSettings {
  readonly timeLimitMs: number
  /** For runs without an image. */
  readonly image?: string
}

export function buildJob(attempt: Attempt, inputs: RunInputs, settings: JobSettings): KubeObject {
  const { run, number } = attempt
  const { spec, metadata } = run
  const name = jobName(attempt)
  const labels = { ...APP_LABEL, openstackansibleee_cr: labelValue(metadata.name), attempt: String(number) }
  const { volumes, volumeMounts } = buildVolumes(run, inputs)
  const hasCommonEnv = inputs.found.has(sourceKey({ kind: 'ConfigMap', name: spec.envConfigMapName ?? '' }))
  const command = spec.args ?? ['ansible-runner', 'run', '/runner', '-p', playbookName(spec), '-i', name]
  const { args, env } = checkHostKeys(command, inputs)
  const container = {
    name: spec.name ?? 'openstackansibleee',
    image: spec.image || settings.image || STANDARD_IMAGE,
    // Upstream always pulls; a cluster without that registry, whose nodes have the image, could run nothing.
    imagePullPolicy: 'IfNotPresent',
    args,
    // First: a variable of the run itself wins.
    env: [...env, ...(spec.env ?? []), ...runnerEnv(run)],
    ...(hasCommonEnv && { envFrom: [{ configMapRef: { name: spec.envConfigMapName } }] }),
    volumeMounts,
    // The end of the log has the recap of every host, also where the image writes no termination message.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
  return {
    ...jobs,
    metadata: {
      name,
      ...(metadata.namespace && { namespace: metadata.namespace }),
      labels,
      ownerReferences: [controllerReference({ ...run, ...ansibleRuns })],
    },
    spec: {
      backoffLimit: 0,
      parallelism: 1,
      completions: 1,
      podReplacementPolicy: 'Failed',
      activeDeadlineSeconds: Math.ceil(settings.timeLimitMs / 1000),
      template: {
        metadata: { labels, ...networksAnnotation(run) },
        spec: {
          restartPolicy: 'Never',
          securityContext: { runAsUser: spec.uid ?? 1001, fsGroup: spec.uid ?? 1001 },
          ...(spec.serviceAccountName && { serviceAccountName: spec.serviceAccountName }),
          ...(spec.dnsConfig && { dnsPolicy: 'None', dnsConfig: spec.dnsConfig }),
          ...(spec.initContainers && { initContainers: spec.initContainers }),
          // Many runs at once should not compete for the memory of one node.
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: APP_LABEL },
            },
          ],
          containers: [container],
          volumes,
        },
      },
    },
  }
}

/** Variables that the entry point of the image writes into files. */
function runnerEnv(run: AnsibleRun): readonly { readonly name: string; readonly value: string }[] {
  const { spec } = run
  const cmdLine = [spec.cmdLine, limitOption(run)].filter(Boolean).join(' ')
  const texts = {
    RUNNER_PLAYBOOK: playText(spec),
    RUNNER_INVENTORY: spec.inventory,
    RUNNER_CMDLINE: cmdLine || undefined,
    RUNNER_EXTRA_VARS: spec.extraVars && formatExtraVars(run),
  }
  return Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [{ name, value: `\n${text}\n\n` }]))
}

interface Volumes {
  readonly volumes: readonly unknown[]
  readonly volumeMounts: readonly unknown[]
}

/** The volumes of the run; an inventory is mounted from its Secret where there is one. */
function buildVolumes({ spec }: AnsibleRun, { found }: RunInputs): Volumes {
  const extraMounts = spec.extraMounts ?? []
  const volumes = extraMounts.flatMap(({ volumes: mounted, mounts }) =>
    mounted.map((volume) => {
      const mountPath = mounts.find(({ name }) => name === volume.name)?.mountPath ?? ''
      const source = volumeSource(volume, mountPath)
      const chosen = source?.oneOf.find((source) => found.has(sourceKey(source)))
      if (chosen?.kind !== 'Secret' || !('configMap' in volume)) return volume
      const { name: _, ...rest } = source?.from ?? {}
      return { name: volume.name, secret: { ...rest, secretName: chosen.name } }
    }),
  )
  return { volumes, volumeMounts: extraMounts.flatMap(({ mounts }) => mounts) }
}

function networksAnnotation({ spec, metadata }: AnsibleRun): {
  readonly annotations?: Readonly<Record<string, string>>
} {
  if (!spec.networkAttachments?.length) return {}
  const networks = spec.networkAttachments.map((name) => ({
    name,
    namespace: metadata.namespace,
    interface: name,
  }))
  return { annotations: { 'k8s.v1.cni.cncf.io/networks': JSON.stringify(networks) } }
}

function labelValue(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).replace(/[^a-zA-Z0-9]+$/, '')
}
