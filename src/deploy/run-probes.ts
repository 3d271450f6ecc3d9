/**
 * Runs the tests of probes, and makes those again whose answer a busy machine may have lost. How a probe is asked is known to
 * the caller.
 */
import { groupBy } from '../api/collections.ts'
import { mapConcurrently } from '../async/map-concurrently.ts'
import { type Answer, type ProbeRun, parseAnswers, tasksToRepeat } from '../verify/probe/probe-results.ts'
import { encodeTask, type ProbePod, type ProbeTask } from '../verify/probe/probe-tasks.ts'

/** Runs the script of a probe with these tasks. */
export type AskProbe = (words: readonly string[]) => Promise<string>

export interface AskedProbe extends ProbeRun {
  readonly ask: AskProbe
}

export async function runTasks(pod: ProbePod, tasks: readonly ProbeTask[], ask: AskProbe): Promise<AskedProbe> {
  const probe = { pod, tasks, ask, output: await ask(encodeTasks(tasks)) }
  return askAgain(probe, tasksToRepeat(probe))
}

/** A later answer replaces the earlier one. */
async function askAgain(probe: AskedProbe, tasks: readonly ProbeTask[]): Promise<AskedProbe> {
  if (tasks.length === 0) return probe
  return { ...probe, output: `${probe.output}\n${await probe.ask(encodeTasks(tasks))}` }
}

function encodeTasks(tasks: readonly ProbeTask[]): readonly string[] {
  return [...new Set(tasks.map(encodeTask))]
}

const PROBES_AT_A_TIME = 6

export interface VipRepeats {
  /** How often a VIP is asked for again at most. */
  readonly count: number
  readonly pause: () => Promise<unknown>
}

/**
 * Asks for VIPs again that have no answer or two. Speakers that miss a message of another one take its VIPs over and give them
 * back, so that only an answer that stays is a fault. A probe that fails here keeps its earlier answers.
 */
export async function repeatVips(
  probes: readonly AskedProbe[],
  { count, pause }: VipRepeats,
): Promise<readonly ProbeRun[]> {
  let asked = probes
  for (let repeat = 0; repeat < count; repeat += 1) {
    const unsettled = unsettledVips(asked)
    if (unsettled.size === 0) break
    await pause()
    asked = await mapConcurrently(asked, PROBES_AT_A_TIME, (probe) =>
      askAgain(
        probe,
        probe.tasks.filter((task) => isNeighbourTest(task) && unsettled.has(vipKey(probe, task))),
      ).catch(() => probe),
    )
  }
  return asked
}

/** Pure: VIPs that no probe of any node got an answer for, or that two machines answered for. */
function unsettledVips(runs: readonly ProbeRun[]): ReadonlySet<string> {
  const groups = neighbourAnswers(runs)
  const isUnsettled = ([, group]: readonly [string, readonly Answer[]]): boolean =>
    isSilent(group) || group.some(({ values }) => values.length > 1)
  return new Set([...groups].filter(isUnsettled).map(([key]) => key))
}

/** Pure: the addresses of VIPs that no probe of any node got an answer for. */
export function silentVips(runs: readonly ProbeRun[]): readonly string[] {
  const silent = [...neighbourAnswers(runs).values()].filter(isSilent)
  return silent.flatMap(([first]) => (first?.task.kind === 'vip' ? [first.task.address] : []))
}

function neighbourAnswers(runs: readonly ProbeRun[]): ReadonlyMap<string, readonly Answer[]> {
  const answers = runs.flatMap((run) => parseAnswers(run).answers).filter(({ task }) => isNeighbourTest(task))
  return groupBy(answers, ({ pod, task }) => vipKey({ pod }, task))
}

/** A pod cannot see VIPs of its own node. */
function isSilent(answers: readonly Answer[]): boolean {
  const nodes = new Set(answers.map(({ pod }) => pod.node))
  return nodes.size > 1 && answers.every(({ values }) => values.length === 0)
}

function isNeighbourTest(task: ProbeTask): boolean {
  return task.kind === 'vip' && task.by !== 'port'
}

function vipKey({ pod }: { readonly pod: ProbePod }, task: ProbeTask): string {
  return `${pod.cloud} ${encodeTask(task)}`
}
