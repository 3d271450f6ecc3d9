/**
 * `adopt` in a process of its own that a test ends with SIGKILL after so many writes. Run as a program it adopts and
 * tells every write on a line; imported it is the hand that kills.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { adopt } from '../../../src/deploy/adopt/adopt.ts'
import { openLiveView } from '../../../src/deploy/live-view.ts'
import { connect } from '../../../src/kube/connect.ts'
import type { PlannedCloud } from '../../../src/plan/plan.ts'
import { neverAborted } from '../../never-aborted.ts'
import { adoptPlan } from './adopt-plan.ts'

interface Case {
  readonly clouds: number
  readonly at: number
  readonly kubeconfig: string
}

/** Ends when the process is gone: killed, or done when it had fewer writes. */
export async function adoptUntil(writes: number, { clouds, at, kubeconfig }: Case): Promise<void> {
  const program = import.meta.filename
  const args = ['--import', 'tsx', program, String(clouds), String(at), kubeconfig]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let seen = 0
  createInterface(child.stdout).on('line', () => {
    seen += 1
    if (seen === writes) child.kill('SIGKILL')
  })
  await ended
}

async function main([clouds = '', index = '', kubeconfig = '']: readonly string[]): Promise<void> {
  const connection = await connect({ kubeconfig, env: process.env })
  const { client } = connection
  const view = openLiveView({ client })
  const plan = adoptPlan(Number(clouds))
  const cloud = plan.clouds[Number(index)] as PlannedCloud
  const sink = ({ kind }: { readonly kind: string }): void => {
    if (kind === 'applied') process.stdout.write('write\n')
  }
  await adopt({ client, view, plan, cloud, run: 'killed', sink, stop: neverAborted() })
  await view.close()
  await connection.close()
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2))
