/**
 * Lists the options that a snippet must not override, because the generated file binds the service with them.
 *
 * Data; services on nodes have their own rules in their definitions. `refused`: the option decides where the service
 * belongs; `warned`: it may be overridden deliberately.
 */
import { normalizeSection } from './parse.ts'

export interface BindingRule {
  /** Compared as oslo.config does: not case sensitive, except DEFAULT. `*`: every section. */
  readonly section: string
  readonly keys: readonly string[]
  readonly verdict: 'refused' | 'warned'
  readonly why: string
}

const CLEAR_TEXT = 'it stays when the credential is rotated, and is stored in clear text'
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

/** For any service. */
export const credentialsRule: BindingRule = {
  section: '*',
  keys: CREDENTIALS,
  verdict: 'warned',
  why: CLEAR_TEXT,
}

/** For services on nodes. */
export const journalRule: BindingRule = {
  section: 'DEFAULT',
  keys: ['default_log_levels', 'log_config_append', 'use_stderr'],
  verdict: 'warned',
  why: 'a run waits until the service has logged in the journal that it is up',
}

export const notificationBusRule: BindingRule = {
  section: 'oslo_messaging_notifications',
  keys: ['transport_url'],
  verdict: 'warned',
  why: 'notifications leave the message bus of this cloud',
}

export const controlPlaneBindingRules: readonly BindingRule[] = [
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
  notificationBusRule,
  credentialsRule,
]

/** The first rule that applies to an option. */
export function findBindingRule(rules: readonly BindingRule[], section: string, key: string): BindingRule | undefined {
  const name = normalizeSection(section)
  return rules.find(
    (rule) => (rule.section === '*' || normalizeSection(rule.section) === name) && rule.keys.includes(key),
  )
}
