/** Which variables somebody reads: Kolla-Ansible itself, or the configuration files of a lab. Pure. */
import { closestMatch } from '../../errors/closest-match.ts'
import type { Lab } from '../lab.ts'
import { passwordKeys } from './password-keys.ts'
import { variableNames } from './variable-names.ts'

export interface KnownVariables {
  readonly has: (name: string) => boolean
  /** The known name that was most likely meant. */
  readonly nearest: (name: string) => string | undefined
}

export function knownVariables({ overrides }: Lab): KnownVariables {
  const names = new Set([...variableNames.trim().split('\n'), ...passwordKeys.keys()])
  // Kolla fills in the files below config/ as templates: what they use is read.
  const templates = [...Object.values(overrides.config), JSON.stringify(overrides.globals)].join('\n')
  const used = new Set(templates.match(/(?<=\{\{[^}]*)[a-z]\w+/g))
  return {
    has: (name) => names.has(name) || name.startsWith('ansible_') || used.has(name),
    nearest: (name) => closestMatch(name, [...names]),
  }
}
