/**
 * A run as an object: what is run, on which hosts, with which files, and whose it is.
 *
 * Pure. Where the files stand is what upstream's runner image and its playbooks expect.
 */

import type { KubeObject } from '../../api/object.ts'
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
import { hashInputs } from './hash.ts'

export const SSH_KEY_FIELD = 'ssh-privatekey'
const MAX_NAME_LENGTH = 63

/** What is to be run: the text, the roles, or the name of a playbook. */
export type Playbook = Pick<AnsibleRunSpec, 'play' | 'roles' | 'playbook' | 'image' | 'extraVars'>

export interface RunFileSources {
  readonly sshSecret: string
  /** The Secret or ConfigMap that holds the inventory. */
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
  /** The first words of its name. */
  readonly label: string
  /** Each host with the hash of its inputs. */
  readonly hosts: Readonly<Record<string, string>>
  /** The run whose work each host has now: going back to old inputs is not the old run again. */
  readonly previousRuns: Readonly<Record<string, string>>
  readonly attempt: number
  readonly request: string | undefined
  readonly playbook: Playbook
  readonly files: RunFileSources
  readonly runner: Omit<RunnerSettings, 'sshSecret'>
  readonly dnsConfig?: AnsibleRunSpec['dnsConfig']
}

const DEFAULT_ENV: readonly EnvVar[] = [{ name: 'ANSIBLE_FORCE_COLOR', value: 'True' }]

export function buildRun(wish: RunRequest): AnsibleRun {
  const { owner, step, label, hosts, previousRuns, attempt, request, playbook, files, runner, dnsConfig } = wish
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
      ownerReferences: [ownerReference(owner)],
    },
    spec: {
      ...playbook,
      // An attempt is one run; the next one is the controller's to start.
      backoffLimit: 0,
      extraMounts: [...buildMounts(files), ...extraMounts],
      env: [...DEFAULT_ENV.filter(({ name }) => !env.some((one) => one.name === name)), ...env],
      ...(networkAttachments.length > 0 && { networkAttachments: [...networkAttachments] }),
      ...(cmdLine && { cmdLine }),
      ...(dnsConfig && { dnsConfig }),
    },
  }
}

function ownerReference({
  apiVersion,
  kind,
  metadata,
}: KubeObject): NonNullable<AnsibleRun['metadata']['ownerReferences']>[number] {
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** A name that a Job and its label can have too: cut in the middle, never in the hash. */
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
