/** Asks the user: only on a terminal. Elsewhere options and defaults answer, and `--yes` confirms. */
import type { Io } from './io.ts'

/** An interface, so that a test can answer. */
export interface Prompter {
  /** Asks again while `check` returns a reason. */
  readonly text: (message: string, defaultValue: string, check?: AnswerCheck) => Promise<string>
  readonly choose: <T extends string>(message: string, choices: readonly T[]) => Promise<T>
}

/** Returns the reason why an answer is not accepted. */
export type AnswerCheck = (answer: string) => string | undefined

/** Undefined without a terminal. */
export async function openPrompter(interactive: boolean): Promise<Prompter | undefined> {
  if (!interactive) return undefined
  const { terminalPrompter } = await import('./prompts.ts')
  return terminalPrompter(process.stderr)
}

export interface Answers {
  readonly text: (
    given: string | undefined,
    question: string,
    defaultValue: string,
    check?: AnswerCheck,
  ) => Promise<string>
  /** The first choice is the default. */
  readonly choose: <T extends string>(
    given: T | undefined,
    question: string,
    choices: readonly [T, ...T[]],
  ) => Promise<T>
  /** `Name of the site: lab`: the defaults that were used without asking. */
  readonly assumed: () => readonly string[]
}

/** Values given as options are not asked for; without a prompter the defaults are used. */
export function createAnswers(prompter: Prompter | undefined): Answers {
  const assumed: string[] = []
  const assume = <T extends string>(question: string, value: T): T => {
    assumed.push(`${question}: ${value}`)
    return value
  }
  return {
    text: async (given, question, defaultValue, check) =>
      given ?? (prompter ? await prompter.text(question, defaultValue, check) : assume(question, defaultValue)),
    choose: async (given, question, choices) =>
      given ?? (prompter ? await prompter.choose(question, choices) : assume(question, choices[0])),
    assumed: () => assumed,
  }
}

/** False without a terminal. */
export async function askYesNo(question: string, io: Io): Promise<boolean> {
  if (!io.interactive) return false
  const { confirm, isCancel } = await import('./prompts.ts')
  const answer = await confirm({ message: question, initialValue: false })
  return !isCancel(answer) && answer
}

/** The user types the name to confirm what cannot be undone. */
export async function confirmByName(question: string, name: string, io: Io): Promise<boolean> {
  if (!io.interactive) return false
  const { text, isCancel } = await import('./prompts.ts')
  const answer = await text({ message: question, placeholder: name })
  return !isCancel(answer) && answer === name
}
