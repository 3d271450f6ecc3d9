// Loaded into a measured child process: measures its event loop. The longest turn is the CPU time that the thread used
// between two timers, so that other programs do not lengthen it. The message `begin` resets it; `end` is answered, when
// the process is idle, with the turn in ms and the bytes of its heap (after a collection with --expose-gc).
import { readFileSync } from 'node:fs'

const IDLE_MS = 500
let longestMs = 0
let lastMs = threadMs()
let idleSince = performance.now()
let turns

function threadMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    return performance.now()
  }
}

const measureTurns = () => {
  const nowMs = threadMs()
  const turnMs = nowMs - lastMs
  lastMs = nowMs
  longestMs = Math.max(longestMs, turnMs)
  if (turnMs > 5) idleSince = performance.now()
}

process.on('message', (message) => {
  // Not before it is asked: it takes some CPU time itself.
  if (!turns) lastMs = threadMs()
  turns ??= setInterval(measureTurns, 2).unref()
  if (message === 'begin') {
    longestMs = 0
    process.send('begun')
    return
  }
  if (message !== 'end') return
  idleSince = performance.now()
  const answer = setInterval(() => {
    if (performance.now() - idleSince < IDLE_MS) return
    clearInterval(answer)
    const measured = longestMs
    globalThis.gc?.()
    process.send({ longestMs: measured, heapBytes: process.memoryUsage().heapUsed })
  }, 20)
})
process.channel?.unref()
