/** `stackloom lab`: a production-like OpenStack on this machine. */
import type { Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { defineCheck } from './check.ts'
import { defineInit } from './init.ts'
import { defineRender } from './render.ts'

export function define(command: Command, context: CommandContext): void {
  withExamples(command, [
    'stackloom lab init --preset three-node',
    'stackloom lab check',
    'stackloom lab render --out osl',
  ])
  for (const add of [defineInit, defineCheck, defineRender]) add(command, context)
}
