/**
 * What holds for a node: its own values, and its role's where it has none.
 *
 * Pure, and the same for webhooks and controllers. Whole values are taken from one or the other, never mixed; only the
 * top-level keys of ansibleVars and of annotations are merged.
 */

import type { EnvVar, ExtraMount } from '../../api/pod.ts'
import { readYaml } from '../../yaml/read.ts'
import type { DeployStrategy, NodeSection } from '../kinds/data-plane.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'

export type AnsibleVars = Readonly<Record<string, unknown>>

/** How Ansible is run for a node. Nodes that share a run have the same. */
export interface RunnerSettings {
  readonly sshSecret: string
  readonly extraMounts: readonly ExtraMount[]
  readonly networkAttachments: readonly string[]
  readonly env: readonly EnvVar[]
  readonly ansibleTags: string
  readonly ansibleSkipTags: string
}

/** Whose runs serve a node: its own, or those that its role has for all of its nodes. */
export type DeployedBy = 'node' | 'role'

export interface EffectiveNode {
  readonly name: string
  readonly role: string
  /** As the node says it; empty where it leaves the address to others. */
  readonly ansibleHost: string
  readonly hostName: string
  readonly ansibleUser: string
  readonly ansiblePort: number
  readonly managementNetwork: string
  readonly networkTemplate: string
  readonly networks: NonNullable<NodeSection['networks']>
  readonly vars: AnsibleVars
  readonly runner: RunnerSettings
  readonly ansibleLimit: string
  readonly services: readonly string[]
  /** Whether anybody wrote a deployStrategy; without one nothing is deployed. */
  readonly hasStrategy: boolean
  readonly deploy: boolean
  readonly deployedBy: DeployedBy
}

/**
 * `role` is undefined for a node that names none; one that is missing is the caller's to report. `read` may remember
 * what it has read: the text of a role is that of all its nodes.
 */
export function resolveNode(
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  read: (text: string | undefined) => AnsibleVars = parseAnsibleVars,
): EffectiveNode {
  const { spec, metadata } = node
  const own = spec.node ?? {}
  const inherited = role?.spec.nodeTemplate ?? {}
  const strategy = spec.deployStrategy ?? role?.spec.deployStrategy
  return {
    name: metadata.name,
    role: spec.role ?? '',
    ansibleHost: firstText(spec.ansibleHost),
    hostName: firstText(spec.hostName),
    ansibleUser: firstText(own.ansibleUser, inherited.ansibleUser),
    ansiblePort: firstNumber(own.ansiblePort, inherited.ansiblePort),
    managementNetwork: firstText(own.managementNetwork, inherited.managementNetwork),
    networkTemplate: firstText(own.networkConfig?.template, inherited.networkConfig?.template),
    networks: firstList(own.networks, inherited.networks),
    vars: { ...read(inherited.ansibleVars), ...read(own.ansibleVars) },
    runner: resolveRunner(node, role),
    ansibleLimit: firstText(spec.deployStrategy?.ansibleLimit, role?.spec.deployStrategy?.ansibleLimit),
    services: role?.spec.services ?? [],
    hasStrategy: strategy !== undefined,
    deploy: shouldDeploy(strategy),
    deployedBy: resolveDeployedBy(node),
  }
}

function resolveRunner({ spec }: DataPlaneNode, role: DataPlaneRole | undefined): RunnerSettings {
  const own = spec.node ?? {}
  const inherited = role?.spec.nodeTemplate ?? {}
  const [ours, theirs] = [spec.deployStrategy, role?.spec.deployStrategy]
  return {
    sshSecret: firstText(own.ansibleSSHPrivateKeySecret, inherited.ansibleSSHPrivateKeySecret),
    extraMounts: firstList(own.extraMounts, inherited.extraMounts),
    networkAttachments: firstList(spec.networkAttachments, role?.spec.networkAttachments),
    env: firstList(spec.env, role?.spec.env),
    ansibleTags: firstText(ours?.ansibleTags, theirs?.ansibleTags),
    ansibleSkipTags: firstText(ours?.ansibleSkipTags, theirs?.ansibleSkipTags),
  }
}

/** A run has one network template for all its hosts: a node with its own needs a run of its own. */
function resolveDeployedBy({ spec }: DataPlaneNode): DeployedBy {
  return spec.deployStrategy || spec.node?.networkConfig?.template ? 'node' : 'role'
}

/** A strategy that nobody wrote deploys nothing; one that is written does, unless it says otherwise. */
function shouldDeploy(strategy: DeployStrategy | undefined): boolean {
  return strategy !== undefined && (strategy.deploy ?? true)
}

function firstText(own: string | undefined, inherited?: string): string {
  return own || inherited || ''
}

function firstNumber(own: number | undefined, inherited: number | undefined): number {
  return own || inherited || 0
}

function firstList<T>(own: readonly T[] | undefined, inherited: readonly T[] | undefined): T[] {
  return [...(own && own.length > 0 ? own : (inherited ?? []))]
}

/** The node's annotation if it has the key, even with nothing in it; else the role's. */
export function effectiveAnnotation(
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  key: string,
): string | undefined {
  return node.metadata.annotations?.[key] ?? role?.metadata.annotations?.[key]
}

/** What cannot be read counts as nothing here; `ansibleVarsProblem` says so. */
export function parseAnsibleVars(text: string | undefined): AnsibleVars {
  const { value } = readYaml(text ?? '', 'ansibleVars')
  return isMapping(value) ? value : {}
}

/** Why the text is no set of variables, or undefined when it is one. */
export function ansibleVarsProblem(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const { value, findings } = readYaml(text, 'ansibleVars')
  const [first] = findings
  if (first) {
    const line = first.where && 'line' in first.where ? `line ${first.where.line}: ` : ''
    return `${line}${first.message}`
  }
  return value === null || isMapping(value) ? undefined : 'it is not a mapping of names to values'
}

function isMapping(value: unknown): value is AnsibleVars {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
