/**
 * Collects the permissions of the operator: as roles for `operator install`, as a table for the documentation, and as a
 * check of what a running operator was granted.
 *
 * Pure. All three read the same rules, so they cannot differ.
 */
import { SECRET_NAME } from '../webhooks/serving-certificate.ts'
import { CONFIGURATION_NAME, registeredWebhooks } from '../webhooks/webhook-configuration.ts'
import { INFRA_OPERATOR } from './part-selection.ts'
import type { OperatorPart, PolicyRule } from './parts/part.ts'

/** Field manager of the operator, and name of its leader election Lease. */
export const LEASE_NAME = 'stackloom-operator'

export interface PermissionScope {
  /** Where the operator itself runs. */
  readonly namespace: string
  /** The only namespaces that it serves; all by default. */
  readonly namespaces?: readonly string[]
  readonly machineNamespaces?: readonly string[]
}

export interface RoleRules {
  /** The namespace of a Role; undefined for a ClusterRole. */
  readonly namespace?: string
  /** Added to the name, where a namespace has another Role of the operator. */
  readonly suffix?: string
  readonly rules: readonly PolicyRule[]
}

/** Whatever parts are selected. */
const programRules: readonly PolicyRule[] = [
  {
    apiGroups: ['events.k8s.io'],
    resources: ['events'],
    verbs: ['create', 'patch'],
    reason: 'record Events',
  },
  {
    apiGroups: ['apps'],
    resources: ['deployments'],
    resourceNames: [INFRA_OPERATOR],
    verbs: ['list'],
    scope: 'cluster',
    reason: 'refuse to start beside infra-operator',
  },
  {
    // Creating them cannot be limited by name, so the installer does.
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    resourceNames: [CONFIGURATION_NAME],
    verbs: ['get', 'patch'],
    scope: 'cluster',
    reason: 'register the certificate authority of its webhooks',
  },
  {
    apiGroups: ['authentication.k8s.io'],
    resources: ['tokenreviews'],
    verbs: ['create'],
    scope: 'cluster',
    reason: 'authenticate a reader of `/metrics`',
  },
  {
    apiGroups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
    scope: 'cluster',
    reason: 'check that a reader of `/metrics` may read it',
  },
]

/** In its own namespace. */
const ownRules: readonly PolicyRule[] = [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [LEASE_NAME],
    verbs: ['get', 'update'],
    reason: 'elect a leader',
  },
  {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [SECRET_NAME],
    verbs: ['get', 'update'],
    reason: 'keep the certificate of its webhooks',
  },
  // A create cannot be limited by name.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'], reason: 'elect a leader' },
  { apiGroups: [''], resources: ['secrets'], verbs: ['create'], reason: 'keep the certificate of its webhooks' },
]

export function collectRoles(parts: readonly OperatorPart[], scope: PermissionScope): readonly RoleRules[] {
  const { namespace, namespaces, machineNamespaces = [] } = scope
  const rules = [...parts.flatMap((part) => part.rules), ...programRules]
  const home = { namespace, rules: ownRules }
  if (!namespaces) return [{ rules }, home]
  const machines = machineNamespaces.filter((name) => !namespaces.includes(name))
  const machineRules = rules.filter((rule) => rule.scope === 'machines')
  return [
    { rules: rules.filter((rule) => rule.scope === 'cluster') },
    home,
    ...namespaces.map((name) => ({
      namespace: name,
      suffix: '-part',
      rules: rules.filter((rule) => rule.scope !== 'cluster'),
    })),
    ...(machineRules.length > 0
      ? machines.map((name) => ({ namespace: name, suffix: '-machines', rules: machineRules }))
      : []),
  ]
}

/** A rule as the API server reports it; `*` grants everything. */
export interface GrantedRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface MissingRight {
  /** `update ipsets.network.openstack.org/status` */
  readonly right: string
  readonly reason: string
}

export function findMissingRights(
  required: readonly PolicyRule[],
  granted: readonly GrantedRule[],
): readonly MissingRight[] {
  return required.flatMap(({ apiGroups, resources, verbs, resourceNames = [''], reason }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs
          .filter(
            (verb) =>
              !resourceNames.every((name) => granted.some((rule) => grants(rule, [group, resource, verb, name]))),
          )
          .map((verb) => ({ right: `${verb} ${group === '' ? resource : formatResource(resource, group)}`, reason })),
      ),
    ),
  )
}

function grants(rule: GrantedRule, [group, resource, verb, name]: readonly [string, string, string, string]): boolean {
  const has = (values: readonly string[] | undefined, value: string): boolean =>
    values?.some((candidate) => candidate === '*' || candidate === value) ?? false
  const { resourceNames = [] } = rule
  const isNamed = resourceNames.length === 0 || resourceNames.includes(name)
  return has(rule.apiGroups, group) && has(rule.resources, resource) && has(rule.verbs, verb) && isNamed
}

/** `ipsets.network.openstack.org/status`, as kubectl has it. */
function formatResource(resource: string, group: string): string {
  const [plural = '', subresource] = resource.split('/')
  return `${plural}.${group}${subresource === undefined ? '' : `/${subresource}`}`
}

/** What happens to writes while no operator answers, for the documentation. */
export function failurePolicyTable(parts: readonly OperatorPart[]): string {
  const rows = registeredWebhooks(parts.flatMap(({ webhooks }) => webhooks)).map(
    ({ name, operations, whenDown }) =>
      `| \`${name.replace('.stackloom.dev', '')}\` | ${operations.join(', ')} | ${whenDown.policy} | ${whenDown.reason} |`,
  )
  return ['| webhook | operations | failurePolicy | because |', '|---|---|---|---|', ...rows].join('\n')
}

/** The table of the documentation, one section for each part. */
export function permissionTable(parts: readonly OperatorPart[]): string {
  const sections = [
    ...parts.map(({ name, rules }) => ({ title: `part \`${name}\``, rules })),
    { title: 'every installation', rules: programRules },
    { title: "in the operator's own namespace", rules: ownRules },
  ]
  const rows = sections.flatMap(({ title, rules }) => rules.map((rule) => formatRow(title, rule)))
  return ['| for | rights | on | where | to |', '|---|---|---|---|---|', ...rows].join('\n')
}

const places = { cluster: 'cluster', machines: 'served namespaces, and those of machines', none: 'served namespaces' }

function formatRow(title: string, { apiGroups, resources, verbs, resourceNames, reason, scope }: PolicyRule): string {
  const names = resources.flatMap((resource) =>
    apiGroups.map((group) => (group === '' ? resource : formatResource(resource, group))),
  )
  const named = resourceNames ? ` named ${resourceNames.map((name) => `\`${name}\``).join(', ')}` : ''
  const where = title.startsWith('in ') ? 'own namespace' : places[scope ?? 'none']
  const on = `${names.map((name) => `\`${name}\``).join(', ')}${named}`
  return `| ${title} | ${verbs.join(', ')} | ${on} | ${where} | ${reason} |`
}
