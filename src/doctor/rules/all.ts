/** Every rule, from the ground up: what stands below explains what stands above. */
import type { Rule } from '../rule.ts'
import { announcingRules } from './announcing.ts'
import { metallbRules } from './metallb.ts'
import { pendingRules } from './pending.ts'

export const rules: readonly Rule[] = [...metallbRules, ...announcingRules, ...pendingRules]
