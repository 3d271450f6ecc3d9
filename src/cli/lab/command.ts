/** Defines `stackloom lab`: a production-like OpenStack on this machine. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { defineCheck } from './check.ts'
import { defineInit } from './init.ts'
import { defineBackup, defineDoctor, defineDown, defineSnapshot, defineStatus } from './maintenance.ts'
import { defineRender } from './render.ts'
import { defineUp } from './up.ts'

export function define(command: Command, context: CommandContext): void {
  withExamples(command, [
    'stackloom lab init --preset three-node',
    'stackloom lab check',
    'stackloom lab up',
    'stackloom lab down',
  ])
  for (const add of [
    defineInit,
    defineCheck,
    defineRender,
    defineUp,
    defineStatus,
    defineDoctor,
    defineSnapshot,
    defineBackup,
    defineDown,
  ]) {
    add(command, context)
  }
}
