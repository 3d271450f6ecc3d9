/** Checks that no objects of older deployments exist. */
import type { KubeObject } from '../../api/object.ts'
import { findSite, isManagedByStackloom } from '../../api/ownership.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Plan } from '../../plan/plan.ts'
import { leftover } from '../findings/network-findings.ts'
import {
  ATTACHMENT,
  BGP_ADVERTISEMENT,
  DATA_PLANE_SERVICE,
  L2_ADVERTISEMENT,
  locateObject,
  NET_CONFIG,
  outcome,
  POLICY,
  POOL,
  type SiteCheck,
} from './check-definition.ts'

const METALLB = [POOL, L2_ADVERTISEMENT, BGP_ADVERTISEMENT]
const KINDS = [POOL, L2_ADVERTISEMENT, ATTACHMENT, NET_CONFIG, POLICY]
const OPTIONAL_KINDS = [BGP_ADVERTISEMENT, DATA_PLANE_SERVICE]

export const leftovers: SiteCheck = {
  scope: 'site',
  id: 'leftovers',
  title: 'Leftovers',
  promise: 'no pool or advertisement without a prefix, and no Stackloom object of a cloud that is not in the site',
  kinds: KINDS,
  optionalKinds: OPTIONAL_KINDS,
  run: ({ plan, live }) => {
    const metallb = METALLB.flatMap((kind) => live.all(formatGroupKind(kind)))
    const all = [...KINDS, ...OPTIONAL_KINDS].flatMap((kind) => live.all(formatGroupKind(kind)))
    return outcome(all.length, 'object', [
      ...metallb.flatMap((object) => checkName(object, plan)),
      ...all.flatMap((object) => checkOrphan(object, plan)),
    ])
  },
}

function checkName(object: KubeObject, plan: Plan): readonly Finding[] {
  const { name } = object.metadata
  const networks = new Set(plan.clouds.flatMap((cloud) => cloud.networks.map((network) => network.name)))
  if (networks.has(name)) return [leftoverFinding(object, 'its name is a network name without a cloud')]
  const old = plan.clouds.some(({ namespace }) => [...networks].some((network) => name === `${network}-${namespace}`))
  return old && object.kind !== 'IPAddressPool'
    ? [leftoverFinding(object, 'its name has the form <network>-<namespace> of another tool')]
    : []
}

function checkOrphan(object: KubeObject, plan: Plan): readonly Finding[] {
  const cloud = object.metadata.labels?.['stackloom.dev/cloud']
  if (!isManagedByStackloom(object) || cloud === undefined || findSite(object) !== plan.site) return []
  return plan.clouds.some(({ name }) => name === cloud)
    ? []
    : [leftoverFinding(object, `the site has no cloud ${cloud}`)]
}

function leftoverFinding(object: KubeObject, why: string): Finding {
  return finding(leftover, { what: formatObjectName(object), why }, { where: locateObject(object) })
}
