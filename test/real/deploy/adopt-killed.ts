/**
 * Runs `adopt` in a process that a test kills with SIGKILL after a number of writes. As a program it adopts and prints a
 * line for every write; as a module it starts that program and kills it.
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
  readonly index: number
  readonly kubeconfig: string
}

/** Resolves when the process has ended: killed, or finished with fewer writes. */
export async function adoptUntil(writes: number, { clouds, index, kubeconfig }: Case): Promise<void> {
  const program = import.meta.filename
  const args = ['--import', 'tsx', program, String(clouds), String(index), kubeconfig]
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
  const view = openLiveView(client)
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
