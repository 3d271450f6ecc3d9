/** Questions to a person: only on a terminal; anybody else says `--yes` beforehand. */
import type { Io } from './io.ts'

/** The answer to yes or no; no when nobody is there to answer. */
export async function askYesNo(question: string, io: Io): Promise<boolean> {
  if (!io.interactive) return false
  const { confirm, isCancel } = await import('./prompts.ts')
  const answer = await confirm({ message: question, initialValue: false })
  return !isCancel(answer) && answer
}

/** The name typed out, for what cannot be undone. */
export async function confirmByName(question: string, name: string, io: Io): Promise<boolean> {
  if (!io.interactive) return false
  const { text, isCancel } = await import('./prompts.ts')
  const answer = await text({ message: question, placeholder: name })
  return !isCancel(answer) && answer === name
}
