/** Lists all rules in the order of dependencies: findings of earlier rules explain those of later ones. */
import type { Rule } from './rule.ts'
import { addressConflictRules } from './rules/address-conflict-rules.ts'
import { advertisementRules } from './rules/advertisement-rules.ts'
import { controlPlaneRules } from './rules/control-plane-rules.ts'
import { dataPlaneRules } from './rules/data-plane-rules.ts'
import { dnsRules } from './rules/dns-rules.ts'
import { ipamRules } from './rules/ipam-rules.ts'
import { clusterRules, deletionRules } from './rules/kubernetes-rules.ts'
import { metallbRules } from './rules/metallb-rules.ts'
import { multusRules } from './rules/multus-rules.ts'
import { nmstateRules } from './rules/nmstate-rules.ts'
import { olmRules } from './rules/olm-rules.ts'
import { pendingRules, sharingRules } from './rules/pending-service-rules.ts'
import { webhookRules } from './rules/webhooks-rules.ts'

export const rules: readonly Rule[] = [
  ...clusterRules,
  ...olmRules,
  ...webhookRules,
  ...nmstateRules,
  ...metallbRules,
  ...sharingRules,
  ...advertisementRules,
  ...pendingRules,
  ...multusRules,
  ...addressConflictRules,
  ...ipamRules,
  ...dnsRules,
  ...controlPlaneRules,
  ...dataPlaneRules,
  ...deletionRules,
]
