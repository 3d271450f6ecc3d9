/** Answers to a command's questions: options are answers already given; the rest is asked, or is the usual. */

/** Whom to ask. An interface, so that a test can answer. */
export interface Prompter {
  readonly text: (message: string, standard: string) => Promise<string>
  readonly choose: <T extends string>(message: string, choices: readonly T[]) => Promise<T>
}

/** The person at the terminal; nobody in a pipeline. */
export async function openPrompter(interactive: boolean): Promise<Prompter | undefined> {
  if (!interactive) return undefined
  const { terminalPrompter } = await import('./terminal-questions.ts')
  return terminalPrompter(process.stderr)
}

export interface Answers {
  readonly text: (given: string | undefined, question: string, standard: string) => Promise<string>
  /** The first choice is the usual one. */
  readonly choose: <T extends string>(
    given: T | undefined,
    question: string,
    choices: readonly [T, ...T[]],
  ) => Promise<T>
}

export function createAnswers(ask: Prompter | undefined): Answers {
  return {
    text: async (given, question, standard) => given ?? (ask ? await ask.text(question, standard) : standard),
    choose: async (given, question, choices) => given ?? (ask ? await ask.choose(question, choices) : choices[0]),
  }
}
