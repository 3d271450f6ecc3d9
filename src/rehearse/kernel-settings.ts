/**
 * Finds the kernel settings that a site asks of its nodes: those of its Tuned objects, which OpenShift applies, and those
 * that the administrator of another cluster sets. Pure.
 */
import { getList, getString } from '../api/raw-object.ts'
import type { Plan } from '../plan/plan.ts'
import { installRequirements } from '../render/operators.ts'
import { renderDocuments } from '../render/render.ts'

/** `ip_forward` is what `up` asks of the cluster (`ipForwarding: Global`): packets must be kept apart with it. */
const FORWARDING = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']

const SETTING = /\bnet\.[\w./-]+=\S+/g

/** `net.ipv4.conf.all.arp_ignore=1`, …; each once. */
export function kernelSettings(plan: Plan): readonly string[] {
  const tuned = renderDocuments(plan)
    .map(({ object }) => object)
    .filter(({ kind }) => kind === 'Tuned')
    .flatMap((object) => getList(object, 'spec', 'profile').map((profile) => getString(profile, 'data') ?? ''))
  const manual = plan.from.cluster.platform === 'openshift' ? [] : installRequirements(plan)
  return [...new Set([...FORWARDING, ...[...tuned, ...manual].flatMap((text) => text.match(SETTING) ?? [])])]
}
