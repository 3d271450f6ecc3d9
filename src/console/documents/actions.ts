/** Defines actions: what the page sends to start one, what it must confirm, and the output. */
import * as z from 'zod'
import { list } from './common.ts'

export const actionRequest = z.strictObject({
  /** Limits the action to these clouds. */
  clouds: z
    .array(
      z
        .string()
        .max(63)
        .regex(/^[a-z0-9][a-z0-9-]*$/),
    )
    .max(100)
    .readonly()
    .optional(),
  /** The `confirm` value of the question, for an action that asks. */
  confirm: z.string().max(100).optional(),
})

/** The state of one started action; `POST` returns it, the stream repeats it. */
export const actionState = z.object({
  id: z.string(),
  action: z.enum(['plan', 'verify', 'doctor', 'diff', 'up', 'down']),
  command: z.string(),
  /** `asks`: nothing is changed yet; the same request with `confirm` starts it. */
  state: z.enum(['running', 'asks', 'done', 'failed']),
  /** What the terminal would ask. */
  question: z.string().optional(),
  /** Words to type before it may be confirmed, as on a terminal. */
  type: z.string().optional(),
  confirm: z.string().optional(),
  exitCode: z.number().optional(),
  /** The end of what it printed. */
  output: z.string(),
})

export const actionsDocument = z.object({ actions: list(actionState) })

/** The body of every answer that is not 2xx. */
const errorDocument = z.object({
  error: z.object({ code: z.string(), message: z.string(), remedy: z.string() }),
})

export type ActionRequest = z.infer<typeof actionRequest>
export type ActionState = z.infer<typeof actionState>
export type ErrorDocument = z.infer<typeof errorDocument>
