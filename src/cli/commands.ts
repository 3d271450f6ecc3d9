/** Every command, in the order of a person's day. A module is imported when its command is used, not before. */
import type { CommandEntry } from './command.ts'

export const commands: readonly CommandEntry[] = [
  {
    name: 'explain',
    summary: 'The long story of a finding: what it means, why it matters, what to do',
    load: () => import('./explain/command.ts'),
  },
]
