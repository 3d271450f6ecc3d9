/** Leftovers: nothing of an older deployment lives beside the site's objects. */
import type { KubeObject } from '../../api/object.ts'
import { nameOf } from '../../api/raw-object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { leftover } from '../../errors/verify-networks.ts'
import type { Plan } from '../../plan/plan.ts'
import { counted, placeOf, type SiteCheck } from './check.ts'
import { ATTACHMENT, BGP_ADVERTISEMENT, L2_ADVERTISEMENT, NET_CONFIG, POLICY, POOL } from './kinds.ts'

const METALLB = [POOL, L2_ADVERTISEMENT, BGP_ADVERTISEMENT]
const KINDS = [POOL, L2_ADVERTISEMENT, ATTACHMENT, NET_CONFIG, POLICY]

export const leftovers: SiteCheck = {
  scope: 'site',
  id: 'leftovers',
  title: 'Leftovers',
  promise:
    'no pool or advertisement without a prefix, and nothing of ours for a cloud that the site does not have',
  kinds: KINDS,
  besides: [BGP_ADVERTISEMENT],
  look: ({ plan, live }) => {
    const metallb = METALLB.flatMap((kind) => live.all(groupKindOf(kind)))
    const all = [...KINDS, BGP_ADVERTISEMENT].flatMap((kind) => live.all(groupKindOf(kind)))
    return {
      seen: counted(all.length, 'object'),
      count: all.length,
      findings: [
        ...metallb.flatMap((one) => unprefixed(one, plan)),
        ...all.flatMap((one) => orphan(one, plan)),
      ],
    }
  },
}

function unprefixed(object: KubeObject, plan: Plan): readonly Finding[] {
  const { name } = object.metadata
  const networks = new Set(plan.clouds.flatMap((cloud) => cloud.networks.map((network) => network.name)))
  if (networks.has(name)) return [told(object, 'it has the name of a network, without a cloud')]
  const old = plan.clouds.some(({ namespace }) =>
    [...networks].some((network) => name === `${network}-${namespace}`),
  )
  return old && object.kind !== 'IPAddressPool'
    ? [told(object, 'it has the form <network>-<namespace> of another tool')]
    : []
}

function orphan(object: KubeObject, plan: Plan): readonly Finding[] {
  const { labels = {} } = object.metadata
  const cloud = labels['stackloom.dev/cloud']
  const ours = labels['app.kubernetes.io/managed-by'] === 'stackloom'
  if (!ours || cloud === undefined || labels['app.kubernetes.io/part-of'] !== plan.site) return []
  return plan.clouds.some(({ name }) => name === cloud)
    ? []
    : [told(object, `the site has no cloud ${cloud}`)]
}

function told(object: KubeObject, why: string): Finding {
  return finding(leftover, { what: nameOf(object), why }, { where: placeOf(object) })
}
