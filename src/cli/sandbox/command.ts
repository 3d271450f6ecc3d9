/** `stackloom sandbox`: a cluster of real programs on this machine. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import * as inner from './inner.ts'
import { defineLogs } from './logs.ts'
import { defineStart } from './start.ts'
import { defineKubeconfig, defineReset, defineStatus, defineStop } from './state.ts'

export function define(command: Command, context: CommandContext): void {
  withExamples(command, [
    'stackloom sandbox start',
    'kubectl --kubeconfig "$(stackloom sandbox kubeconfig)" get ipaddresspools -A',
    'stackloom sandbox start --name old --crds 2023 --netns',
    'stackloom sandbox stop',
  ])
  for (const add of [
    defineStart,
    defineStop,
    defineStatus,
    defineKubeconfig,
    defineReset,
    defineLogs,
    inner.defineSupervise,
    inner.defineAct,
  ]) {
    add(command, context)
  }
}
