/** The end of `up`: how each stage fared, and per cloud its VIPs, where to reach it, and how to get in. */
import pc from 'picocolors'
import type { DeploySite } from '../../deploy/world.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import type { RunReport } from '../../run/engine.ts'
import { formatSummary } from '../output/run/summary.ts'
import { formatTable } from '../output/table.ts'

export interface SummaryLook {
  readonly columns: number
  readonly colour: boolean
}

export function formatUpSummary(report: RunReport, plan: Plan, site: DeploySite, look: SummaryLook): string {
  const { bold, dim } = pc.createColors(look.colour)
  const stages = formatSummary(report, look)
  const ended = plan.clouds.filter(({ name }) => endedWell(report, name))
  const clouds = ended.map((cloud) => {
    const rows = vipRows(cloud).map(({ network, address, slots }) => [`  ${network}`, address, slots.join(' ')])
    const table = formatTable(['  NETWORK', 'VIP', 'FOR'], rows, look.columns)
    const access = `  ${dim(`stackloom access --cloud ${cloud.name}`)}`
    return `\n${bold(cloud.name)} in namespace ${cloud.namespace}\n${table}${access}\n`
  })
  const resume = report.outcome === 'done' ? '' : `run the same command again to go on: what is done is skipped\n`
  return `${stages}${clouds.join('')}${resume}${site.clouds.length === 0 ? 'the site has no clouds\n' : ''}`
}

function endedWell(report: RunReport, cloud: string): boolean {
  const last = report.stages.filter((stage) => stage.cloud === cloud && stage.name === 'control-plane')
  return last.some(({ outcome }) => outcome === 'done' || outcome === 'skipped')
}

interface VipRow {
  readonly network: string
  readonly address: string
  readonly slots: readonly string[]
}

function vipRows(cloud: PlannedCloud): readonly VipRow[] {
  return cloud.networks.flatMap(({ name: network, vips }) => {
    const addresses = [...new Set(vips.map(({ address }) => address))]
    return addresses.map((address) => ({
      network,
      address,
      slots: vips.filter((vip) => vip.address === address).map(({ slot }) => slot),
    }))
  })
}

export function upJson(report: RunReport, plan: Plan): unknown {
  return {
    outcome: report.outcome,
    ms: report.ms,
    stages: report.stages,
    clouds: plan.clouds.map((cloud) => ({
      name: cloud.name,
      namespace: cloud.namespace,
      vips: vipRows(cloud),
    })),
  }
}
