/**
 * Options that a snippet should leave alone, because the generated file binds the service with them.
 *
 * Data, one table per kind of service. `refused` decides where the service belongs; `warned` may be overridden by
 * somebody who knows why.
 */
import { normalSection } from './parse.ts'

export interface BindingRule {
  /** Compared like oslo.config compares: without case, DEFAULT excepted. `*`: every section. */
  readonly section: string
  readonly keys: readonly string[]
  readonly verdict: 'refused' | 'warned'
  readonly why: string
}

const CLEAR_TEXT = 'it stays when the credential is rotated, and stands in clear text'
const CREDENTIALS = [
  'auth_section',
  'auth_type',
  'auth_url',
  'password',
  'project_domain_name',
  'project_name',
  'user_domain_name',
  'username',
  'www_authenticate_uri',
] as const

const credentials: BindingRule = { section: '*', keys: CREDENTIALS, verdict: 'warned', why: CLEAR_TEXT }

const notificationBus: BindingRule = {
  section: 'oslo_messaging_notifications',
  keys: ['transport_url'],
  verdict: 'warned',
  why: 'notifications leave the message bus of this cloud',
}

export const computeBinding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus is what binds a compute node to its cell',
  },
  {
    section: 'DEFAULT',
    keys: ['host'],
    verdict: 'refused',
    why: 'the compute service, its allocations and its network agents are found by this name',
  },
  ...['database', 'api_database'].map(
    (section): BindingRule => ({
      section,
      keys: ['connection', 'slave_connection'],
      verdict: 'refused',
      why: 'a compute node must not reach a database',
    }),
  ),
  {
    section: 'DEFAULT',
    keys: ['compute_driver', 'my_ip', 'state_path'],
    verdict: 'warned',
    why: 'the playbooks and the running instances rely on the generated one',
  },
  notificationBus,
  credentials,
]

export const metadataAgentBinding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['host'],
    verdict: 'refused',
    why: 'it must be the chassis name under which this node is known to OVN',
  },
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus binds the agent to its cloud',
  },
  {
    section: 'ovn',
    keys: ['ovn_sb_connection', 'ovn_nb_connection'],
    verdict: 'refused',
    why: 'the southbound database binds the agent to its cloud',
  },
  {
    section: 'DEFAULT',
    keys: [
      'metadata_proxy_shared_secret',
      'nova_metadata_host',
      'nova_metadata_port',
      'nova_metadata_protocol',
    ],
    verdict: 'warned',
    why: 'it must be what the metadata service of this cell has',
  },
  credentials,
]

export const controlPlaneBinding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus binds the service to its cloud',
  },
  ...['database', 'api_database'].map(
    (section): BindingRule => ({
      section,
      keys: ['connection', 'slave_connection'],
      verdict: 'refused',
      why: 'the database binds the service to its cloud',
    }),
  ),
  {
    section: 'DEFAULT',
    keys: ['host'],
    verdict: 'warned',
    why: 'records in the database are found by this name',
  },
  notificationBus,
  credentials,
]

/** The rule that an option falls under; the first one counts. */
export function bindingRule(
  rules: readonly BindingRule[],
  section: string,
  key: string,
): BindingRule | undefined {
  const name = normalSection(section)
  return rules.find(
    (rule) => (rule.section === '*' || normalSection(rule.section) === name) && rule.keys.includes(key),
  )
}
