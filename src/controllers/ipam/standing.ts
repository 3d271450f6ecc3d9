/**
 * From verdicts to words: what an IPSet got, what it did not get and why, and what is said about it.
 *
 * Pure.
 */
import type { IpSet } from '../../api/ipset.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import {
  fixedAddressTaken,
  fixedAddressUnusable,
  reservationContradicts,
  subnetExhausted,
} from '../../errors/ipam.ts'
import type { Happening } from '../../kube/events.ts'
import { formatAddress } from '../../net/address.ts'
import type { Asked } from './claim-of.ts'
import type { Verdict } from './decide.ts'
import { ownerOf } from './ledger.ts'
import type { Allotment, Standing } from './status.ts'

export interface Judged extends Standing {
  readonly findings: readonly Finding[]
}

export function standingOf({ wishes, findings, claim }: Asked, verdicts: readonly Verdict[]): Judged {
  const family = (index: number): 4 | 6 => claim.wants[index]?.pool.cidr.family ?? 4
  const allotments = verdicts.flatMap((verdict, index): readonly Allotment[] => {
    const wish = wishes[index]
    if (verdict.kind !== 'granted' || !wish) return []
    return [{ ...wish, address: formatAddress({ family: family(index), value: verdict.value }) }]
  })
  const refused = verdicts.flatMap((verdict, index) => refusalOf(verdict, family(index)) ?? [])
  const all = [...findings, ...refused]
  return { allotments, findings: all, causes: all.map(({ message }) => message) }
}

function refusalOf(verdict: Verdict, family: 4 | 6): Finding | undefined {
  const { network, subnet } = verdict
  if (verdict.kind === 'granted') return undefined
  if (verdict.kind === 'exhausted') {
    return finding(subnetExhausted, { network, subnet, used: verdict.used, most: verdict.most })
  }
  const address = formatAddress({ family, value: verdict.value })
  if (verdict.kind !== 'taken') return finding(fixedAddressUnusable, { address, subnet, why: verdict.kind })
  const facts = { address, network, holder: ownerOf(verdict.by) }
  return finding(verdict.how === 'fixed' ? fixedAddressTaken : reservationContradicts, facts)
}

export function happeningOf(regarding: IpSet, { code, message, remedy }: Finding): Happening {
  return {
    regarding,
    type: 'Warning',
    reason: 'NoAddress',
    action: 'Allocate',
    note: `${code}: ${message}. ${remedy}`,
  }
}
