/** The webhooks of IPSet and Reservation: what is refused, what is warned of, and the finalizer at birth. */
import type { IpSet, IpSetSpec, Reservation } from '../api/ipset.ts'
import { fixedIpProblem, ipSetChangeViolations, ipSetViolations } from '../api/ipset-rules.ts'
import { findSubnet, type NetConfig } from '../api/netconfig.ts'
import { judgeViolations, type Verdict } from '../api/violation.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import { parseAddress } from '../net/address.ts'
import { allowed, buildAnswer, denied } from './admission-answer.ts'
import type { NetworkView } from './network-view.ts'

export function validateIpSet(view: NetworkView): AdmissionHandler {
  return async (request, { signal }) => {
    const { spec, metadata } = request.object as IpSet
    const old = (request.oldObject as IpSet | null | undefined)?.spec
    if (old?.immutable && JSON.stringify(old.networks) !== JSON.stringify(spec.networks)) {
      return denied('Forbidden: Invalid value: "object": Spec.Networks is immutable')
    }
    // One that is going away must be let go, whatever became of its NetConfig.
    if (metadata.deletionTimestamp) return allowed
    const namespace = request.namespace ?? ''
    const known = evaluate(view.cachedNetConfigs(namespace), namespace, spec, old)
    // What we heard last may be old: the API server is asked before anything is refused.
    const result = isAccepted(known) ? known : evaluate(await view.netConfigs(namespace, signal), namespace, spec, old)
    if ('problem' in result) return denied(result.problem)
    const owner = `${namespace}/${request.name ?? ''}`
    return buildAnswer(request, result.verdict, old ? [] : fixedIpWarnings(view, owner, spec, result.netConfig))
  }
}

type Evaluation = { readonly verdict: Verdict; readonly netConfig: NetConfig } | { readonly problem: string }

function isAccepted(judgement: Evaluation): boolean {
  return 'verdict' in judgement && judgement.verdict.refusals.length === 0
}

function evaluate(
  netConfigs: readonly NetConfig[],
  namespace: string,
  spec: IpSetSpec,
  old: IpSetSpec | undefined,
): Evaluation {
  const [netConfig] = netConfigs
  if (!netConfig) return { problem: `no NetConfig found in namespace ${namespace}, please create one` }
  if (netConfigs.length > 1) {
    return { problem: `more then one NetConfig found in namespace ${namespace}, there must be only one` }
  }
  const verdict = judgeViolations(ipSetViolations(spec, netConfig.spec), old && ipSetViolations(old, netConfig.spec))
  const changes = old ? ipSetChangeViolations(spec, old) : []
  return { verdict: { ...verdict, refusals: [...verdict.refusals, ...changes] }, netConfig }
}

/** Fixed addresses that will not be had: the IPSet is stored, and waits; whoever wrote it hears at once. */
function fixedIpWarnings(view: NetworkView, owner: string, spec: IpSetSpec, netConfig: NetConfig): readonly string[] {
  return spec.networks.flatMap((wish, index): readonly string[] => {
    const { network, subnet } = findSubnet(netConfig.spec, wish.name, wish.subnetName)
    if (wish.fixedIP === undefined || !network || !subnet) return []
    const field = `spec.networks[${index}].fixedIP`
    const unusable = fixedIpProblem(wish, subnet)
    if (unusable) return [`${field}: ${unusable}`]
    const holder = view.findHolder(netConfig, network.name, subnet.name, wish.fixedIP)
    return holder && holder !== owner ? [`${field}: ${wish.fixedIP} already reserved by ${holder}`] : []
  })
}

/** The finalizer goes on with the create: one write less for the controller, and no moment without it. */
export function defaultIpSet(finalizers: readonly string[]): AdmissionHandler {
  return (request) => {
    const present = request.object?.metadata.finalizers ?? []
    if (request.operation !== 'CREATE' || present.some((one) => finalizers.includes(one))) return allowed
    const value = [...present, ...finalizers.slice(0, 1)]
    return { allowed: true, patch: [{ op: 'add', path: '/metadata/finalizers', value }] }
  }
}

/** A Reservation is internal and upstream takes any; what is no address helps nobody, and is said. */
export const validateReservation: AdmissionHandler = (request) => {
  const { spec } = request.object as Reservation
  const wrong = Object.entries(spec.reservation ?? {}).filter(([, { address }]) => !parseAddress(address))
  const warnings = wrong.map(
    ([key, { address }]) => `spec.reservation[${key}].address: ${address} is not an IP address`,
  )
  return { allowed: true, ...(warnings.length > 0 && { warnings }) }
}
