/** What the sandbox says while it works: said to whoever runs it, printed by the command line alone. */
import type { Finding } from '../errors/finding.ts'

export type Notice =
  /** Said once: what is about to happen, and why. */
  | { readonly kind: 'announcement'; readonly text: string }
  /** Said often: only the newest matters. */
  | { readonly kind: 'progress'; readonly text: string; readonly done?: number; readonly total?: number }
  | { readonly kind: 'finding'; readonly finding: Finding }

export type Notify = (note: Notice) => void
