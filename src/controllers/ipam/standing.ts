/**
 * From verdicts to words: what an IPSet got, what it did not get and why, and what is said about it.
 *
 * Pure.
 */
import type { IpSet } from '../../api/ipset.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import { formatAddress } from '../../net/address.ts'
import type { IpSetClaim } from './claim.ts'
import { fixedAddressTaken, fixedAddressUnusable, reservationConflict, subnetExhausted } from './findings.ts'
import type { AllocatedNetwork, IpSetState } from './ipset-status.ts'
import { ownerKey } from './ledger.ts'
import type { AllocationResult } from './plan-allocation.ts'

export interface IpSetResult extends IpSetState {
  readonly findings: readonly Finding[]
}

export function summarizeResults(
  { networks, findings, claim }: IpSetClaim,
  verdicts: readonly AllocationResult[],
): IpSetResult {
  const family = (index: number): 4 | 6 => claim.requests[index]?.pool.cidr.family ?? 4
  const allotments = verdicts.flatMap((verdict, index): readonly AllocatedNetwork[] => {
    const wish = networks[index]
    if (verdict.kind !== 'granted' || !wish) return []
    return [{ ...wish, address: formatAddress({ family: family(index), value: verdict.value }) }]
  })
  const refused = verdicts.flatMap((verdict, index) => findingForResult(verdict, family(index)) ?? [])
  const all = [...findings, ...refused]
  return { allocated: allotments, findings: all, causes: all.map(({ message }) => message) }
}

function findingForResult(verdict: AllocationResult, family: 4 | 6): Finding | undefined {
  const { network, subnet } = verdict
  if (verdict.kind === 'granted') return undefined
  if (verdict.kind === 'exhausted') {
    return finding(subnetExhausted, { network, subnet, used: verdict.used, most: verdict.most })
  }
  const address = formatAddress({ family, value: verdict.value })
  if (verdict.kind !== 'taken') return finding(fixedAddressUnusable, { address, subnet, why: verdict.kind })
  const facts = { address, network, holder: ownerKey(verdict.by) }
  return finding(verdict.how === 'fixed' ? fixedAddressTaken : reservationConflict, facts)
}

export function eventForFinding(regarding: IpSet, { code, message, remedy }: Finding): EventRecord {
  return {
    regarding,
    type: 'Warning',
    reason: 'NoAddress',
    action: 'Allocate',
    note: `${code}: ${message}. ${remedy}`,
  }
}
