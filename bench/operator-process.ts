/**
 * Runs the operator as a process that measures its event loop, for `operator.bench.ts`, with the options as JSON.
 *
 * The longest turn is the CPU time that the thread used between two timers, so that other programs do not lengthen it. The
 * message `begin` resets it; `end` is answered with it when the operator is idle.
 */
import { readFileSync } from 'node:fs'
import { processIo } from '../src/cli/io.ts'
import { type RunOptions, runCommand } from '../src/cli/operator/run.ts'

const options = JSON.parse(process.argv[2] ?? '') as RunOptions
const IDLE_MS = 500

let longestMs = 0
let lastMs = threadMs()
let idleSince = performance.now()

/** CPU time of this thread. */
function threadMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
}

setInterval(() => {
  const nowMs = threadMs()
  const turnMs = nowMs - lastMs
  lastMs = nowMs
  longestMs = Math.max(longestMs, turnMs)
  if (turnMs > 5) idleSince = performance.now()
}, 2)

process.on('message', (message) => {
  if (message === 'begin') {
    longestMs = 0
    process.send?.('begun')
    return
  }
  idleSince = performance.now()
  const answer = setInterval(() => {
    if (performance.now() - idleSince < IDLE_MS) return
    clearInterval(answer)
    process.send?.(longestMs)
  }, 20)
})

process.exitCode = await runCommand(options, processIo())
process.exit()
