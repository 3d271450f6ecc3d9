/**
 * Resolves the effective settings of a node: its own values, and those of its role where it has none.
 *
 * Pure, and the same for webhooks and controllers. Whole values are inherited, never mixed; only the top-level keys of
 * ansibleVars and of annotations are merged.
 */
import type { EnvVar, ExtraMount } from '../../api/pod.ts'
import { readYaml } from '../../yaml/read.ts'
import {
  type DataPlaneNode,
  type DataPlaneRole,
  type DeployStrategy,
  MAX_ANSIBLE_VARS,
  type NodeSection,
} from '../kinds/data-plane.ts'

export type AnsibleVars = Readonly<Record<string, unknown>>

/** How Ansible is run for a node. Nodes that share a run have equal settings. */
export interface RunnerSettings {
  readonly sshSecret: string
  readonly extraMounts: readonly ExtraMount[]
  readonly networkAttachments: readonly string[]
  readonly env: readonly EnvVar[]
  readonly ansibleTags: string
  readonly ansibleSkipTags: string
}

export interface EffectiveNode {
  readonly name: string
  readonly role: string
  /** Empty where the node does not set it. */
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
  /** Whether the node or its role has a deployStrategy; without one nothing is deployed. */
  readonly hasStrategy: boolean
  readonly deploy: boolean
  /** Whether the node has runs of its own, or is part of the runs of its role. */
  readonly deployedBy: 'node' | 'role'
}

/**
 * `role` is undefined for a node without one; a missing role is reported by the caller. `parseVars` may cache: the text of
 * a role is the same for all its nodes.
 */
export function resolveNode(
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  parseVars: (text: string | undefined) => AnsibleVars = parseAnsibleVars,
): EffectiveNode {
  const { spec, metadata } = node
  const { node: section = {}, deployStrategy } = spec
  const { nodeTemplate = {}, services = [], deployStrategy: roleStrategy } = role?.spec ?? {}
  const strategy = deployStrategy ?? roleStrategy
  const { template } = section.networkConfig ?? {}
  return {
    name: metadata.name,
    role: firstText(spec.role),
    ansibleHost: firstText(spec.ansibleHost),
    hostName: firstText(spec.hostName),
    ansibleUser: firstText(section.ansibleUser, nodeTemplate.ansibleUser),
    ansiblePort: [section.ansiblePort, nodeTemplate.ansiblePort].find(Boolean) ?? 0,
    managementNetwork: firstText(section.managementNetwork, nodeTemplate.managementNetwork),
    networkTemplate: firstText(template, nodeTemplate.networkConfig?.template),
    networks: firstList(section.networks, nodeTemplate.networks),
    vars: { ...parseVars(nodeTemplate.ansibleVars), ...parseVars(section.ansibleVars) },
    runner: resolveRunner(node, role),
    ansibleLimit: firstText(deployStrategy?.ansibleLimit, roleStrategy?.ansibleLimit),
    services,
    hasStrategy: strategy !== undefined,
    deploy: shouldDeploy(strategy),
    // A run has one network template for all its hosts: a node with a template of its own needs runs of its own.
    deployedBy: deployStrategy || template ? 'node' : 'role',
  }
}

/** Without a strategy nothing is deployed. */
function shouldDeploy(strategy: DeployStrategy | undefined): boolean {
  return strategy !== undefined && (strategy.deploy ?? true)
}

function resolveRunner({ spec }: DataPlaneNode, role: DataPlaneRole | undefined): RunnerSettings {
  const { node = {}, deployStrategy } = spec
  const { nodeTemplate = {}, networkAttachments, env, deployStrategy: roleStrategy } = role?.spec ?? {}
  return {
    sshSecret: firstText(node.ansibleSSHPrivateKeySecret, nodeTemplate.ansibleSSHPrivateKeySecret),
    extraMounts: firstList(node.extraMounts, nodeTemplate.extraMounts),
    networkAttachments: firstList(spec.networkAttachments, networkAttachments),
    env: firstList(spec.env, env),
    ansibleTags: firstText(deployStrategy?.ansibleTags, roleStrategy?.ansibleTags),
    ansibleSkipTags: firstText(deployStrategy?.ansibleSkipTags, roleStrategy?.ansibleSkipTags),
  }
}

function firstText(...values: readonly (string | undefined)[]): string {
  return values.find(Boolean) ?? ''
}

function firstList<T>(values: readonly T[] | undefined, inherited: readonly T[] | undefined): T[] {
  return [...(values && values.length > 0 ? values : (inherited ?? []))]
}

/** The node's annotation if it has the key, even with an empty value; else the role's. */
export function effectiveAnnotation(
  node: DataPlaneNode,
  role: DataPlaneRole | undefined,
  key: string,
): string | undefined {
  return node.metadata.annotations?.[key] ?? role?.metadata.annotations?.[key]
}

/** An inventory is stored in a Secret, and parsing blocks all other controllers. */
const LIMITS = { expandedLength: 1024 * 1024, aliases: 200, tokens: 25_000 }

export interface AnsibleVarsReading {
  readonly vars: AnsibleVars
  /** Why the text is not a mapping of variables; undefined when it is one. */
  readonly problem?: string
}

export function readAnsibleVars(text: string | undefined): AnsibleVarsReading {
  if (text === undefined || text.trim() === '') return { vars: {} }
  if (text.length > MAX_ANSIBLE_VARS) return { vars: {}, problem: `it is longer than ${MAX_ANSIBLE_VARS} characters` }
  const { value, findings } = readYaml(text, 'ansibleVars', LIMITS)
  const [first] = findings
  if (first) {
    const line = first.where && 'line' in first.where ? `line ${first.where.line}: ` : ''
    return { vars: {}, problem: `${line}${first.message}` }
  }
  if (isMapping(value)) return { vars: value }
  return { vars: {}, ...(value !== null && { problem: 'it is not a mapping of names to values' }) }
}

/** Returns no variables for a text that is not a mapping; `ansibleVarsProblem` reports it. */
export function parseAnsibleVars(text: string | undefined): AnsibleVars {
  return readAnsibleVars(text).vars
}

export function ansibleVarsProblem(text: string | undefined): string | undefined {
  return readAnsibleVars(text).problem
}

function isMapping(value: unknown): value is AnsibleVars {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
