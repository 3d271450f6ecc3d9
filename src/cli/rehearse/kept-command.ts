/** `rehearse --enter` and `rehearse --stop`: a shell or a script on a machine that is kept, and its end. */

import { text } from 'node:stream/consumers'
import type { ReadStream } from 'node:tty'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { notKept } from '../../rehearse/findings.ts'
import { endKept, findKept } from '../../rehearse/kept.ts'
import type { SandboxPaths } from '../../sandbox/sandbox-context.ts'
import type { Io } from '../io.ts'

export async function stopKept(paths: SandboxPaths, io: Io): Promise<ExitCode> {
  const kept = await endKept(paths)
  io.stderr(kept ? `removed ${kept.nodes.join(', ')} of ${kept.site}\n` : 'no rehearsal is kept\n')
  return 0
}

export async function enterNode(node: string, paths: SandboxPaths, io: Io): Promise<ExitCode> {
  const { openShell, runInNode } = await import('../../rehearse/enter-node.ts')
  const kept = await findKept(paths)
  if (!kept?.nodes.includes(node)) throw failure(notKept, { node, nodes: kept?.nodes ?? [] })
  if (isTerminal(io.stdin)) {
    const { rows, columns } = process.stdout
    io.stderr(`a shell on ${node}; leave it with exit\n`)
    io.stdin.setRawMode(true)
    try {
      await openShell({ kept, node }, { input: io.stdin, output: process.stdout, size: { rows, columns } })
    } finally {
      io.stdin.setRawMode(false)
      io.stdin.pause()
    }
    return 0
  }
  const { code, output } = await runInNode({ kept, node }, await text(io.stdin))
  io.stdout(output === '' ? '' : `${output}\n`)
  return code === 0 ? 0 : 1
}

function isTerminal(stream: NodeJS.ReadableStream): stream is ReadStream {
  return 'isTTY' in stream && stream.isTTY === true
}
