/** Every rule, from the ground up: what stands below explains what stands above. */
import type { Rule } from '../rule.ts'
import { announcingRules } from './announcing.ts'
import { controlPlaneRules } from './control-plane.ts'
import { dataPlaneRules } from './data-plane.ts'
import { dnsRules } from './dns.ts'
import { ipamRules } from './ipam.ts'
import { endingRules, groundRules } from './kubernetes.ts'
import { metallbRules } from './metallb.ts'
import { multusRules } from './multus.ts'
import { nmstateRules } from './nmstate.ts'
import { olmRules } from './olm.ts'
import { ownerRules } from './owners.ts'
import { pendingRules } from './pending.ts'
import { sharingRules } from './sharing.ts'
import { webhookRules } from './webhooks.ts'

export const rules: readonly Rule[] = [
  ...groundRules,
  ...olmRules,
  ...webhookRules,
  ...nmstateRules,
  ...metallbRules,
  ...sharingRules,
  ...announcingRules,
  ...pendingRules,
  ...multusRules,
  ...ownerRules,
  ...ipamRules,
  ...dnsRules,
  ...controlPlaneRules,
  ...dataPlaneRules,
  ...endingRules,
]
