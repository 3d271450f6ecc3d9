/**
 * Defines OpenStackAnsibleEE (ansibleee.openstack.org/v1alpha1): one run of Ansible.
 *
 * The data plane controllers, or a person, write the spec and the annotations once; the executors write the status. The
 * fields are upstream's; `status.result`, `status.tries` and `status.running` are ours.
 */
import * as z from 'zod'
import { type KindDefinition, preserveUnknown } from '../../api/crd.ts'
import { conditionSchema } from '../../api/ipset.ts'
import type { Condition, SpecObject } from '../../api/object.ts'
import {
  dnsConfigSchema,
  envSchema,
  extraMountsSchema,
  initContainersSchema,
  networkAttachmentsSchema,
} from '../../api/pod.ts'

const ansibleGroup = { group: 'ansibleee.openstack.org', version: 'v1alpha1' } as const

export const ansibleRuns = {
  apiVersion: `${ansibleGroup.group}/${ansibleGroup.version}`,
  kind: 'OpenStackAnsibleEE',
} as const

/** The hash of all inputs of the run. Absent on a run that a person created. */
export const INPUT_HASH_ANNOTATION = 'stackloom.dev/input-hash'
/** `1`, `2`, …: the number of the attempt with these inputs. */
export const ATTEMPT_ANNOTATION = 'stackloom.dev/attempt'
/**
 * The hosts that the run may touch, by their names in the inventory, separated by commas. Executors pass them as a limit;
 * without the annotation the run covers the whole inventory.
 */
export const HOSTS_ANNOTATION = 'stackloom.dev/hosts'

/** A role with tasks: `play` wins over `roles`, which wins over `playbook`. */
export const ansibleRoleSchema = z.object({
  name: z.string().default('Run Standalone Role'),
  hosts: z.string().default("{{ primary_role_name | default([]) }}:{{ deploy_target_host | default('overcloud') }}"),
  strategy: z.string().default('linear'),
  any_errors_fatal: z.boolean().default(true),
  become: z.boolean().default(false),
  gather_facts: z.boolean().default(false),
  tasks: z
    .array(
      z.object({
        name: z.string(),
        import_role: z.object({ name: z.string(), tasks_from: z.string().optional() }),
        vars: z.array(z.string()).optional(),
        when: z.string().optional(),
        tags: z.array(z.string()).optional(),
      }),
    )
    .max(1024)
    .optional(),
})

const ansibleRunSpecSchema = z.object({
  play: z.string().optional().describe('a playbook, inline'),
  playbook: z.string().optional().describe('a playbook by file name or by its name in a collection'),
  // Upstream's name, although it is one role.
  roles: ansibleRoleSchema.optional(),
  image: z.string().optional(),
  args: z.array(z.string()).optional().describe('replaces the whole command'),
  name: z.string().default('openstackansibleee').describe('the name of the container'),
  envConfigMapName: z.string().default('openstack-aee-default-env'),
  env: envSchema.optional(),
  restartPolicy: z.enum(['OnFailure', 'Never']).default('Never'),
  preserveJobs: z.boolean().default(true),
  uid: z.int().meta({ format: 'int64' }).default(1001),
  inventory: z.string().optional().describe('an inventory, inline; it must hold no secret'),
  extraVars: z
    .record(z.string(), z.unknown())
    .meta(preserveUnknown)
    .optional()
    .describe('variables that win over those of the inventory'),
  extraMounts: extraMountsSchema.optional(),
  backoffLimit: z.int().meta({ format: 'int32' }).default(6),
  ttlSecondsAfterFinished: z.int().meta({ format: 'int32' }).optional(),
  networkAttachments: networkAttachmentsSchema.optional(),
  cmdLine: z.string().optional().describe('further options of ansible-playbook'),
  initContainers: initContainersSchema.optional(),
  serviceAccountName: z.string().optional(),
  dnsConfig: dnsConfigSchema.optional(),
  debug: z.boolean().default(false),
})

const hostResultSchema = z.object({
  ok: z.int(),
  changed: z.int(),
  failures: z.int(),
  unreachable: z.int(),
})

const runReasons = [
  /** Every task succeeded on every host. */
  'Completed',
  /** A task failed on at least one host. */
  'Failed',
  /** At least one host could not be reached, and no task failed. */
  'Unreachable',
  'TimedOut',
  'Cancelled',
  /** It never started: an input is missing or wrong. No host was touched. */
  'NotStarted',
  /** It has no recorded result, and may have changed its hosts. */
  'Unknown',
] as const

const runResultSchema = z.object({
  reason: z.enum(runReasons),
  message: z.string().optional().describe('what went wrong, in one line, without secrets'),
  startedAt: z.string().meta({ format: 'date-time' }).optional(),
  finishedAt: z
    .string()
    .meta({ format: 'date-time' })
    .optional()
    .describe('with milliseconds: the later of two short runs counts'),
  hosts: z.record(z.string(), hostResultSchema).optional().describe('what Ansible counted, by host'),
})

const runningSchema = z.object({
  startedAt: z.string().meta({ format: 'date-time' }),
  /** Addresses, or names where the inventory has none: no other run may touch them until the result is recorded. */
  hosts: z.array(z.string()),
  task: z.string().optional().describe('the task that began last'),
  stalled: z.string().optional().describe('why it makes no progress, and what to do'),
})

const jobStatuses = ['Pending', 'Running', 'Succeeded', 'Failed'] as const

export type AnsibleRole = z.infer<typeof ansibleRoleSchema>
export type AnsibleRunSpec = z.input<typeof ansibleRunSpecSchema>
export type HostResult = z.infer<typeof hostResultSchema>
export type RunResult = z.infer<typeof runResultSchema>
export type RunReason = RunResult['reason']
export type JobStatus = (typeof jobStatuses)[number]

export interface AnsibleRunStatus {
  readonly JobStatus?: JobStatus
  readonly conditions?: readonly Condition[]
  readonly hash?: Readonly<Record<string, string>>
  readonly networkAttachments?: Readonly<Record<string, readonly string[]>>
  readonly result?: RunResult
  /** How often it was started: a run is retried until its backoffLimit is reached. */
  readonly tries?: number
  readonly running?: z.infer<typeof runningSchema>
}

export type AnsibleRun = SpecObject<AnsibleRunSpec, AnsibleRunStatus>

/** Whether the result is recorded: nothing of the run changes a host any more. */
export function hasEnded({ status }: AnsibleRun): boolean {
  return status?.JobStatus === 'Succeeded' || status?.JobStatus === 'Failed'
}

/** The hosts that a run is limited to; undefined for the whole inventory. */
export function limitedHosts({ metadata }: AnsibleRun): readonly string[] | undefined {
  const text = metadata.annotations?.[HOSTS_ANNOTATION]
  return text === undefined ? undefined : text.split(',').filter((host) => host !== '')
}

export const ansibleRunKind: KindDefinition = {
  ...ansibleGroup,
  kind: ansibleRuns.kind,
  plural: 'openstackansibleees',
  shortNames: ['osaee', 'osaees', 'osansible', 'osansibles'],
  scope: 'Namespaced',
  spec: ansibleRunSpecSchema,
  status: z.object({
    JobStatus: z.enum(jobStatuses).default('Pending'),
    conditions: z.array(conditionSchema).optional(),
    hash: z.record(z.string(), z.string()).optional(),
    networkAttachments: z.record(z.string(), z.array(z.string())).optional(),
    result: runResultSchema.optional(),
    tries: z.int().optional(),
    running: runningSchema.optional(),
  }),
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.JobStatus' },
    { name: 'Reason', type: 'string', jsonPath: '.status.result.reason' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[0].message' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
}
