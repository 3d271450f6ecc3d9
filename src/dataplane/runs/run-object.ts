/**
 * Builds the OpenStackAnsibleEE of a run: what is run, on which hosts, with which files, and its owner.
 *
 * Pure. Mount paths are those that upstream's runner image and its playbooks expect.
 */
import type { KubeObject } from '../../api/object.ts'
import { controllerReference } from '../../api/ownership.ts'
import type { EnvVar, ExtraMount } from '../../api/pod.ts'
import {
  type AnsibleRun,
  type AnsibleRunSpec,
  ATTEMPT_ANNOTATION,
  ansibleRuns,
  HOSTS_ANNOTATION,
  INPUT_HASH_ANNOTATION,
} from '../kinds/ansible-run.ts'
import { INVENTORY_KEY, NETWORK_KEY, TEMPLATE_PATH } from '../nodes/inventory.ts'
import type { RunnerSettings } from '../rules/inheritance.ts'
import { HOST_INPUTS_ANNOTATION, RUN_REQUEST_ANNOTATION, STEP_ANNOTATION } from './attempts.ts'
import { hashInputs } from './input-hash.ts'

export const SSH_KEY_FIELD = 'ssh-privatekey'
const MAX_NAME_LENGTH = 63

/** What is run: a play as text, roles, or a playbook by name. */
export type Playbook = Pick<AnsibleRunSpec, 'play' | 'roles' | 'playbook' | 'image'>

export interface RunFileSources {
  readonly sshSecret: string
  /** The Secret or ConfigMap with the inventory. */
  readonly inventory: {
    readonly kind: 'Secret' | 'ConfigMap'
    readonly name: string
    readonly hasTemplate: boolean
  }
  /** The Secret with the configuration of the service. */
  readonly config?: string
}

export interface RunRequest {
  readonly owner: KubeObject
  readonly step: string
  /** The beginning of its name. */
  readonly label: string
  /** Each host with the hash of its inputs. */
  readonly hosts: Readonly<Record<string, string>>
  /**
   * The run that changed each host last, or the uid of what has none: a return to old inputs is a new run, not the old
   * one, and so is the first run of a node that was deleted and created again.
   */
  readonly previousRuns: Readonly<Record<string, string>>
  readonly attempt: number
  readonly request: string | undefined
  /** A string names a built-in playbook. */
  readonly playbook: Playbook | string
  readonly image?: string | undefined
  readonly extraVars?: AnsibleRunSpec['extraVars']
  readonly files: RunFileSources
  readonly runner: Omit<RunnerSettings, 'sshSecret'>
  readonly dnsConfig?: AnsibleRunSpec['dnsConfig']
}

const DEFAULT_ENV: readonly EnvVar[] = [{ name: 'ANSIBLE_FORCE_COLOR', value: 'True' }]

/** `playbook` is that of the request, a built-in one with its text. */
export function buildRun(runRequest: RunRequest, playbook: Playbook): AnsibleRun {
  const { owner, step, label, hosts, previousRuns, attempt, request, files, runner } = runRequest
  const { image, extraVars, dnsConfig } = runRequest
  const hash = hashInputs({ step, hosts, after: previousRuns })
  const { extraMounts, networkAttachments, env } = runner
  const cmdLine = tagOptions(runner)
  return {
    ...ansibleRuns,
    metadata: {
      name: runName(`${label}-${owner.metadata.name}`, hash, attempt),
      ...(owner.metadata.namespace && { namespace: owner.metadata.namespace }),
      annotations: {
        [STEP_ANNOTATION]: step,
        [INPUT_HASH_ANNOTATION]: hash,
        [ATTEMPT_ANNOTATION]: String(attempt),
        [HOSTS_ANNOTATION]: Object.keys(hosts).join(','),
        [HOST_INPUTS_ANNOTATION]: JSON.stringify(hosts),
        ...(request !== undefined && { [RUN_REQUEST_ANNOTATION]: request }),
      },
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      ...playbook,
      ...(image && { image }),
      ...(extraVars && { extraVars }),
      // One run is one attempt: the data plane controllers start the next one.
      backoffLimit: 0,
      extraMounts: [...buildMounts(files), ...extraMounts],
      env: [...DEFAULT_ENV.filter(({ name }) => !env.some((variable) => variable.name === name)), ...env],
      ...(networkAttachments.length > 0 && { networkAttachments: [...networkAttachments] }),
      ...(cmdLine && { cmdLine }),
      ...(dnsConfig && { dnsConfig }),
    },
  }
}

/** Fits into the name and the label of a Job: the words are shortened, never the hash. */
function runName(words: string, hash: string, attempt: number): string {
  const tail = `-${hash}-${attempt}`
  return `${words.slice(0, MAX_NAME_LENGTH - tail.length).replace(/[-.]+$/, '')}${tail}`
}

function tagOptions({ ansibleTags, ansibleSkipTags }: Pick<RunnerSettings, 'ansibleTags' | 'ansibleSkipTags'>): string {
  return [ansibleTags && `--tags ${ansibleTags}`, ansibleSkipTags && `--skip-tags ${ansibleSkipTags}`]
    .filter(Boolean)
    .join(' ')
}

function buildMounts({ sshSecret, inventory, config }: RunFileSources): readonly ExtraMount[] {
  const { kind, name, hasTemplate } = inventory
  const items = [
    { key: INVENTORY_KEY, path: INVENTORY_KEY },
    ...(hasTemplate ? [{ key: NETWORK_KEY, path: NETWORK_KEY }] : []),
  ]
  const source = kind === 'Secret' ? { secret: { secretName: name, items } } : { configMap: { name, items } }
  return [
    {
      volumes: [
        { name: 'ssh-key', secret: { secretName: sshSecret, items: [{ key: SSH_KEY_FIELD, path: 'ssh_key' }] } },
        { name: 'inventory', ...source },
        ...(config === undefined ? [] : [{ name: 'config', secret: { secretName: config } }]),
      ],
      mounts: [
        { name: 'ssh-key', mountPath: '/runner/env/ssh_key', subPath: 'ssh_key' },
        { name: 'inventory', mountPath: '/runner/inventory/hosts', subPath: INVENTORY_KEY },
        ...(hasTemplate ? [{ name: 'inventory', mountPath: TEMPLATE_PATH, subPath: NETWORK_KEY }] : []),
        ...(config === undefined ? [] : [{ name: 'config', mountPath: '/var/lib/openstack/config' }]),
      ],
    },
  ]
}
