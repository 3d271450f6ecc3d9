/** Questions to a person at a terminal. */
import { cancel, isCancel, select, text } from '@clack/prompts'
import { failure } from '../errors/failure.ts'
import { cancelled } from '../errors/new-file.ts'
import type { Prompter } from './questions.ts'

/** Asks on stderr: stdout is for data. */
export function terminalPrompter(output: NodeJS.WritableStream): Prompter {
  const answered = <T>(answer: T | symbol): T => {
    if (!isCancel(answer)) return answer as T
    cancel('Nothing was written.', { output: output as NodeJS.WriteStream })
    throw failure(cancelled, {}, { exitCode: 130 })
  }
  const stream = output as NodeJS.WriteStream
  return {
    text: async (message, standard) =>
      answered<string>(await text({ message, defaultValue: standard, placeholder: standard, output: stream })),
    choose: async (message, choices) => {
      const options = choices.map((value) => ({ value: value as string, label: value }))
      return answered<string>(await select({ message, options, output: stream })) as (typeof choices)[number]
    },
  }
}
