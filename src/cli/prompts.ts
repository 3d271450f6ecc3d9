/** Prompts on a terminal. Loads the prompt library, so it is imported only when a question is asked. */
import { cancel, confirm, isCancel, select, text } from '@clack/prompts'
import { failure } from '../errors/failure.ts'
import { cancelled } from '../errors/new-file.ts'
import type { Prompter } from './questions.ts'

export { confirm, isCancel, text }

/** Asks on stderr: stdout is for data. */
export function terminalPrompter(stream: NodeJS.WriteStream): Prompter {
  const requireAnswer = <T>(answer: T | symbol): T => {
    if (!isCancel(answer)) return answer as T
    cancel('Nothing was written.', { output: stream })
    throw failure(cancelled, {}, { exitCode: 130 })
  }
  return {
    text: async (message, defaultValue, check) => {
      // An empty answer is the default.
      const validate = (answer: string | undefined): string | undefined => check?.(answer || defaultValue)
      return requireAnswer<string>(
        await text({ message, defaultValue, placeholder: defaultValue, output: stream, validate }),
      )
    },
    choose: async (message, choices) => {
      const options = choices.map((value) => ({ value: value as string, label: value }))
      return requireAnswer<string>(await select({ message, options, output: stream })) as (typeof choices)[number]
    },
  }
}
