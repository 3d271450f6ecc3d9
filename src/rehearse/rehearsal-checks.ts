/** Describes the checks of a rehearsal beside those of the probe, and judges them by what the site file accepts. Pure. */
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { applyAcceptances } from '../site/accept.ts'
import type { Acceptance } from '../site/site.ts'
import type { CheckResult } from '../verify/verify.ts'
import type { RouteLoss } from './announce/lose-routes.ts'
import type { MovedVip, NodeLoss } from './announce/move-vip.ts'
import type { PolicyOutcome } from './apply-policies.ts'
import { podNotAttached } from './findings.ts'

export type UnjudgedCheck = Omit<CheckResult, 'verdict'>

export function judgeCheck(check: UnjudgedCheck, accept: readonly Acceptance[]): CheckResult {
  const findings = applyAcceptances(check.findings, accept)
  return { ...check, findings, verdict: hasErrors(findings) ? 'failed' : 'passed' }
}

/** Nothing listens behind most VIPs, so their ports are not asked, and the promise must not name them. */
export function withoutPorts(check: CheckResult): CheckResult {
  return check.id === 'probe-vips' ? { ...check, promise: 'one node answers for every VIP on its own network' } : check
}

export function policyCheck(outcomes: readonly PolicyOutcome[]): UnjudgedCheck {
  return {
    id: 'rehearse-policies',
    title: 'Node policies',
    promise: 'nmstate enacts every policy on a real kernel',
    seen: `${outcomes.length} policies`,
    findings: outcomes.flatMap((outcome) => outcome.finding ?? []),
  }
}

export function reapplyCheck(findings: readonly Finding[], count: number): UnjudgedCheck {
  return {
    id: 'rehearse-second-apply',
    title: 'Second apply',
    promise: 'a second apply changes no link, address, route or rule',
    seen: `${count} policies`,
    findings,
  }
}

export function switchCheck(findings: readonly Finding[], count: number): UnjudgedCheck {
  return {
    id: 'rehearse-switches',
    title: 'Switch ports',
    promise: 'every port carries every planned VLAN at the planned MTU, and no other machine is connected',
    seen: `${count} ports`,
    findings,
  }
}

export function removalCheck(findings: readonly Finding[], cloud: string): UnjudgedCheck {
  return {
    id: 'rehearse-removal',
    title: 'Removal of a cloud',
    promise: 'removing the networks of one cloud costs the others no packet',
    seen: `${cloud} removed`,
    findings,
  }
}

export function attachCheck(
  failed: readonly { readonly from: string; readonly reason: string }[],
  count: number,
): UnjudgedCheck {
  return {
    id: 'rehearse-attachments',
    title: 'Network attachments',
    promise: 'the CNI plugins attach a pod to every network on every node',
    seen: `${count} pods`,
    findings: failed.map(({ from, reason }) => finding(podNotAttached, { from, reason })),
  }
}

export function multusCheck(findings: readonly Finding[], count: number): UnjudgedCheck {
  return {
    id: 'rehearse-multus',
    title: 'Multus and whereabouts',
    promise: 'Multus attaches a pod of each cloud to all its networks, with addresses of its spans, and releases them',
    seen: `${count} attachments`,
    findings,
  }
}

export function announcementCheck(findings: readonly Finding[], count: number): UnjudgedCheck {
  return {
    id: 'rehearse-announcements',
    title: 'Announcements',
    promise: "MetalLB's speakers announce every VIP of the plan",
    seen: `${count} VIPs`,
    findings,
  }
}

export function dnsCheck(findings: readonly Finding[], count: number): UnjudgedCheck {
  return {
    id: 'rehearse-dns',
    title: 'DNS on its VIP',
    promise: 'the DNS of every cloud answers a pod of another node on its VIP',
    seen: `${count} VIPs`,
    findings,
  }
}

export function moveCheck({ moved, findings }: NodeLoss): UnjudgedCheck {
  return {
    id: 'rehearse-vip-move',
    title: 'Loss of a node',
    promise: 'another node answers for a VIP when the node that announces it is cut off',
    seen: moved.map(describeMove).join(', ') || 'no other node answers',
    findings,
  }
}

export function routeLossCheck({ node, seconds, findings }: RouteLoss): UnjudgedCheck {
  return {
    id: 'rehearse-route-loss',
    title: 'Loss of a node',
    promise: 'the BGP routers forget a node that is cut off, and keep the others for every VIP',
    seen: `${node} forgotten after ${seconds} s`,
    findings,
  }
}

function describeMove({ address, from, to, seconds }: MovedVip): string {
  return `${address} moved from ${from} to ${to} in ${seconds} s`
}
